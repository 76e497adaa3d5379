// Passes that leave out products, beside passes that do not.
#pragma once

#include "tallskinny/solvers/kmeans/pass/filter/group_bounds.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/host_rows.hpp"

namespace ts::test {

/// Columns fall like embeddings' in their own axes: groups of rows, and noise.
template <class T>
Matrix<T> falling(index_t n, index_t d, index_t groups, double factor = 1) {
  Matrix<T> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j)
      x(i, j) = narrowed<T>(factor * (number(i % groups, j + 31) + 0.3 * number(i, j)) /
                            std::sqrt(1 + static_cast<double>(j)));
  return x;
}

struct Moves {
  index_t k;
  bool with_copies = false, without_labels = false, far_out = false;
};

/// Several passes with centroids that move, with bounds of groups and without: the same labels, counts and sums.
/// Returns what the last pass counted. @param moved(step, m, j) by what share a coordinate of a centroid is moved
template <class Moved>
AssignStats compare_passes(const Context& ctx, GroupBounds& bounds, const Rows& rows, const Moves& of,
                           const Moved& moved) {
  const auto moments = column_moments({}, rows);
  const auto n = static_cast<std::size_t>(rows.rows());
  const index_t d = rows.cols(), half = rows.rows() / 2 / 64 * 64;
  const FixedPoint unit(moments.max_abs, 1, rows.rows());
  std::vector<double> weights(n), row(static_cast<std::size_t>(d));
  for (std::size_t i = 0; i < n; ++i) weights[i] = i % 5 == 0 ? 0.0 : 0.5;
  bounds.put(ctx, 0, rows.block(0, half));
  bounds.put(ctx, half, rows.block(half, rows.rows() - half));
  ClusterSums sums(of.k, d), plain(of.k, d);
  std::vector<std::int32_t> labels(n, -1), expected(n, -1);
  AssignStats stats;
  for (int step = 0; step < 7; ++step) {
    Matrix<double> c(of.k, d);
    for (index_t m = 0; m < of.k; ++m) {
      rows.load(m * 37 % rows.rows(), row.data());
      for (index_t j = 0; j < d; ++j) c(m, j) = row[static_cast<std::size_t>(j)] * (1 + moved(step, m, j));
      if (of.with_copies && step % 3 == 1 && m % 9 == 4)
        for (index_t j = 0; j < d; ++j) c(m, j) = c(m - 3, j);
      if (of.far_out && step == 3 && m == 0) c(m, 0) += 1e3 * moments.max_abs[0];
    }
    bounds.begin_pass(ctx, c.cview());
    if (of.far_out && step == 3) CHECK_FALSE(bounds.serves());
    if (of.without_labels && step % 2 == 1)
      for (std::size_t i = 0; i < n; i += 7) labels[i] = expected[i] = -1;
    stats = {};
    for (const auto& [first, count] : {std::pair{index_t{0}, half}, {half, rows.rows() - half}}) {
      const auto from = static_cast<std::size_t>(first), many = static_cast<std::size_t>(count);
      AssignArguments arguments{rows.block(first, count), moments, c.cview()};
      arguments.labels = std::span(labels).subspan(from, many);
      arguments.weights = std::span<const double>(weights).subspan(from, many);
      arguments.group_bounds = {&bounds, first};
      if (!of.without_labels) arguments.unit = &unit, arguments.sums = &sums;
      stats += assign(ctx, arguments);
    }
    AssignArguments arguments{rows, moments, c.cview()};
    arguments.labels = std::span(expected), arguments.weights = std::span<const double>(weights);
    if (!of.without_labels) arguments.unit = &unit, arguments.sums = &plain;
    const AssignStats without = assign(ctx, arguments);
    INFO("step " << step << " instructions " << static_cast<int>(ctx.simd));
    REQUIRE(labels == expected);
    CHECK(stats.changed == without.changed);
    for (index_t m = 0; m < of.k; ++m) REQUIRE(sums.count(m) == plain.count(m));
    for (index_t m = 0; m < of.k; ++m)
      if (!plain.weightless(m))
        for (index_t j = 0; j < d; j += 5) REQUIRE(sums.mean(unit, m, j) == plain.mean(unit, m, j));
  }
  return stats;
}

/// Ties and zeros; numbers near the ends of the range; rows of very different lengths: check(rows, k, with copies).
template <class Check>
void check_extremes(index_t tied_columns, index_t mixed_columns, const Check& check) {
  Matrix<float> repeated = falling<float>(600, tied_columns, 9);
  for (index_t i = 0; i < 600; ++i)
    for (index_t j = 0; j < tied_columns; ++j) repeated(i, j) = i % 13 == 0 ? 0.0F : repeated(i % 9, j);
  check(Rows(repeated.cview()), 64, true);
  const auto small = falling<double>(400, 48, 30, 1e-200), large = falling<double>(400, 48, 30, 1e200);
  check(Rows(small.cview()), 64, false);
  check(Rows(large.cview()), 64, false);
  const auto mixed = falling<float>(900, mixed_columns, 30);
  std::vector<double> scale(900);
  for (index_t i = 0; i < 900; ++i) scale[static_cast<std::size_t>(i)] = std::exp2(static_cast<double>(i % 24) - 20);
  check(Rows(mixed.cview()).scaled(std::span<const double>(scale)), 100, false);
}

}  // namespace ts::test
