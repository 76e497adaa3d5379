// Runs of k-means on ranks that are threads, of rows that all these tests share.
#pragma once

#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/solvers/random.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"

namespace ts::test::ranks {

inline std::mutex catch_is_for_one_thread;

inline constexpr std::array some_ranks{1, 2, 3, 4, 8};
inline constexpr index_t n = 26000;  // seven chunks: some of eight ranks have none

/// body(ctx) on each rank, whose Context says which of the rows it has.
inline void on_ranks(int ranks, index_t rows, const std::function<void(const Context&)>& body) {
  run_on_threads(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
    Context ctx{.threads = 1};
    ctx.communicator = communicator;
    ctx.slabs = RowSlabs::of_pieces(rows, ranks, chunk_rows);
    body(ctx);
  });
}

inline index_t rows_here(const Context& ctx) { return ctx.slabs.rows(ctx.communicator->rank()); }
inline Rows here_of(const Context& ctx, const Rows& all) { return all.block(first_row(ctx), rows_here(ctx)); }
template <class T>
std::span<const T> here_of(const Context& ctx, const std::vector<T>& all) {
  if (all.empty()) return {};
  return std::span(all).subspan(static_cast<std::size_t>(first_row(ctx)), static_cast<std::size_t>(rows_here(ctx)));
}

/// Groups of several sizes, and some points far from all.
inline Matrix<double> points(index_t d = 5) {
  Matrix<double> x(n, d);
  const Random random(7);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j)
      x(i, j) = random.normal(static_cast<std::uint64_t>(i * d + j)) + 2 * static_cast<double>((i * i + j) % 7) +
                (i % 5003 == 5002 ? 40 + static_cast<double>(i) / n : 0);
  return x;
}

inline CsrMatrix<double> sparse_points() {
  Matrix<double> x = points();
  for (index_t q = 0; q < n * x.cols(); ++q)
    if (q % 3 != 0) x.data()[q] = 0;
  return to_sparse(x);
}

inline std::vector<double> some_weights() {
  std::vector<double> weights;
  const Random random(8);
  for (index_t i = 0; i < n; ++i)
    weights.push_back(i % 11 == 3 || i > n - 100 ? 0 : random.uniform(static_cast<std::uint64_t>(i)));
  return weights;
}

/// None, and then these.
inline std::vector<double> none_or_some_weights() {
  return GENERATE(false, true) ? some_weights() : std::vector<double>();
}

inline void expect_same_reports(const KMeansResult& here, const KMeansResult& one,
                                std::span<const std::int32_t> labels) {
  CHECK(std::equal(here.labels.begin(), here.labels.end(), labels.begin(), labels.end()));
  expect_same_clusters(here, one);
  CHECK(here.distinct == one.distinct);
  CHECK(here.rescored == one.rescored);
  CHECK(here.skipped == one.skipped);
  CHECK(here.zero_rows == one.zero_rows);
}

inline KMeansOptions options(KMeansInit init, index_t k = 12) {
  KMeansOptions o{.clusters = k, .init = init, .max_iter = 12, .seed = 3};
  return o;
}

}  // namespace ts::test::ranks
