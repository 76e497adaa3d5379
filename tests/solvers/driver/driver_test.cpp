#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/solvers/driver/cluster.hpp"
#include "tallskinny/solvers/driver/eigs.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"
#include "tallskinny/solvers/driver/hermitian.hpp"
#include "tallskinny/solvers/driver/svds.hpp"
#include "tallskinny/tests/support/test.hpp"

using solvers::eigs, solvers::eigsh, solvers::svds;
using solvers::EigsOptions, solvers::EigshOptions, solvers::SvdsOptions, solvers::Which;
using Complex = std::complex<double>;

namespace {

constexpr index_t n = 900;

/// The k-th smallest eigenvalue of laplacian({size}), from 1.
double of_line(index_t k, index_t size = n) {
  const double s = std::sin(static_cast<double>(k) * std::numbers::pi / (2.0 * static_cast<double>(size + 1)));
  return 4 * s * s;
}

template <class T, class I = std::int32_t>
CsrMatrix<T, I> line(index_t size = n) {
  const auto a = generators::laplacian({size});
  CsrMatrix<T, I> out{a.rows, a.cols, a.pointers, {a.indices.begin(), a.indices.end()}, {}};
  for (const double x : a.values) out.values.push_back(static_cast<T>(x));
  return out;
}

template <class T, Layout L = Layout::row_major>
Matrix<T, Space::host, L> dense_line(index_t size) {
  return matrix_of<T, L>(size, size,
                         [](index_t i, index_t j) { return i == j ? T(2) : T(std::abs(i - j) == 1 ? -1 : 0); });
}

template <class Result>
void expect_smallest_of_line(const Result& found, double within, index_t size = n) {
  CHECK(found.verified);
  CHECK(found.converged);
  REQUIRE(found.values.size() == 3);
  for (index_t k = 1; k <= 3; ++k) CHECK(std::abs(found.values[at(k) - 1] - of_line(k, size)) <= within);
  REQUIRE(found.backward_errors.size() == 3);
  for (const double e : found.backward_errors) CHECK(e <= allowed::default_run);
}

template <class T = double>
EigshOptions<T> smallest() {
  EigshOptions<T> options;
  options.which = Which::SA;
  return options;
}

}  // namespace

TEST_CASE("eigsh without vectors: both sides of a number below the spectrum") {
  EigshOptions<double> options;
  options.which = Which::BE, options.sigma = -1, options.vectors = false;
  const auto found = eigsh(Context{}, line<double>(), 2, options);
  REQUIRE(found.values.size() == 1);
  CHECK(std::abs(found.values[0] - of_line(1)) <= allowed::default_run);
  CHECK(found.vectors.cols() == 0);
}

TEST_CASE("eigsh: matrices of many kinds have one answer") {
  const Context ctx;
  const auto a = line<double>();
  expect_smallest_of_line(eigsh(ctx, a, 3, smallest()), allowed::default_run);
  expect_smallest_of_line(eigsh(ctx, a.view(), 3, smallest()), allowed::default_run);
  expect_smallest_of_line(eigsh(ctx, line<double, std::int64_t>(), 3, smallest()), allowed::default_run);
  expect_smallest_of_line(eigsh(ctx, line<float>(), 3, smallest()), allowed::default_run);
  expect_smallest_of_line(eigsh(ctx, line<Complex>(), 3, smallest<Complex>()), allowed::default_run);
  constexpr index_t few = 120;  // decomposed as a whole
  expect_smallest_of_line(eigsh(ctx, dense_line<double>(few), 3, smallest()), allowed::default_run, few);
  expect_smallest_of_line(eigsh(ctx, dense_line<double, Layout::col_major>(few).view(), 3, smallest()),
                          allowed::default_run, few);
  const auto by_products = eigsh<double>(ctx, solvers::CsrOperator<double>(a.view()), 3, smallest());
  expect_smallest_of_line(by_products, allowed::default_run);
}

TEST_CASE("eigs: structurally singular matrices at their eigenvalue 0") {
  for (const index_t size : {200, 700, 900}) {
    CAPTURE(size);
    // A line, a row of zeros on top of it and, but for the last size, a chain of vectors that end in it.
    auto a = line<double>(size);
    change_entries(a, [size](index_t i, index_t j, double& x) {
      if (i < (size == 900 ? 1 : 4)) x = size != 900 && j == i + 1 ? 1.0 : 0.0;
    });
    EigsOptions<double> options;
    options.sigma = 0;
    const auto found = eigs(Context{}, a, 3, options);
    INFO(found.reason << found.note);
    CHECK(found.converged);
    CHECK(found.verified);
    REQUIRE(found.values.size() == 3);
    const auto zeros = std::count_if(found.values.begin(), found.values.end(),
                                     [](Complex z) { return std::abs(z) < allowed::three_digits * of_line(1, 900); });
    CHECK(zeros == (size == 900 ? 1 : 3));
    REQUIRE(found.backward_errors.size() == 3);
    for (const double e : found.backward_errors) CHECK(e < allowed::default_run);
  }
}

