#include "tallskinny/solvers/one_rank.hpp"

#include "tallskinny/gemm/comm/slab_collector.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/svd/svd.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;

TEST_CASE("general eigenvalues and singular values on several ranks are refused") {
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
  refused("solve_svd", [&] { (void)solve_svd<double>(ctx, {rectangular(a.cview())}, {}); });
}
