// Vectors of results that are left on a device.
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/solvers/driver/cluster.hpp"
#include "tallskinny/solvers/driver/eigs.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"
#include "tallskinny/solvers/driver/svds.hpp"
#include "tallskinny/tests/support/counting_memory.hpp"
#include "tallskinny/tests/support/test.hpp"

using solvers::eigs, solvers::eigsh, solvers::svds, solvers::EigshOptions;

namespace {

EigshOptions<double> lowest(solvers::Results where = solvers::Results::on_host) {
  EigshOptions<double> o;
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
  CHECK(max_difference(a, b) == 0);
}

/// run(ctx) with memory of ours; what it returns holds so many matrices with elements.
template <class Run>
void expect_ours(int matrices_of_result, const Run& run) {
  CountingMemory mine, others;
  const UseHostMemory caught(&others);
  Context ctx{.threads = 2, .host_memory = &mine};
  {
    const auto result = run(ctx);
    CHECK(mine.taken > matrices_of_result);
    CHECK(mine.out == matrices_of_result);
  }
  CHECK((mine.out == 0 && mine.bytes == 0));
  CHECK(others.taken == 0);
}

}  // namespace

TEST_CASE("results on a device need one, which is said before anything is computed") {
  const auto a = generators::laplacian({50});
  solvers::EigsOptions<double> general;
  solvers::SvdsOptions singular;
  general.results = singular.results = solvers::Results::on_device;
  const auto refusal = message_of([&] { (void)solvers::eigsh(Context{}, a, 2, lowest(solvers::Results::on_device)); });
  CHECK_FALSE(refusal.empty());
  CHECK_THROWS_AS(solvers::eigs(Context{}, a, 2, general), Error);
  CHECK_THROWS_AS(solvers::svds(Context{}, a, 2, singular), Error);
}

TEST_CASE("vectors that the host found go to the device where that was asked for", "[cuda]") {
  const auto a = generators::laplacian({1200});
  const solvers::Operator<double> op(solvers::CsrOperator<double>(a.view()));
  Context ctx{.stream = cuda::Stream::rehearsing(cuda::typical_device("sm_90a"))};
  for (const auto method : {solvers::Method::lanczos, solvers::Method::dense}) {
    auto options = lowest(solvers::Results::on_device);
    options.method = method;
    const auto found = solvers::eigsh(ctx, op, 3, options);
    CHECK(found.verified);
    CHECK((found.device_vectors.rows() == 1200 && found.device_vectors.cols() == 3));
    CHECK((found.vectors.rows() == 1200 && found.vectors.cols() == 0));
    options.vectors = false;
    CHECK(solvers::eigsh(ctx, op, 3, options).device_vectors.rows() == 0);
  }
  const auto here = solvers::eigsh(ctx, op, 3, lowest(solvers::Results::on_host));
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
  Context ctx{.stream = cuda::Stream(0)};
  solvers::EigsOptions<double> general;
  solvers::SvdsOptions singular;
  const auto of = [&](solvers::Results where) {
    general.results = singular.results = where;
    return std::tuple(solvers::eigsh(ctx, a, 4, lowest(where)), solvers::eigs(ctx, a, 2, general),
                      solvers::svds(ctx, a, 3, singular));
  };
  const auto [hermitian, of_any, triplets] = of(solvers::Results::on_host);
  const auto [hermitian_there, of_any_there, triplets_there] = of(solvers::Results::on_device);
  expect_equal(hermitian.vectors, brought_back(ctx, hermitian_there.device_vectors));
  expect_equal(of_any.vectors, brought_back(ctx, of_any_there.device_vectors));
  expect_equal(triplets.u(), brought_back(ctx, triplets_there.device_u()));
  expect_equal(triplets.v(), brought_back(ctx, triplets_there.device_v()));
  auto with_mass = lowest(solvers::Results::on_device);
  with_mass.mass = a.view();
  CHECK(solvers::eigsh(ctx, a, 2, with_mass).device_vectors.cols() == 2);
}

// Matrices that are not quite Hermitian, and numbers that are none, in the calls of the library.

TEST_CASE("a matrix that is Hermitian to rounding is solved as its Hermitian part, and errors count the rest") {
  auto a = generators::laplacian({400});
  for (const std::size_t e : {11u, 37u}) a.values[e] *= 1 + 1e-10;
  const auto found = eigsh(Context{}, a, 3, lowest());
  const double smallest_value = 4 * std::pow(std::sin(std::numbers::pi / 802), 2);
  CHECK(found.verified);
  CHECK(std::abs(found.values[0] - smallest_value) < allowed::fine_run);
  CHECK(found.asymmetry > 1e-11);
  CHECK(found.error_bounds[0] > 1e-11);
  CHECK(mentions(found.note, "(A + A^H) / 2 is solved"));
  a.values[11] = 4;
  CHECK(mentions(message_of([&] { (void)eigsh(Context{}, a, 3, lowest()); }), "is not symmetric"));
  auto options = lowest();
  options.symmetrise = true;
  const auto by_name = eigsh(Context{}, a, 3, options);
  CHECK(by_name.verified);
  CHECK(by_name.error_bounds[0] < allowed::default_run);
  // Entries computed in float32 have fewer digits, so that half of them are fewer, also in a mass matrix.
  auto mass = generators::laplacian({400});
  for (double& x : mass.values) x = x > 0 ? 3 : 1;
  mass.values[1] *= 1 + 1e-6;
  options = lowest();
  options.mass = mass.view();
  const auto b = generators::laplacian({400});
  CHECK(message_of([&] { (void)eigsh(Context{}, b, 3, options); }).find("`mass` of eigsh() is not symmetric") == 0);
  options.from_float32 = true;
  CHECK(eigsh(Context{}, b, 3, options).error_bounds[0] > 0);
}

