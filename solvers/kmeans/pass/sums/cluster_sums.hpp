// Sums of rows by cluster in fixed point: integers add up to the same bits in any order, so that threads,
// blocks, batches and devices may share the work as they like, and a row that changes its cluster is moved
// by one subtraction and one addition, without drift.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "tallskinny/gemm/core/twofold.hpp"
#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0 {

/// A power of two s with s x <= 1 (1 for x = 0), kept where both it and its inverse are normal numbers.
[[nodiscard]] double inverse_power_of_two(double x) noexcept;

/// Powers of two that bring every column and the weights to at most 1. An addend w v_j is rounded once, to
/// 2^(-2 bits) of the largest possible one: two limbs of `bits` bits each in 64-bit words, so that
/// 2^(62 - bits) addends cannot overflow.
struct FixedPoint {
  int bits = 30;
  double one = 0x1p30;                       ///< 2^bits
  double inverse = 0x1p-30;                  ///< 1 / one
  std::vector<double> to_units, from_units;  ///< for each column, and their inverses
  double weight_to_units = 1;

  /// `max_abs[j]` >= |v_j| of all rows; `largest_weight` >= w; `rows` addends at most.
  /// @throws Error(invalid_argument) for more than 2^50 rows.
  FixedPoint(std::span<const double> max_abs, double largest_weight, index_t rows);
};

/// k clusters x d columns of sums, with the weight and the number of rows (those that weigh something)
/// of each cluster.
class ClusterSums {
 public:
  ClusterSums(index_t clusters, index_t cols);

  [[nodiscard]] index_t clusters() const noexcept { return clusters_; }
  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  [[nodiscard]] index_t count(index_t cluster) const noexcept { return static_cast<index_t>(counts_[at(cluster)]); }
  /// The weight of a cluster; exactly 0 if and only if all its rows weigh 0 (or less than 2^(-2 bits) of the
  /// largest weight).
  [[nodiscard]] double weight(const FixedPoint& unit, index_t cluster) const noexcept;
  [[nodiscard]] bool weightless(index_t cluster) const noexcept;
  /// shift + the weighted mean of column j: the sum times 1 / weight to about 100 bits, rounded to float64 at
  /// the end. The same bits on every processor and GPU. The cluster must not be weightless.
  [[nodiscard]] double mean(const FixedPoint& unit, index_t cluster, index_t j, double shift = 0) const noexcept;
  /// The sum of column j in units of unit.from_units[j] / unit.weight_to_units, and the weight in those of
  /// 1 / unit.weight_to_units; both times 2^bits, without any rounding.
  [[nodiscard]] Twofold exact_sum(const FixedPoint& unit, index_t cluster, index_t j) const noexcept;
  [[nodiscard]] Twofold exact_weight(const FixedPoint& unit, index_t cluster) const noexcept;

  /// Adds (or takes away) a row with values v, all columns. Weighs `weight`.
  void add(const FixedPoint& unit, index_t cluster, const double* v, double weight, bool take_away = false);
  /// Adds (or takes away) a row whose other entries are zero. @param columns of the values; null: all in order.
  void add_sparse(const FixedPoint& unit, index_t cluster, const double* v, const std::int32_t* columns,
                  index_t entries, double weight, bool take_away = false);
  void merge(const ClusterSums& other) noexcept;
  /// Adds the one cluster that `other` has.
  void merge_cluster(index_t cluster, const ClusterSums& other) noexcept;
  /// 2 k d + 3 k words: upper limbs, lower limbs, those of the weights, counts.
  [[nodiscard]] std::vector<std::uint64_t> words() const;
  /// Adds such words.
  void add_words(std::span<const std::uint64_t> words, int threads) noexcept;

  /// For compiled kernels: row `cluster` of the upper and of the lower limbs.
  [[nodiscard]] std::uint64_t* upper(index_t cluster) noexcept { return upper_.data() + cluster * cols_; }
  [[nodiscard]] std::uint64_t* lower(index_t cluster) noexcept { return lower_.data() + cluster * cols_; }
  [[nodiscard]] const std::uint64_t* upper(index_t cluster) const noexcept { return upper_.data() + cluster * cols_; }
  [[nodiscard]] const std::uint64_t* lower(index_t cluster) const noexcept { return lower_.data() + cluster * cols_; }
  /// The part of add() that concerns weight and count only.
  void add_weight(const FixedPoint& unit, index_t cluster, double weight, bool take_away) noexcept;

 private:
  /// The members in the order of words().
  template <class Self>
  [[nodiscard]] static auto parts_of(Self& s) noexcept {
    return std::array{std::span(s.upper_), std::span(s.lower_), std::span(s.weight_upper_), std::span(s.weight_lower_),
                      std::span(s.counts_)};
  }

  index_t clusters_, cols_;
  // Unsigned: one thread may take away what another added, and must wrap around.
  std::pmr::vector<std::uint64_t> upper_, lower_;  ///< from own_host_memory(), in huge pages
  std::vector<std::uint64_t> weight_upper_, weight_lower_, counts_;
};

}  // namespace ts::inline v0
