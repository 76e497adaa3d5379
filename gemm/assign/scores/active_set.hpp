// Bounds for rows on a device: which of them a pass may leave alone.
#pragma once

#include <limits>
#include <vector>

#include "tallskinny/gemm/assign/rows/arguments.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::inline v0::assign_device {

/// How far centroids moved, or have moved since some pass, times the scale of scores.
struct Steps {
  double most = std::numeric_limits<double>::infinity();  ///< two of them together, at most
  /// About what they change of the difference of a row's distances to two of them, in the mean.
  double typical = 0;
};

/// A pass with margin r finds the rows that are nearer to their own centroid than to any other one by more than
/// r; the others are active, and listed. While no two centroids have moved by r together, later passes look at
/// active rows only: the labels of all others are proved, ties never are.
/// Source: Hamerly 2010, "Making k-means even faster", with one bound on the difference of both distances for
/// all rows, so that rows that are left alone are not even read, and drift measured from where centroids were
/// in that pass, which is less than the length of their way. 8 bytes for each active row, a quarter of the
/// rows at most.
class ActiveSet {
 public:
  /// @param cost of a listed row, in rows of a pass over all: cost_of() of the rows of all passes.
  explicit ActiveSet(double cost = least_cost) : cost_(cost) {}
  /// Three products where one would do; and of few columns, what is fetched for a row that does not lie
  /// beside the next: sectors of memory for itself and its label, its place in lists.
  [[nodiscard]] static double cost_of(index_t cols, std::size_t element) noexcept;

  enum class Pass {
    every_row,
    with_margin,  ///< every row, of which those without margin() are kept
    active_rows
  };

  /// What to do next about n rows of which few change their label (`settled`) or not, when centroids have
  /// moved by `last` since the pass before and by `drift` since the last one with margin. Margin is such that
  /// passes with and without it take least: with a share `density` margin of all rows active and s = last.most,
  /// a pass takes  s / margin + cost density margin  of one over all rows.
  /// @param cost of a pass over every row without margin, where that is less than with it.
  [[nodiscard]] Pass next(bool settled, const Steps& last, double drift, double scale, double cost = 1);
  [[nodiscard]] float margin() const noexcept { return margin_; }

  /// In a pass with margin, of the next part of its n rows: those that are active, and whether margin says
  /// anything (it does not about centroids that are copies of others).
  void keep(const Context& ctx, index_t n, const index_t* active, index_t count, bool valid);
  /// After a pass over n rows of which `changed` changed their labels.
  void passed(Pass pass, index_t n, index_t changed, const Steps& last);

  /// The active rows of the part of all rows that has this number.
  [[nodiscard]] cuda::Selection of_part(std::size_t part) const noexcept;
  [[nodiscard]] index_t count_of_part(std::size_t part) const noexcept { return parts_[part].count; }
  /// Rows of which a list is kept, of n.
  [[nodiscard]] static constexpr index_t most_kept(index_t n) noexcept { return n / 4; }

 private:
  static constexpr double least_cost = 4;

  struct Part {
    cuda::Memory list;  ///< how many, and which
    index_t count = 0;
  };

  double cost_;
  std::vector<Part> parts_;
  bool hold_ = false;      ///< of all rows but these, labels are proved
  double density_ = -1;    ///< share of rows that are active, for each unit of margin; negative: not known
  bool measured_ = false;  ///< by a pass with margin
  double scale_ = 0;
  float margin_ = 0;
};

}  // namespace ts::inline v0::assign_device
