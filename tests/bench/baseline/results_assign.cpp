#include <cmath>

#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/assign/clusters/clusters.hpp"
#include "tallskinny/gemm/assign/rows/unit_rows.hpp"
#include "tallskinny/gemm/assign/seeding/potential.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/sparse_of.hpp"
#include "tallskinny/tests/bench/baseline/results.hpp"

namespace ts::baseline {

namespace {

struct Shape {
  index_t n, d, k;
  bool weighted;
};
constexpr Shape shapes[] = {{9001, 3, 4, false}, {5000, 16, 16, true}, {3000, 33, 100, false}, {1500, 130, 40, true}};

/// Numbers in [-1, 1) with a million levels, or few, which make ties.
double number(index_t i, index_t j) {
  const Philox numbers{11, static_cast<std::uint64_t>(i)};
  const double u = 2 * numbers.uniform(static_cast<std::uint64_t>(j)) - 1;
  return i % 5 == 0 ? std::round(u * 4) / 4 : u;
}

template <class T>
Matrix<T> points(index_t first, index_t n, index_t d) {
  Matrix<T> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) x(i, j) = narrowed<T>(0.5 + number(first + i, j));
  return x;
}

std::vector<double> weights_of(const Shape& s) {
  std::vector<double> w;
  for (index_t i = 0; s.weighted && i < s.n; ++i) w.push_back(static_cast<double>(i % 5) / 4);
  return w;
}

void add(Hash& hash, const ClusterSums& sums, const FixedPoint& unit) {
  for (index_t m = 0; m < sums.clusters(); ++m) {
    hash.add(sums.count(m)).add(sums.weight(unit, m));
    for (index_t j = 0; j < sums.cols() && !sums.weightless(m); ++j) hash.add(sums.mean(unit, m, j));
  }
}
void add(Hash& hash, const AssignStats& stats) { hash.add(stats.changed).add(stats.rescored).add(stats.skipped); }

/// Three passes with their steps, bounds from the second on.
void passes(const Context& ctx, const Rows& x, const Shape& s, Scores scores, Hash& hash) {
  const ColumnMoments moments = column_moments(ctx, x);
  hash.add(moments.mean).add(moments.variance).add(moments.shift).add(moments.reach);
  const std::vector<double> weights = weights_of(s);
  Clusters clusters(ctx, Space::host, moments, FixedPoint(moments.reach, 1, s.n), points<double>(1000003, s.k, s.d));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(s.n), -1);
  RowBounds bounds(s.n);
  for (int pass = 0; pass < 3; ++pass) {
    clusters.begin_pass(bounds);
    add(hash, clusters.assign(x, scores, labels, weights, Clusters::Sums::move, {&bounds, 0}, pass > 1));
    hash.add(labels);
    add(hash, clusters.sums(), clusters.unit());
    const Twofold terms = clusters.inertia_terms();
    const Clusters::Moved moved = clusters.move_to_means();
    hash.add(terms.hi).add(terms.lo).add(moved.squared_shift).add(moved.weightless).add(clusters.centroids());
  }
  const Matrix<double> centroids = clusters.centroids();
  std::vector<double> own(labels.size());
  own_squared_distances(ctx, x, centroids.cview(), labels, own);
  hash.add(own).add(inertia(ctx, x, centroids.cview(), labels, weights));
  hash.add(count_misassigned(ctx, x, centroids.cview(), labels));
}

/// What first centres are chosen by.
void potentials(const Context& ctx, const Rows& x, const Shape& s, Hash& hash) {
  const ColumnMoments moments = column_moments(ctx, x);
  const std::vector<double> weights = weights_of(s);
  const auto chunks = (s.n + chunk_rows - 1) / chunk_rows;
  std::vector<double> squared(static_cast<std::size_t>(s.n), 1e6), totals(static_cast<std::size_t>(chunks));
  std::vector<std::int32_t> nearest(squared.size(), -1);
  const Matrix<double> candidates = points<double>(77, 4, s.d);
  lower_potential(ctx, {x, moments, candidates.cview(), squared, weights, totals, nearest, 3});
  hash.add(squared).add(totals).add(nearest);
  hash.add(keep_rows(ctx, squared, weights, 20 / totals[0], Philox{1, 2}));
}

void print_of(const std::string& type, const Rows& x, const Shape& s) {
  const std::string shape = type + " n" + std::to_string(s.n) + " d" + std::to_string(s.d) + " k" + std::to_string(s.k);
  const std::pair<const char*, Scores> all[] = {
      {"int16", Scores::int16}, {"float32", Scores::float32}, {"float64", Scores::float64}, {"fast", Scores::fast}};
  for (const Way& way : ways()) {
    if (way.ctx.implementation == Implementation::reference) continue;  // there is none
    for (const auto& [name, scores] : all)
      item("assign " + shape + " " + name + " " + way.name, [&](Hash& hash) { passes(way.ctx, x, s, scores, hash); });
    item("potential " + shape + " " + way.name, [&](Hash& hash) { potentials(way.ctx, x, s, hash); });
    item("distances " + shape + " " + way.name, [&](Hash& hash) {
      Matrix<double> out(s.n, 3);
      std::vector<double> scale(static_cast<std::size_t>(s.n));
      distances(way.ctx, x, points<double>(5, 3, s.d).cview(), out.view());
      reciprocal_norms(way.ctx, x, scale);
      hash.add(out).add(scale);
      passes(way.ctx, x.scaled(scale), s, Scores::float32, hash);
    });
  }
}

template <class T>
void print_dense() {
  const std::string type(name_of(dtype_of<T>));
  for (const Shape& s : shapes) {
    const Matrix<T> x = points<T>(0, s.n, s.d);
    print_of(type, x.cview(), s);
  }
  const Shape s{3000, 10, 7, false};
  Matrix<T> whole = points<T>(0, s.n, s.d + 3), columns = points<T>(0, s.d, s.n);
  print_of(type + " gap", HostView<const T>(whole.cview().cols(0, s.d)), s);
  print_of(type + " columns", HostView<const T, Layout::col_major>(columns.data(), s.n, s.d, s.n), s);
}

template <class T>
void print_sparse() {
  const Shape s{3000, 60, 12, true};
  Matrix<T> x = points<T>(0, s.n, s.d);
  for (index_t i = 0; i < s.n; ++i)
    for (index_t j = 0; j < s.d; ++j)
      if ((i * 7 + j) % 5 != 0) x(i, j) = T{};
  const CsrMatrix<T> a = sparse_of<T>(x);
  print_of("sparse " + std::string(name_of(dtype_of<T>)), Rows(a.view()), s);
}

}  // namespace

void print_assign() {
  print_dense<double>(), print_dense<float>(), print_dense<float16>(), print_dense<bfloat16>();
  print_sparse<double>(), print_sparse<float>();
}

}  // namespace ts::baseline
