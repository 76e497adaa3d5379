// k-means in one call.
#pragma once

#include "tallskinny/gemm/runtime/placed.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::inline v0::solvers {

/// k clusters of rows: KMeansResult has labels, centres, inertia, and `converged()`; verdict() says it in words.
/// @param rows MatrixView of four types in either layout, CsrView of float64 or float32, or Rows, which may be on a
/// device
/// @throws as kmeans() of kmeans/kmeans.hpp.
[[nodiscard]] inline KMeansResult kmeans(const Context& ctx, const Rows& rows, index_t k, KMeansOptions options = {}) {
  options.clusters = k;
  return kmeans(ctx, rows, options);
}

/// Labels and centres of a result on a device.
struct ClustersOnDevice {
  DeviceMatrix<std::int32_t> labels;  ///< n x 1, of the rows here
  DeviceMatrix<double> centers;       ///< k x d
};

/// Copies of them on the device of ctx.stream, for what goes on there.
/// @throws Error(no_device) where ctx has none, Error(out_of_memory).
[[nodiscard]] inline ClustersOnDevice on_device(const Context& ctx, const KMeansResult& result) {
  const HostView<const std::int32_t> labels(result.labels.data(), std::ssize(result.labels), 1);
  return {PlacedMatrix(Matrix<std::int32_t>::copy_of(labels)).to_device(ctx),
          PlacedMatrix(Matrix<double>::copy_of(result.centers.cview())).to_device(ctx)};
}

/// How a run ended, as one sentence, with advice where it did not converge.
[[nodiscard]] std::string verdict(const KMeansResult& result);

}  // namespace ts::inline v0::solvers
