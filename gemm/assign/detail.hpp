// What the files of assign share: centroids made ready for scoring, and distances in higher precision.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/assign/cpu/kernels.hpp"
#include "tallskinny/gemm/core/twofold.hpp"

namespace ts::assign_detail {

[[nodiscard]] constexpr index_t chunk_count(index_t rows) noexcept {
  return (rows + chunk_rows - 1) / chunk_rows;
}

/// sum_j ((x_j - c_j) factor)^2 in eight partial sums; Sum: double or long double.
template <class Sum>
[[nodiscard]] Sum squared_distance(const double* x, const double* c, index_t d, double factor = 1) noexcept {
  Sum part[8] = {};
  index_t j = 0;
  for (; j + 8 <= d; j += 8)
    for (index_t q = 0; q < 8; ++q) {
      const Sum difference =
          (static_cast<Sum>(x[j + q]) - static_cast<Sum>(c[j + q])) * static_cast<Sum>(factor);
      part[q] += difference * difference;
    }
  for (; j < d; ++j) {
    const Sum difference = (static_cast<Sum>(x[j]) - static_cast<Sum>(c[j])) * static_cast<Sum>(factor);
    part[j % 8] += difference * difference;
  }
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/// The same to about 100 bits.
[[nodiscard]] inline Twofold twofold_squared_distance(const double* x, const double* c, index_t d,
                                                      double factor) noexcept {
  Twofold sum;
  for (index_t j = 0; j < d; ++j) {
    Twofold difference = Twofold::sum_of(x[j], -c[j]);
    difference.hi *= factor, difference.lo *= factor;
    sum = sum + difference * difference;
  }
  return sum;
}
/// Distances that differ by less than this share of themselves are equal, since rounding in the above may
/// tell them apart.
[[nodiscard]] constexpr double twofold_tie(index_t d) noexcept {
  return static_cast<double>(d + 3) * 0x1p-100;
}

/// ||c||^2, columns in ascending order.
template <class Sum>
[[nodiscard]] Sum squared_norm(const double* c, index_t d) noexcept {
  Sum sum = 0;
  for (index_t j = 0; j < d; ++j) sum += static_cast<Sum>(c[j]) * static_cast<Sum>(c[j]);
  return sum;
}
/// ||x - c||^2 for a sparse x: sum over its entries of (x_j - c_j)^2, and what they leave of ||c||^2. Exactly
/// 0 for x = c.
template <class Sum>
[[nodiscard]] Sum sparse_squared_distance(const double* x, const std::int32_t* columns, index_t entries,
                                          const double* c, Sum squared_norm_of_c) noexcept {
  Sum near = 0, covered = 0;
  for (index_t p = 0; p < entries; ++p) {
    const Sum cj = static_cast<Sum>(c[columns[p]]), difference = static_cast<Sum>(x[p]) - cj;
    near += difference * difference;
    covered += cj * cj;
  }
  return near + (squared_norm_of_c > covered ? squared_norm_of_c - covered : Sum{0});
}

/// The norm below which a row has no direction; the inverse of this one is finite.
inline constexpr double least_norm = 0x1p-1000;

/// @throws Error(invalid_argument) unless there is one number for each row, in the rows' memory.
template <class T>
void expect_per_row(const Rows& x, PerRow<T> numbers, const char* name) {
  if (numbers.size != x.rows() || (x.rows() > 0 && numbers.space != x.space()))
    throw Error(Errc::invalid_argument,
                std::string(name) + " must have one entry for each row, in the same memory");
}

/// Centroids as the scoring kernels and the exact comparison want them.
template <class S>
struct Scored {
  index_t k = 0, d = 0;
  double scale = 1;           ///< power of two: |x - shift| scale <= 1 and |c - shift| scale <= 1
  double largest_norm = 0;    ///< >= ||c - shift|| scale of every centroid
  std::vector<S> negated;     ///< k x d: -(c - shift) scale
  std::vector<S> half_norms;  ///< ||(c - shift) scale||^2 / 2; infinite for a copy of an earlier centroid
  double shrink = 1;          ///< power of two, below 1 only where x - c could overflow
  std::vector<double> exact;  ///< k x d: c shrink

  Scored(HostView<const double> centroids, const ColumnMoments& moments);
};

/// copy[j] for centroids that equal an earlier one bit for bit: they can never win.
std::vector<bool> copies(HostView<const double> centroids);
/// The largest coordinate of rows and centroids, less the shift.
double reach_of(HostView<const double> centroids, const ColumnMoments& moments);
/// The power of two that brings it to at most 1.
double scoring_scale(HostView<const double> centroids, const ColumnMoments& moments);

/// What packing needs, in memory of its own.
template <class S>
struct PackedShift {
  std::vector<double> wide;
  std::vector<S> narrow;
  assign_cpu::Packing<S> packing;

  PackedShift(const ColumnMoments& moments, double scale, index_t lanes);
  PackedShift(const PackedShift&) = delete;
  PackedShift& operator=(const PackedShift&) = delete;
};

/// A bound of |computed score - exact score| for a row with ||(x - shift) scale|| <= norm: half_norm and each
/// product enter through `terms` roundings, operands are rounded on conversion (Higham 2002, sec. 3.1).
template <class S>
[[nodiscard]] double score_bound(double terms, double norm, double largest_norm, index_t d) noexcept {
  constexpr double u = std::numeric_limits<S>::epsilon() / 2;
  constexpr double least = std::numeric_limits<S>::min();  // of underflow in products and conversions
  return 1.02 * (terms + 8) * u * (0.5 * largest_norm + norm) * largest_norm +
         4.0 * static_cast<double>(d + 2) * u * least;
}

/// What a pass is given for its rows.
struct Pass {
  std::span<std::int32_t> labels;
  std::span<const double> weights;
  const FixedPoint* unit = nullptr;
  BoundsOfRows bounds;
  assign_cpu::CentroidSteps steps;  ///< while bounds hold
  bool proven = true;               ///< rows whose scores are too close are decided again
};
/// How bounds move in this pass; nothing unless they hold.
assign_cpu::CentroidSteps steps_of(BoundsOfRows bounds);

/// S: double for Scores::float64, float for all others.
template <class S>
AssignStats assign_dense(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                         HostView<const double> centroids, Scores scores, std::span<std::int32_t> labels,
                         std::span<const double> weights, const FixedPoint* unit, ClusterSums* sums,
                         BoundsOfRows bounds);
template <class S>
AssignStats assign_sparse(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                          HostView<const double> centroids, std::span<std::int32_t> labels,
                          std::span<const double> weights, const FixedPoint* unit, ClusterSums* sums,
                          BoundsOfRows bounds, bool proven);
/// Every row against every centroid in long double: slow, plain, and what the others are tested against.
AssignStats assign_reference(const Rows& x, const ColumnMoments& moments, HostView<const double> centroids,
                             std::span<std::int32_t> labels, std::span<const double> weights,
                             const FixedPoint* unit, ClusterSums* sums);

}  // namespace ts::assign_detail
