// Vectors of results that are left on a device.
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/solvers/driver/cluster.hpp"
#include "tallskinny/solvers/driver/eigs.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"
#include "tallskinny/solvers/driver/svds.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

solvers::EigshOptions<double> lowest_left(solvers::Results where) {
  solvers::EigshOptions<double> o;
  o.which = solvers::Which::SA, o.results = where;
  return o;
}

template <class T>
Matrix<T> brought_back(const Context& ctx, const DeviceMatrix<T>& there) {
  Matrix<T> here(there.rows(), there.cols());
  copy(ctx.stream, here.view(), there.cview());
  ctx.stream.synchronize();
  return here;
}

template <class T>
void expect_equal(const Matrix<T>& a, const Matrix<T>& b) {
  REQUIRE((a.rows() == b.rows() && a.cols() == b.cols()));
  index_t differing = 0;
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) differing += a(i, j) == b(i, j) ? 0 : 1;
  CHECK(differing == 0);
}

}  // namespace

TEST_CASE("results on a device need one, which is said before anything is computed") {
  const auto a = generators::laplacian({50});
  solvers::EigsOptions<double> general;
  solvers::SvdsOptions singular;
  general.results = singular.results = solvers::Results::on_device;
  const auto refusal =
      test::message_of([&] { (void)solvers::eigsh(Context{}, a, 2, lowest_left(solvers::Results::on_device)); });
  CHECK_FALSE(refusal.empty());
  CHECK_THROWS_AS(solvers::eigs(Context{}, a, 2, general), Error);
  CHECK_THROWS_AS(solvers::svds(Context{}, a, 2, singular), Error);
}

TEST_CASE("vectors that the host found go to the device where that was asked for", "[cuda]") {
  const auto a = generators::laplacian({1200});
  const solvers::Operator<double> op(solvers::CsrOperator<double>(a.view()));
  Context ctx;
  ctx.stream = cuda::Stream::rehearsing(cuda::typical_device("sm_90a"));
  for (const auto method : {solvers::Method::lanczos, solvers::Method::dense}) {
    auto options = lowest_left(solvers::Results::on_device);
    options.method = method;
    const auto found = solvers::eigsh(ctx, op, 3, options);
    CHECK(found.verified);
    CHECK((found.device_vectors.rows() == 1200 && found.device_vectors.cols() == 3));
    CHECK((found.vectors.rows() == 1200 && found.vectors.cols() == 0));
    options.vectors = false;
    CHECK(solvers::eigsh(ctx, op, 3, options).device_vectors.rows() == 0);
  }
  const auto here = solvers::eigsh(ctx, op, 3, lowest_left(solvers::Results::on_host));
  CHECK((here.vectors.cols() == 3 && here.device_vectors.rows() == 0));
}

TEST_CASE("labels and centres go to a device, n x 1 and k x d", "[cuda]") {
  auto points = Matrix<float>::zeros(300, 2);
  for (index_t i = 0; i < 150; ++i) points(i, 0) = 5;
  Context ctx;
  const auto found = solvers::kmeans(ctx, Rows(points.cview()), 2);
  CHECK_THROWS_AS(solvers::on_device(ctx, found), Error);
  ctx.stream = cuda::Stream::rehearsing(cuda::typical_device("sm_90a"));
  const auto there = solvers::on_device(ctx, found);
  CHECK((there.labels.rows() == 300 && there.labels.cols() == 1));
  CHECK((there.centers.rows() == 2 && there.centers.cols() == 2));
}

TEST_CASE("vectors on a device are those that the host gets", "[gpu]") {
  const auto a = generators::laplacian({40, 50});
  Context ctx;
  ctx.stream = cuda::Stream(0);
  solvers::EigsOptions<double> general;
  solvers::SvdsOptions singular;
  const auto of = [&](solvers::Results where) {
    general.results = singular.results = where;
    return std::tuple(solvers::eigsh(ctx, a, 4, lowest_left(where)), solvers::eigs(ctx, a, 2, general),
                      solvers::svds(ctx, a, 3, singular));
  };
  const auto [hermitian, of_any, triplets] = of(solvers::Results::on_host);
  const auto [hermitian_there, of_any_there, triplets_there] = of(solvers::Results::on_device);
  expect_equal(hermitian.vectors, brought_back(ctx, hermitian_there.device_vectors));
  expect_equal(of_any.vectors, brought_back(ctx, of_any_there.device_vectors));
  expect_equal(triplets.u(), brought_back(ctx, triplets_there.device_u()));
  expect_equal(triplets.v(), brought_back(ctx, triplets_there.device_v()));
  auto with_mass = lowest_left(solvers::Results::on_device);
  with_mass.mass = a.view();
  CHECK(solvers::eigsh(ctx, a, 2, with_mass).device_vectors.cols() == 2);
}