TEST_CASE("eigsh: a mass matrix with a row of zeros") {
  auto mass = generators::identity(n);
  mass.values[at(n - 1)] = 0;  // what is left of a line is one with a free end
  EigshOptions<double> options;
  options.sigma = 0, options.mass = mass.view();
  const auto found = eigsh(Context{}, line<double>(), 3, options);
  CHECK(found.verified);
  CHECK(mentions(found.note, "at least 1 eigenvalues are infinite"));
  REQUIRE(found.values.size() == 3);
  REQUIRE(found.backward_errors.size() == 3);
  CHECK(found.vectors.rows() == n);
  options.interval = solvers::Interval{0, 1.0001 * found.values[2]}, options.sigma = {};
  const auto all = eigsh(Context{}, line<double>(), 1, options);
  CHECK(all.verified);
  REQUIRE(all.values.size() == 3);
  for (std::size_t j = 0; j < 3; ++j) CHECK(std::abs(all.values[j] - found.values[j]) < allowed::tight_run);
}

TEST_CASE("eigsh: the result does not depend on the order of columns, and duplicates add up") {
  auto a = line<double>();
  const auto plain = eigsh(Context{}, a, 3, smallest());
  for (index_t i = 0; i < a.rows; ++i) {
    const auto begin = a.pointers[at(i)], end = a.pointers[at(i) + 1];
    std::reverse(a.indices.begin() + begin, a.indices.begin() + end);
    std::reverse(a.values.begin() + begin, a.values.begin() + end);
  }
  CHECK(eigsh(Context{}, a, 3, smallest()).values == plain.values);
  auto twice = csr_by_rows<double>(a.rows, a.cols, [&](index_t i, auto add) {
    for (int half = 0; half < 2; ++half)
      for (index_t e = a.pointers[at(i)]; e < a.pointers[at(i) + 1]; ++e) add(a.indices[at(e)], a.values[at(e)] / 2);
  });
  CHECK(eigsh(Context{}, twice, 3, smallest()).values == plain.values);
}

TEST_CASE("eigsh: a pencil by its products, with and without vectors in the result") {
  const Context ctx;
  const auto a = line<double>();
  const auto mass = test::diagonal(std::vector<double>(at(n), 4));
  const solvers::Operator<double> products = solvers::CsrOperator<double>(a.view());
  auto options = smallest();
  options.mass = mass.view();
  const auto whole = eigsh<double>(ctx, products, 3, options);
  options.vectors = false;
  const auto values = eigsh<double>(ctx, products, 3, options);
  CHECK((whole.verified && whole.vectors.cols() == 3));
  CHECK((values.verified && values.vectors.cols() == 0));
  CHECK(values.values == whole.values);
  CHECK(values.backward_errors == whole.backward_errors);
}

TEST_CASE("eigsh: a target, an interval, a mass matrix and extreme numbers") {
  const Context ctx;
  const auto a = line<double>();
  auto options = smallest();
  options.sigma = 1.0;
  options.which = Which::SM;
  const auto near = eigsh(ctx, a, 4, options);
  CHECK(near.verified);
  for (const double x : near.values) CHECK(std::abs(x - 1) <= 0.02);

  options = smallest();
  options.interval = solvers::Interval{0, (of_line(5) + of_line(6)) / 2};
  const auto inside = eigsh(ctx, a, 1, options);
  CHECK(inside.verified);
  CHECK(inside.values.size() == 5);

  const auto mass = test::diagonal(std::vector<double>(at(n), 4));
  options = smallest();
  options.mass = mass.view();
  const auto pencil = eigsh(ctx, a, 3, options);
  CHECK(pencil.verified);
  REQUIRE(pencil.backward_errors.size() == 3);
  for (index_t k = 1; k <= 3; ++k) CHECK(std::abs(4 * pencil.values[at(k) - 1] - of_line(k)) <= allowed::default_run);

  auto tiny = a;
  for (double& x : tiny.values) x = std::ldexp(x, -900);
  const auto scaled = eigsh(ctx, tiny, 3, smallest());
  CHECK(scaled.verified);
  for (index_t k = 1; k <= 3; ++k)
    CHECK(std::abs(std::ldexp(scaled.values[at(k) - 1], 900) - of_line(k)) <= allowed::default_run);
  CHECK(tiny.values.front() == std::ldexp(2.0, -900));  // the caller's numbers stay
}

