// Centroids made ready for scoring on the host, and how far scores may be wrong.
#pragma once

#include <limits>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/bytes.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

namespace ts::inline v0::assign_detail {

/// Treatment of centroids that equal an earlier one bit for bit: their scores are never best, or they are like others.
enum class Copies { never_win, like_others };

/// Centroids as the scoring kernels and the exact comparison want them.
template <class S>
struct Scored {
  index_t k = 0, d = 0;
  double scale = 1;           ///< power of two: |x - shift| scale <= 1 and |c - shift| scale <= 1
  double largest_norm = 0;    ///< >= ||c - shift|| scale of every centroid
  InLines<S> negated;         ///< k x d: -(c - shift) scale
  std::vector<S> half_norms;  ///< ||(c - shift) scale||^2 / 2; infinite for a copy that never wins
  double shrink = 1;          ///< power of two, below 1 only where x - c could overflow
  InLines<double> exact;      ///< k x d: c shrink

  Scored(const Context& ctx, HostView<const double> centroids, const ColumnMoments& moments,
         Copies of_copies = Copies::never_win);
};

/// copy[j] for centroids that equal an earlier one bit for bit: they can never win.
std::vector<bool> copies(HostView<const double> centroids);
/// The largest coordinate of rows and centroids, less the shift.
double max_abs_of(HostView<const double> centroids, const ColumnMoments& moments);
/// The power of two that brings it to at most 1.
double scoring_scale(HostView<const double> centroids, const ColumnMoments& moments);

/// (c - shift) scale. @param into whose memory serves, if it has that shape
Matrix<double> scaled_centroids(const Context& ctx, HostView<const double> centroids, const ColumnMoments& moments,
                                double scale, Matrix<double> into = {});
/// Half the distance of each to the nearest other one, at least.
std::vector<float> half_gaps_between(const Context& ctx, HostView<const double> centroids);
/// Upper bounds of the moves of such centroids; 0 where all bits are the same.
std::vector<float> steps_between(const Context& ctx, HostView<const double> before, HostView<const double> now);

/// Arguments of packing, with their memory.
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

}  // namespace ts::inline v0::assign_detail
