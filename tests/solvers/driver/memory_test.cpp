// Solvers with memory of the caller's: all matrices come from it, and all but the results go back.
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/driver/cluster.hpp"
#include "tallskinny/solvers/driver/eigs.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"
#include "tallskinny/solvers/driver/svds.hpp"
#include "tallskinny/tests/support/counting_memory.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

/// run(ctx) with memory of ours; what it returns holds so many matrices with elements.
template <class Run>
void expect_ours(int matrices_of_result, const Run& run) {
  test::CountingMemory mine, others;
  const UseHostMemory caught(&others);
  Context ctx;
  ctx.host_memory = &mine, ctx.threads = 2;
  {
    const auto result = run(ctx);
    CHECK(mine.taken > matrices_of_result);
    CHECK(mine.out == matrices_of_result);
  }
  CHECK((mine.out == 0 && mine.bytes == 0));
  CHECK(others.taken == 0);
}

}  // namespace

TEST_CASE("eigsh, eigs and svds take all their matrices from the memory of the context") {
  const auto a = generators::laplacian({700});
  solvers::EigshOptions<double> smallest;
  smallest.which = solvers::Which::SA;
  expect_ours(1, [&](const Context& ctx) { return solvers::eigsh(ctx, a, 3, smallest); });
  smallest.mass = a.view();
  expect_ours(1, [&](const Context& ctx) { return solvers::eigsh(ctx, a, 2, smallest); });
  expect_ours(1, [&](const Context& ctx) { return solvers::eigs(ctx, a, 2); });
  expect_ours(2, [&](const Context& ctx) { return solvers::svds(ctx, a, 2); });
  auto by_columns = Matrix<float, Space::host, Layout::col_major>::zeros(60, 20);
  for (index_t i = 0; i < 60; ++i) by_columns(i, i % 20) = static_cast<float>(i + 1);
  expect_ours(2, [&](const Context& ctx) { return solvers::svds(ctx, by_columns, 2); });
}

TEST_CASE("principal components of a tall float32 matrix take a quarter of its size at most") {
  auto a = Matrix<float>::zeros(200000, 64);
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) a(i, j) = static_cast<float>((i * (j + 5) + j * j) % 101);
  test::CountingMemory mine;
  Context ctx;
  ctx.host_memory = &mine;
  solvers::SvdsOptions options;
  options.centre = true;
  CHECK(solvers::svds(ctx, a, 2, options).triplets.verified);
  CHECK(mine.most * 4 < 200000 * 64 * sizeof(float));
}

TEST_CASE("k-means takes all its matrices from the memory of the context") {
  auto points = Matrix<float>::zeros(3000, 5);
  for (index_t i = 0; i < points.rows(); ++i) points(i, i % 5) = static_cast<float>(1 + i % 7);
  expect_ours(1, [&](const Context& ctx) { return solvers::kmeans(ctx, Rows(points.cview()), 5); });
  const auto centers = Matrix<double>::zeros(2, 5);
  expect_ours(0, [&](const Context& ctx) {
    return solvers::predict(ctx, Rows(points.cview()), centers.cview(), solvers::KMeansMetric::euclidean);
  });
}
