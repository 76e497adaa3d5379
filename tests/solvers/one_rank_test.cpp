#include "tallskinny/solvers/one_rank.hpp"

#include "tallskinny/gemm/comm/slab_collector.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/measures.hpp"
#include "tallskinny/solvers/svd/svd.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;

TEST_CASE("eigenvalues, singular values and clusters of rows on several ranks are refused") {
  const auto a = Matrix<double>::zeros(20, 20);
  const Operator<double> zero = DenseOperator<double>(a.cview());
  Context ctx;
  ctx.communicator = std::make_shared<SlabCollector>(2);
  const auto refused = [&](const char* solver, auto&& call) {
    const std::string said = test::message_of(call);
    CAPTURE(solver, said);
    CHECK(said.find(std::string(solver) + " works on one rank") == 0);
    CHECK(said.find("has 2") != std::string::npos);
  };
  refused("solve_general", [&] { (void)solve_general<double>(ctx, {zero}, {}); });
  refused("solve_interval", [&] { (void)solve_interval<double>(ctx, {zero}, {}, {0, 2}); });
  refused("solve_svd", [&] { (void)solve_svd<double>(ctx, {rectangular(a.cview())}, {}); });
  const Rows rows(a.cview());
  const std::vector<std::int32_t> labels(20);
  refused("k-means", [&] { (void)kmeans(ctx, rows, {}); });
  refused("k-means", [&] { (void)predict(ctx, rows, a.cview()); });
  refused("k-means", [&] { (void)verify(ctx, rows, a.cview(), labels); });
  refused("k-means", [&] { (void)transform(ctx, rows, a.cview()); });
  refused("measure", [&] { (void)measure(ctx, RowsInMemory(rows), a.cview(), labels); });
}
