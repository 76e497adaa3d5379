// Passes over rows in device memory. The arguments were checked.
#pragma once

#include "tallskinny/solvers/kmeans/pass/assign.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/chooser.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/origin.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"

namespace ts::inline v0::assign_device {

/// What a pass needs to know of centroids, and what it needs in device memory.
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
  const FixedPoint* unit = nullptr;  ///< of the sums
  bool settled = false;              ///< most rows keep their labels
  bool first = false;                ///< no row has a label yet
  Chooser* chooser = nullptr;        ///< of centroids first, all rows of which have labels
  ClusterSums* into = nullptr;       ///< sums in host memory to which changes are added; then centroids have none
};
AssignStats pass_over(const Context& ctx, const DevicePass& pass);
/// Makes the library ready that passes over such rows multiply by, if they do: it takes tens of milliseconds.
void prepare_products(const Context& ctx, const cuda::AssignProblem& problem);
/// assign() with centroids, and sums, in host memory.
AssignStats assign_rows(const Context& ctx, const AssignArguments& of);

}  // namespace ts::inline v0::assign_device