TEST_CASE("NaN is named before anything is made of a matrix") {
  auto a = Matrix<double>::zeros(5, 5);
  a(1, 2) = a(2, 1) = std::nan("");
  const std::string where = " has NaN at row 1, column 2 (counted from 0)";
  CHECK(message_of([&] { (void)eigsh(Context{}, a, 1); }) == "the matrix given to eigsh()" + where);
  CHECK(message_of([&] { (void)eigs(Context{}, a, 1); }) == "the matrix given to eigs()" + where);
  CHECK(message_of([&] { (void)svds(Context{}, a, 1); }) == "the matrix given to svds()" + where);
}

// Solvers with memory of the caller's: all matrices come from it, and all but the results go back.

TEST_CASE("eigsh, eigs and svds take all their matrices from the memory of the context") {
  const auto a = generators::laplacian({700});
  auto smallest = lowest();
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
  const auto a = matrix_of<float>(200000, 64,
                                  [](index_t i, index_t j) { return static_cast<float>((i * (j + 5) + j * j) % 101); });
  CountingMemory mine;
  Context ctx{.host_memory = &mine};
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

namespace {

/// svds() of the same matrix on the host and on a device, in another layout and type each.
template <class U, Layout L>
void expect_svds_of_host(const Context& ctx, const Matrix<double>& a, const solvers::SvdsOptions& options) {
  const bool rows = L == Layout::row_major;
  Matrix<U> typed(rows ? a.rows() : a.cols(), rows ? a.cols() : a.rows());
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) (rows ? typed(i, j) : typed(j, i)) = static_cast<U>(a(i, j));
  const auto view_of = [&](auto lines) {
    return MatrixView<const U, decltype(lines)::space, L>(lines.data(), a.rows(), a.cols(), lines.ld());
  };
  auto host_options = options;
  host_options.results = solvers::Results::on_host;
  const auto here = svds(Context{}, view_of(typed.cview()), 4, host_options);
  DeviceMatrix<U> copied(ctx.stream, typed.rows(), typed.cols());
  copy(ctx.stream, copied.view(), typed.cview());
  const auto there = svds(ctx, view_of(std::as_const(copied).cview()), 4, options);
  CHECK(there.triplets.verified == here.triplets.verified);
  REQUIRE(there.values().size() == here.values().size());
  for (std::size_t j = 0; j < here.values().size(); ++j)
    CHECK(std::abs(there.values()[j] - here.values()[j]) <= allowed::default_run * here.values().front());
  REQUIRE(there.means.size() == here.means.size());
  for (std::size_t j = 0; j < here.means.size(); ++j) CHECK(std::abs(there.means[j] - here.means[j]) < 1e-12);
  REQUIRE(there.explained_variance_ratio.size() == here.explained_variance_ratio.size());
  for (std::size_t j = 0; j < here.explained_variance_ratio.size(); ++j)
    CHECK(std::abs(there.explained_variance_ratio[j] - here.explained_variance_ratio[j]) < 1e-8);
  CHECK((there.device_u().rows() == a.rows() && there.device_u().cols() == 4));
  CHECK((there.device_v().rows() == a.cols() && there.device_v().cols() == 4));
}

}  // namespace

TEST_CASE("singular values of a matrix on a device are those of the host", "[gpu]") {
  Context ctx{.stream = cuda::Stream(0)};
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  Matrix<double> a(2500, 40);
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) a(i, j) = normal(random) * (1 + 0.1 * static_cast<double>(j)) + 3;
  for (const bool centre : {false, true})
    for (const auto which : {solvers::Which::LA, solvers::Which::SM}) {
      solvers::SvdsOptions options;
      options.centre = centre, options.which = which, options.results = solvers::Results::on_device;
      expect_svds_of_host<double, Layout::row_major>(ctx, a, options);
      expect_svds_of_host<float, Layout::row_major>(ctx, a, options);
      expect_svds_of_host<float, Layout::col_major>(ctx, a, options);
    }
  a(17, 3) = std::numeric_limits<double>::quiet_NaN();
  DeviceMatrix<double> damaged(ctx.stream, a.rows(), a.cols());
  copy(ctx.stream, damaged.view(), std::as_const(a).cview());
  CHECK(mentions(message_of([&] { (void)svds(ctx, std::as_const(damaged).cview(), 2); }), "17"));
}
