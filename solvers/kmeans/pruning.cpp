#include "tallskinny/solvers/kmeans/pruning_detail.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/solvers/kmeans/axes.hpp"
#include "tallskinny/solvers/kmeans/strategy_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t trial_rows = 64, trial_clusters = 2048;

bool sparse_here(const KMeansProblem& p) {
  bool sparse = false;
  p.for_each_block_here([&](index_t, const Rows& block) { sparse = sparse || block.sparse(); });
  return sparse;
}

/// Columns of heads at most.
index_t most_width(index_t cols) noexcept {
  return std::min(cols / Pruning::columns_step * Pruning::columns_step, index_t{256});
}

/// The width of heads along these axes for which so many passes at most cost least, found on a few rows, with centres
/// and labels as they are; 0: a pass without costs less.
index_t width_of_heads(const KMeansProblem& p, HostView<const double> axes, HostView<const double> centers,
                       std::span<const std::int32_t> labels, int passes) {
  const index_t d = p.cols(), k = centers.rows(), width = axes.cols(), few = std::min(k, trial_clusters);
  const PassCosts costs{d, k, Pruning::costs(p.ctx)};
  index_t best = 0;
  double least = costs.most_with_heads();
  // Rows, then some centroids, then those of the labels of the rows.
  const index_t rows = std::min(p.rows(), trial_rows);
  Matrix<float> all(2 * rows + few, d), q(d, width), heads(all.rows(), width);
  for (index_t j = 0; j < d; ++j)
    for (index_t a = 0; a < width; ++a) q(j, a) = static_cast<float>(axes(j, a));
  std::vector<double> row(at(d)), square(at(all.rows()));
  const double reach = *std::max_element(p.moments.reach.begin(), p.moments.reach.end());
  for (index_t i = 0; i < all.rows(); ++i) {
    if (i < rows)
      p.load_here(i * p.rows() / rows, row.data());
    else
      std::copy_n(
          &centers(i < rows + few ? (i - rows) * k / few : std::max(0, labels[at((i - rows - few) * p.rows() / rows)]),
                   0),
          d, row.data());
    for (index_t j = 0; j < d; ++j) {
      const double value = (row[at(j)] - p.moments.shift[at(j)]) / reach;
      all(i, j) = static_cast<float>(value), square[at(i)] += value * value;
    }
  }
  tsmm(p.ctx, Op::none, 1.0F, all.cview(), q.cview(), 0.0F, heads.view());
  std::vector<double> own(at(rows));
  for (index_t i = 0; i < rows; ++i) {
    double product = 0;
    for (index_t j = 0; j < d; ++j)
      product += static_cast<double>(all(i, j)) * static_cast<double>(all(rows + few + i, j));
    own[at(i)] = square[at(rows + few + i)] / 2 - product;
  }
  constexpr double of_bytes = 0.004;  // what 8 bits take from a head, of its length
  std::vector<double> tail = square, product(at(rows * few));
  for (index_t columns = 0; columns + Pruning::columns_step <= width;) {
    for (index_t end = columns + Pruning::columns_step; columns < end; ++columns) {
      for (index_t i = 0; i < all.rows(); ++i)
        tail[at(i)] -= static_cast<double>(heads(i, columns)) * static_cast<double>(heads(i, columns));
      for (index_t i = 0; i < rows; ++i)
        for (index_t m = 0; m < few; ++m)
          product[at(i * few + m)] +=
              static_cast<double>(heads(i, columns)) * static_cast<double>(heads(rows + m, columns));
    }
    index_t survivors = 0;
    for (index_t i = 0; i < rows; ++i)
      for (index_t m = 0; m < few; ++m) {
        const double lengths = std::sqrt(square[at(i)] * square[at(rows + m)]);
        const double slack = std::sqrt(std::max(0.0, tail[at(i)]) * std::max(0.0, tail[at(rows + m)])) +
                             2 * (of_bytes + Pruning::rounding(d, columns)) * lengths;
        survivors += square[at(rows + m)] / 2 - product[at(i * few + m)] - slack <= own[at(i)] ? 1 : 0;
      }
    const double share = static_cast<double>(survivors) / static_cast<double>(rows * few);
    const double headed = passes > 1 ? headed_share : 1;
    const double cost = costs.with_heads(columns, headed, share) + costs.of_heads(columns, passes);
    if (cost < least) best = columns, least = cost;
  }
  return best;
}

}  // namespace

std::unique_ptr<PairBounds> pairs_for(const KMeansProblem& p) {
  if (!PairBounds::possible(p.ctx, p.cols()) || sparse_here(p)) return nullptr;
  auto pairs = std::make_unique<PairBounds>(p.ctx, p.rows(), p.k, p.moments);
  p.for_each_block_here([&](index_t first, const Rows& block) { pairs->put(p.ctx, first, block); });
  return pairs;
}

std::unique_ptr<Pruning> pruning_for(const KMeansProblem& p, HostView<const double> centers,
                                     std::span<const std::int32_t> labels, int passes) {
  if (sparse_here(p)) return nullptr;
  const Matrix<double> axes = leading_axes(p, most_width(p.cols()));
  if (axes.cols() < Pruning::columns_step) return nullptr;
  const index_t columns = width_of_heads(p, axes.cview(), centers, labels, passes);
  if (columns == 0) return nullptr;
  const Matrix<double> some = leading_columns(axes.cview(), columns);
  auto pruning = std::make_unique<Pruning>(p.ctx, p.rows(), some.cview(), centers.rows(), p.moments);
  p.for_each_block_here([&](index_t first, const Rows& block) { pruning->put(p.ctx, first, block); });
  return pruning;
}

}  // namespace ts::inline v0::solvers::kmeans_detail

std::uint64_t ts::solvers::pruning_bytes(index_t rows, index_t cols, index_t clusters) noexcept {
  using namespace kmeans_detail;
  if (!heads_serve(rows, cols, clusters)) return 0;
  if (pairs_serve(rows, cols, clusters))
    return static_cast<std::uint64_t>(rows * (cols + 128 + 2 * clusters + 28) + 13 * clusters * cols);
  // Of each row its head, numbers and bounds; of each centroid 8 bits, float32 and float64.
  return static_cast<std::uint64_t>(rows * (most_width(cols) + clusters / 16 + 28) + 14 * clusters * cols);
}
