// Passes over rows in device memory. The arguments were checked.
#pragma once

#include <cmath>
#include <cstdint>

#include "tallskinny/solvers/kmeans/pass/assign.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/candidate_filter.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

namespace ts::inline v0::assign_device {

/// Distances of centroids from the shift, and the scale that follows.
struct Spread {
  double scale = 1;    ///< the inverse power of two of the largest |c_j - shift_j|, of rows, too
  double squared = 0;  ///< the largest ||(c - shift) scale||^2
};

/// True if x - shift in float32 would lose more than the bound on scores includes, or could overflow: rows are widened
/// then.
bool needs_wide(const ColumnMoments& moments, DType type, double scale);

/// True if products of rows with float16 numbers need neither shift nor scale: columns are near their origin by
/// float16's measure, and squares of a few elements fit in float16.
bool allows_raw_rows(const ColumnMoments& moments, DType type, double scale);

/// Origin of scores: with `value` added, all scores, errors included, lie in one binade of float32, whose numbers are
/// `unit` apart.
struct Origin {
  double value, unit;
  double norms;     ///< of a row times that of a centroid, at most; both shifted and scaled
  double row_norm;  ///< the norm of a row, at most; scaled, and shifted unless rows are raw

  Origin(const ColumnMoments& moments, const Spread& centroids, bool raw);
  /// Units within which scores by chains of d multiply-adds in float32 decide nothing: each rounds to a unit,
  /// as does the origin of a centroid; operands were rounded to float32.
  [[nodiscard]] std::uint32_t margin(index_t d) const {
    const double error = 0.5 * static_cast<double>(d + 1) + 0x1p-22 * norms / unit;
    return static_cast<std::uint32_t>(std::ceil(2.04 * error)) + 1;
  }
};

/// Centroids and working memory of a pass, in device memory.
struct PlacedCentroids {
  PlacedSums sums;  ///< of the same clusters; words that move with the labels, or none
  Spread spread;
  const double* rows = nullptr;          ///< count x d
  const double* first_column = nullptr;  ///< of all, side by side
};

/// One pass over rows with centroids that are on the device.
struct DevicePass {
  const Rows& x;
  const ColumnMoments& moments;
  const PlacedCentroids& centroids;
  Scores scores = Scores::float32;
  PerRow<std::int32_t> labels = {};
  PerRow<const double> weights = {};
  const FixedPoint* unit = nullptr;   ///< of the sums
  bool stable = false;                ///< most rows keep their labels
  bool first = false;                 ///< no row has a label yet
  CandidateFilter* filter = nullptr;  ///< of centroids first, all rows of which have labels
  ClusterSums* into = nullptr;        ///< sums in host memory to which changes are added; then centroids have none
};
AssignStats pass_over(const Context& ctx, const DevicePass& pass);
/// Makes the library ready that passes over such rows multiply by, if they do: it takes tens of milliseconds.
void prepare_products(const Context& ctx, const cuda::AssignProblem& problem);
/// assign() with centroids, and sums, in host memory.
AssignStats assign_rows(const Context& ctx, const AssignArguments& of);

}  // namespace ts::inline v0::assign_device
