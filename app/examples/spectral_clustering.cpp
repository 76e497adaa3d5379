// Groups of a graph: eigenvectors of its normalised adjacency matrix, then k-means of their rows.
// Source: Ng, Jordan, Weiss 2001.
#include <cmath>

#include "tallskinny/app/examples/check.hpp"
#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/solvers/driver/cluster.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"

namespace {

constexpr ts::index_t n = 900, groups = 3;

/// A number between 0 and 1 for each pair of vertices.
double uniform(ts::index_t i, ts::index_t j) {
  auto x = static_cast<std::uint64_t>(std::min(i, j) * n + std::max(i, j)) * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 31)) * 0xBF58476D1CE4E5B9U;
  return static_cast<double>((x ^ (x >> 29)) >> 11) * 0x1p-53;
}

/// Edges within a group with probability 0.08, between groups with 0.01; vertex i is in group i mod 3.
ts::CsrMatrix<double> graph() {
  ts::CsrMatrix<double> a{n, n, {0}, {}, {}};
  for (ts::index_t i = 0; i < n; ++i) {
    for (ts::index_t j = 0; j < n; ++j)
      if (i != j && uniform(i, j) < (i % groups == j % groups ? 0.08 : 0.01))
        a.indices.push_back(static_cast<std::int32_t>(j)), a.values.push_back(1);
    a.pointers.push_back(std::ssize(a.indices));
  }
  return a;
}

}  // namespace

int main() {
  const ts::Context ctx;
  auto a = graph();
  const auto at = [](ts::index_t i) { return static_cast<std::size_t>(i); };
  const auto degree = [&](ts::index_t i) { return static_cast<double>(a.pointers[at(i) + 1] - a.pointers[at(i)]); };
  for (ts::index_t i = 0; i < n; ++i)  // D^-1/2 A D^-1/2
    for (ts::index_t e = a.pointers[at(i)]; e < a.pointers[at(i) + 1]; ++e)
      a.values[at(e)] = 1 / std::sqrt(degree(i) * degree(a.indices[at(e)]));
  const auto pairs = ts::solvers::eigsh(ctx, a, groups);  // the largest
  expect(pairs.verified && std::abs(pairs.values[0] - 1) < 1e-8, "the largest eigenvalue is 1");
  auto rows = ts::Matrix<double>::copy_of(pairs.vectors.cview());
  for (ts::index_t i = 0; i < n; ++i) {
    double norm = 0;
    for (ts::index_t j = 0; j < groups; ++j) norm += rows(i, j) * rows(i, j);
    for (ts::index_t j = 0; j < groups; ++j) rows(i, j) /= std::sqrt(norm);
  }
  const auto found = ts::solvers::kmeans(ctx, rows.cview(), groups);
  ts::index_t right = 0;  // vertices with the label that most of their group have
  for (ts::index_t g = 0; g < groups; ++g) {
    ts::index_t counts[groups] = {};
    for (ts::index_t i = g; i < n; i += groups) ++counts[found.labels[at(i)]];
    right += std::max({counts[0], counts[1], counts[2]});
  }
  std::printf("%lld of %lld vertices are with their group\n", static_cast<long long>(right), static_cast<long long>(n));
  expect(right > n * 98 / 100 && found.distinct == groups, "the groups are found");
}
