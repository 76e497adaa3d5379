// What all steps of one k-means run share. Internal to the room.
#pragma once

#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::solvers::kmeans_detail {

struct Problem {
  const Context& ctx;
  Rows rows;  ///< with row scales for cosine
  ColumnMoments moments;
  std::span<const double> weights;
  index_t k = 0;
  /// Rows without a direction, for cosine: they weigh nothing and are put into cluster 0.
  std::span<const index_t> directionless = {};

  [[nodiscard]] double weight(index_t i) const noexcept {
    return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
  }
};

/// Divides every row by its norm; rows of norm 0 stay. Returns how many those are.
index_t normalise(HostView<double> centers);

}  // namespace ts::solvers::kmeans_detail
