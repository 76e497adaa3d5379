// k-means on several ranks, which are threads here, has the bits of one.
#include <map>
#include <optional>

#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/solvers/kmeans/measures.hpp"
#include "tallskinny/solvers/random.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"
#include "tallskinny/tests/support/message_of.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// body(ctx) on each rank, whose Context says which of n rows it has.
void on_ranks(int ranks, index_t n, const std::function<void(const Context&)>& body) {
  run_on_threads(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
    Context ctx;
    ctx.threads = 1 + communicator->rank() % 2;
    ctx.communicator = communicator;
    ctx.slabs = RowSlabs::of_pieces(n, ranks, chunk_rows);
    body(ctx);
  });
}

template <class T>
std::span<const T> here_of(const Context& ctx, std::span<const T> all) {
  if (all.empty()) return all;
  return all.subspan(static_cast<std::size_t>(first_row(ctx)),
                     static_cast<std::size_t>(ctx.slabs.rows(ctx.communicator->rank())));
}
Rows here_of(const Context& ctx, const Rows& all) {
  return all.block(first_row(ctx), ctx.slabs.rows(ctx.communicator->rank()));
}

/// Seven chunks of rows, in groups of different sizes, with some rows far from all.
Matrix<double> points(index_t n = 26000, index_t d = 5) {
  Matrix<double> x(n, d);
  const Random random(7);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) {
      const auto number = static_cast<std::uint64_t>(i * d + j);
      x(i, j) = random.normal(number) + 2 * static_cast<double>((i * i + j) % 7) + (i % 5003 == 5002 ? 40.0 : 0.0);
    }
  return x;
}

std::vector<double> some_weights(index_t n) {
  std::vector<double> weights;
  const Random random(8);
  for (index_t i = 0; i < n; ++i) weights.push_back(i % 11 == 3 ? 0 : random.uniform(static_cast<std::uint64_t>(i)));
  return weights;
}

/// The same with all that is reported.
void expect_same_report(const KMeansResult& a, const KMeansResult& b) {
  CHECK(a.inertia == b.inertia);
  CHECK(same_bits(a, {b.run, {}, {}}) == false);
}

struct Ranks {
  static constexpr std::array<int, 4> counts{2, 3, 4, 8};
};

}  // namespace