TEST_CASE("eigsh: what cannot be met is named") {
  const Context ctx;
  auto a = line<double>(20);
  a.values[1] = 7;
  CHECK(mentions(message_of([&] { (void)eigsh(ctx, a, 2); }), "entry (0, 1) is 7 but entry (1, 0) is -1"));
  a.indices[1] = 20;
  CHECK_THROWS_AS(eigsh(ctx, a, 2), Error);
  CHECK_THROWS_AS(eigsh(ctx, Matrix<double>::zeros(3, 4), 2), Error);
  auto options = smallest();
  options.preconditioner = solvers::Operator<double>(solvers::CsrOperator<double>(a.view()));
  CHECK(mentions(message_of([&] { (void)eigsh(ctx, line<double>(20), 2, options); }), "lobpcg"));
  const auto whole = line<double>(20);
  const CsrView<double> hollow{whole.rows, whole.cols, whole.pointers.data(), nullptr, whole.values.data()};
  CHECK(mentions(message_of([&] { (void)eigsh(ctx, hollow, 2); }), "no column numbers"));
  EigshOptions<double> with_mass;
  with_mass.mass = hollow;
  CHECK(mentions(message_of([&] { (void)eigsh(ctx, whole, 2, with_mass); }), "no column numbers"));
  static_assert(!std::is_copy_constructible_v<solvers::Borrowed<double>>);  // its view is of what it owns
}

TEST_CASE("eigsh: LOBPCG takes the diagonal for SA, or what it is given") {
  const auto a = generators::laplacian({30, 31});
  auto options = smallest();
  const auto expected = eigsh(Context{}, a, 2, options);
  options.method = solvers::Method::lobpcg;
  for (const bool made : {false, true}) {
    if (made) options.made = solvers::Preconditioner::incomplete_cholesky;
    const auto found = eigsh(Context{}, a, 2, options);
    CHECK(found.converged);
    for (std::size_t i = 0; i < 2; ++i) CHECK(std::abs(found.values[i] - expected.values[i]) <= allowed::default_run);
  }
}

TEST_CASE("eigs: a cycle of 160 has roots of unity, near a complex number, too") {
  constexpr index_t cycle = 160;
  const auto a = csr_by_rows<double>(cycle, cycle, [](index_t i, auto add) { add((i + 1) % cycle, 1); });
  EigsOptions<double> options;
  options.part = solvers::GeneralWhich::LR;
  const auto found = eigs(Context{}, a, 3, options);
  CHECK(found.converged);
  CHECK(found.verified);
  REQUIRE(found.values.size() >= 3);
  CHECK(std::abs(found.values[0] - 1.0) <= allowed::default_run);
  options.sigma = Complex(0, 1), options.max_basis = 40;
  const auto near = eigs(Context{}, a, 2, options);
  REQUIRE(near.values.size() >= 2);
  CHECK(std::abs(std::abs(near.values[0].imag()) - 1) <= allowed::default_run);
}

TEST_CASE("svds: singular values of a line, and principal components of centred columns") {
  const Context ctx;
  const auto sparse = line<double>(400);
  const auto largest = svds(ctx, sparse, 2);
  CHECK(largest.triplets.verified);
  CHECK(std::abs(largest.values()[0] - 4 * std::pow(std::cos(std::numbers::pi / 802), 2)) <= allowed::default_run);
  REQUIRE(largest.u().cols() == 2);
  auto points = Matrix<float>::zeros(1000, 3);  // along (0, 1, 0) about (5, 1, 0)
  for (index_t i = 0; i < 1000; ++i) points(i, 0) = 5, points(i, 1) = i % 2 == 0 ? 2.0F : 0.0F;
  SvdsOptions options;
  options.centre = true;
  const auto pca = svds(ctx, points, 1, options);
  CHECK(std::abs(pca.values()[0] - std::sqrt(1000.0)) <= allowed::run_of_norm_100);
  CHECK(std::abs(std::abs(pca.v()(1, 0)) - 1) <= allowed::default_run);
  CHECK(std::abs(pca.means[0] - 5) <= allowed::long_sum);
  CHECK(std::abs(pca.explained_variance_ratio[0] - 1) <= allowed::default_run);
  CHECK(points(0, 0) == 5);  // the caller's numbers stay
}

