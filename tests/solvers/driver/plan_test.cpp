// Plans of searches, which need no matrix and no device.
#include "tallskinny/solvers/driver/plan.hpp"
#include "tallskinny/tests/support/test.hpp"

using solvers::DenseTask, solvers::MatrixFacts, solvers::Method, solvers::Which;

namespace {

MatrixFacts dense(index_t rows, index_t cols) {
  return {rows, cols, rows * cols, false, static_cast<std::uint64_t>(8 * rows * cols), 8};
}
MatrixFacts sparse(index_t rows) { return {rows, rows, 7 * rows, true, static_cast<std::uint64_t>(84 * rows), 8}; }

}  // namespace

TEST_CASE("a plan says whether a matrix is decomposed as a whole, and what a device would have to do") {
  solvers::EigenOptions options;
  const auto small = solvers::plan_hermitian(dense(200, 200), {.dense = true}, options, false);
  CHECK((small.whole == DenseTask::hermitian && small.small && small.work.flops == 0));
  options.method = Method::dense;
  const auto asked =
      solvers::plan_hermitian(dense(4000, 4000), {.dense = true, .method = Method::dense}, options, false);
  CHECK((asked.whole == DenseTask::hermitian && !asked.small && asked.work.flops > 0));
  options.method = Method::automatic;
  const auto large = solvers::plan_hermitian(sparse(1000000), {}, options, false);
  CHECK((!large.whole && large.work.bytes > 0 && large.eigen.method != Method::dense));
  // The processor factorises, and mass matrices are there.
  CHECK(solvers::plan_hermitian(sparse(1000000), {.sigma = 1.5}, options, false).work.bytes == 0);
  CHECK(solvers::plan_hermitian(sparse(1000000), {}, options, true).work.bytes == 0);

  CHECK((solvers::plan_general(sparse(600), {}, options).whole == DenseTask::general));
  const auto general = solvers::plan_general(sparse(1000000), {}, options);
  CHECK((!general.whole && general.work.bytes > 0));
  CHECK(solvers::plan_general(sparse(1000000), {.sigma = 1.5}, options).work.bytes == 0);

  options.nev = 200;
  CHECK(solvers::plan_svd(dense(1000, 800), options).whole == DenseTask::singular);
  CHECK_FALSE(solvers::plan_svd(sparse(1000), options).whole);
  CHECK_FALSE(solvers::plan_svd(dense(100000, 800), options).whole);  // a tall one has its Gram matrix
  options.nev = 5;
  CHECK(solvers::plan_svd(dense(1000, 800), options).work.sent == 8e5 * 8);
  options.which = Which::SM;
  CHECK(solvers::plan_svd(dense(1000, 800), options).work.bytes == 0);
}
