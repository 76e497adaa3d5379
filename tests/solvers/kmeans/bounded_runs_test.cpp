#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/group_bounds.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"

using namespace ts;
using namespace ts::solvers;
using namespace ts::test;

namespace {

/// Rows of groups whose columns fall.
template <class T>
Matrix<T> embeddings(index_t n, index_t d, index_t groups, double noise) {
  const Philox numbers{3, 1};
  const auto number = [&](index_t i, index_t j) {
    return numbers.uniform(static_cast<std::uint64_t>(i * d + j)) - 0.5;
  };
  Matrix<T> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j)
      x(i, j) = static_cast<T>((number(i * 7 % groups, j) + noise * number(groups + i, j)) / std::sqrt(1.0 + j));
  return x;
}

/// Checks that bits are the same with and without the filter; returns the pairs that were scored in 8 bits.
index_t check(const Rows& rows, KMeansOptions o) {
  index_t coarse = 0;
  o.init = KMeansInit::random, o.tolerance = KMeansTolerance::labels, o.max_iter = 30;
  o.on_progress = [&](const KMeansProgress& now) {
    coarse += now.coarse;
    return true;
  };
  const Context ctx;
  const KMeansResult with = solvers::kmeans(ctx, rows, o);
  const index_t found = coarse;
  o.filter = KMeansFilter::none;
  const KMeansResult without = solvers::kmeans(ctx, rows, o);
  CHECK(coarse == found);
  expect_same(with, without);
  CHECK(solvers::verify(ctx, rows, with.centers.cview(), with.labels, o.metric) == 0);
  return found;
}

}  // namespace

TEST_CASE("runs with bounds of groups have the bits of runs without", "[kmeans]") {
  KMeansOptions o{.clusters = 150};
  const auto x = embeddings<float>(6000, 96, 120, 0.4);
  const index_t coarse = check(Rows(x.cview()), o);
  if (GroupBounds::possible({}, 96)) CHECK(coarse > 0);
  o.metric = KMeansMetric::cosine;
  check(Rows(x.cview()), o);
  o.n_init = 2, o.metric = KMeansMetric::euclidean, o.clusters = 90;
  std::vector<double> weights(6000);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 4);
  o.weights = weights;
  const auto wide = embeddings<double>(6000, 64, 200, 1.0);
  check(Rows(wide.cview()), o);
}

TEST_CASE("runs of wide rows with bounds of groups have the bits of runs without", "[kmeans]") {
  KMeansOptions o{.clusters = 100};
  const auto x = embeddings<float>(6000, 400, 250, 1.0);
  const index_t coarse = check(Rows(x.cview()), o);
  if (GroupBounds::possible({}, 400)) CHECK(coarse > 0);
  o.metric = KMeansMetric::cosine, o.n_init = 2;
  check(Rows(x.cview()), o);
  // Every row as far from all centres: bounds leave nothing, and end.
  const auto noise = embeddings<double>(4500, 384, 4500, 30);
  o.metric = KMeansMetric::euclidean, o.n_init = 1, o.clusters = 64;
  check(Rows(noise.cview()), o);
}

TEST_CASE("bounds of groups for rows that have few dimensions, none, or huge coordinates", "[kmeans]") {
  KMeansOptions o{.clusters = 70};
  Matrix<double> flat(4500, 64);
  for (index_t i = 0; i < 4500; ++i)
    for (index_t j = 0; j < 64; ++j) flat(i, j) = j < 3 ? static_cast<double>((i * (j + 3)) % 101) : 5.0;
  check(Rows(flat.cview()), o);
  for (index_t i = 0; i < 4500; ++i)
    for (index_t j = 0; j < 64; ++j) flat(i, j) = 2.5;
  check(Rows(flat.cview()), o);
  auto large = embeddings<double>(4500, 64, 60, 0.5);
  for (index_t q = 0; q < 4500 * 64; ++q) large.data()[q] *= 1e120;
  check(Rows(large.cview()), o);
}
