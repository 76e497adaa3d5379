// Whether and how passes leave out products with centroids that cannot be the nearest. Internal to the room.
#pragma once

#include <memory>

#include "tallskinny/gemm/assign/scores/pairs.hpp"
#include "tallskinny/gemm/assign/scores/pruning.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Ready for passes over dense rows in host memory; none where rows are sparse or the processor has no products for it.
[[nodiscard]] std::unique_ptr<PairBounds> pairs_for(const KMeansProblem& problem);
/// Ready for passes over dense rows in host memory that have labels; none where it does not pay.
[[nodiscard]] std::unique_ptr<Pruning> pruning_for(const KMeansProblem& problem, HostView<const double> centers,
                                                   std::span<const std::int32_t> labels, int passes);

}  // namespace ts::inline v0::solvers::kmeans_detail