namespace {

/// The largest of a tall table of this type and layout, against those of the same numbers as the drivers compute in.
template <class T, Layout L>
void check_by_blocks(double scale, bool centre) {
  constexpr index_t rows = 5000, cols = 6;
  auto given = Matrix<T, Space::host, L>::zeros(rows, cols);
  auto wide = Matrix<double>::zeros(rows, cols);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) {
      given(i, j) = narrowed<T>(scale * static_cast<double>((i * (j + 3) + j * j) % 17 + 2 * j));
      wide(i, j) = static_cast<double>(to_wide(given(i, j)));
    }
  SvdsOptions options;
  options.centre = centre;
  const auto found = svds(Context{}, given, 3, options);
  if (centre)
    for (index_t j = 0; j < cols; ++j) {
      double mean = 0;
      for (index_t i = 0; i < rows; ++i) mean += wide(i, j) / rows;
      CHECK(std::abs(found.means[static_cast<std::size_t>(j)] - mean) <= allowed::tight_run * scale);
      for (index_t i = 0; i < rows; ++i) wide(i, j) -= mean;
    }
  const auto wanted = svds(Context{}, wide, 3);
  INFO(found.triplets.reason);
  CHECK(found.triplets.verified);
  REQUIRE(found.values().size() == 3);
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(std::abs(found.values()[k] - wanted.values()[k]) <= allowed::default_run * wanted.values()[0]);
}

}  // namespace

TEST_CASE("svds: a tall matrix of any type and layout is read where it lies") {
  for (const bool centre : {false, true}) {
    CAPTURE(centre);
    check_by_blocks<float, Layout::row_major>(1e-30, centre);
    check_by_blocks<float, Layout::col_major>(1e30, centre);
    check_by_blocks<double, Layout::row_major>(1, centre);
    check_by_blocks<double, Layout::col_major>(1, centre);
    check_by_blocks<float16, Layout::row_major>(1, centre);
    check_by_blocks<bfloat16, Layout::col_major>(1, centre);
  }
}

TEST_CASE("kmeans of k, and its verdict in words") {
  auto points = Matrix<float>::zeros(100, 2);
  for (index_t i = 0; i < 50; ++i) points(i, 0) = 8;
  auto found = solvers::kmeans(Context{}, points.cview(), 2);
  CHECK(found.converged());
  CHECK(found.inertia == 0);
  CHECK(solvers::verdict(found).starts_with("converged after"));
  found.stop = solvers::KMeansStop::max_iterations;
  CHECK(mentions(solvers::verdict(found), "max_iter"));
}

TEST_CASE("eigsh on a device has the values of the host", "[gpu]") {
  Context ctx{.stream = cuda::Stream(0)};
  expect_smallest_of_line(eigsh(ctx, line<double>(), 3, smallest()), allowed::default_run);
}

TEST_CASE("what is factorised follows from what is sought and from the plan") {
  using solvers::Factorise, solvers::HermitianRequest, solvers::Method, solvers::Precision;
  solvers::EigenPlan lanczos, dense;
  lanczos.why = "of the plan", dense.method = Method::dense;
  const auto factorise = [&](const HermitianRequest& request) { return search_of(request, lanczos).factorise; };
  CHECK(factorise({}) == Factorise::cheap);
  CHECK(search_of({}, lanczos).why == "of the plan");
  HermitianRequest near{.sigma = 2.5}, zero{.which = Which::SM}, range{.interval = solvers::Interval{0, 1}};
  CHECK((factorise(near) == Factorise::needed && target_of(near) == 2.5));
  CHECK((factorise(zero) == Factorise::needed && target_of(zero) == 0.0));
  CHECK((factorise(range) == Factorise::needed && !target_of(range)));
  CHECK(search_of(range, lanczos).method == "spectrum slicing by shift-invert block Lanczos");
  // The ends of an interval are counted at, unless Lanczos is asked for by name.
  CHECK(factorise({.interval = solvers::Interval{0, 1}, .dense = true}) == Factorise::needed);
  CHECK(search_of(range, dense).factorise == Factorise::needed);
  range.method = Method::lanczos;
  CHECK(factorise(range) == Factorise::cheap);
  zero.interval = solvers::Interval{0, 1};  // which says more than SM
  CHECK_FALSE(target_of(zero));
  // Problems that are decomposed as a whole need no factors.
  for (const HermitianRequest& request : {near, range})
    CHECK(search_of(request, dense).factorise == Factorise::nothing);
  CHECK((search_of({.precision = Precision::float32}, lanczos).narrow && !search_of({}, lanczos).narrow));
  CHECK_FALSE(search_of({.precision = Precision::float32}, dense).narrow);
}
