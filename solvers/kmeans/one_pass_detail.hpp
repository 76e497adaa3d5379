// Labels of rows that meet given centres once, in host memory. Internal to the room.
#pragma once

#include <memory>

#include "tallskinny/solvers/kmeans/pruning_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Blocks of rows, one after the other, meet the same centres. Where that pays, products with most of them are left
/// out: axes are those of the centres, a part of the block at a time is turned into them, labels to begin with are
/// guessed from heads, and PrunedPass does the rest. A trial on the first block tells how many axes; what a block left
/// tells whether the next one is pruned. Labels are those of assign(). Each rank decides for itself.
class OnePassLabels {
 public:
  /// @param centers usable ones, which stay where they are. @param rows that will come, about
  OnePassLabels(const Context& ctx, HostView<const double> centers, Scores scores, index_t rows);

  /// @param labels -1 before
  AssignStats label(const Rows& block, const ColumnMoments& moments, PerRow<std::int32_t> labels);

 private:
  /// Whether rows of a block with these moments can be pruned now.
  bool ready(const Rows& block, const ColumnMoments& moments);
  [[nodiscard]] index_t trial(const Rows& block, HostView<const double> axes) const;
  void judge();
  /// What a row costs beside products with all centroids, in those that PruningPlan counts.
  [[nodiscard]] double guessing(index_t columns) const noexcept;
  [[nodiscard]] double once() const noexcept;

  Context ctx_;  ///< of this rank alone
  HostView<const double> centers_;
  Scores scores_;
  index_t rows_, part_rows_ = 0;
  Matrix<double> axes_;  ///< none: not asked for
  bool tries_;
  ColumnMoments moments_;  ///< of all rows so far and the centres
  std::unique_ptr<Pruning> pruning_;
  AssignStats seen_;  ///< in pruned blocks
  index_t pruned_rows_ = 0;
};

}  // namespace ts::inline v0::solvers::kmeans_detail
