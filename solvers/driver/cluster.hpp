// k-means in one call.
#pragma once

#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::solvers {

/// k clusters of rows: KMeansResult has labels, centres, inertia, and `converged()`; verdict() says it in words.
/// @param rows MatrixView of four types in either layout, CsrView of float64 or float32, or Rows, which may be on a
/// device
/// @throws as kmeans() of kmeans/kmeans.hpp.
[[nodiscard]] inline KMeansResult kmeans(const Context& ctx, const Rows& rows, index_t k, KMeansOptions options = {}) {
  options.clusters = k;
  return kmeans(ctx, rows, options);
}

/// How a run ended, as one sentence, with advice where it did not converge.
[[nodiscard]] std::string verdict(const KMeansResult& result);

}  // namespace ts::solvers
