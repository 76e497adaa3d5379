// Residuals where the matrix is, and on the host.
#include "tallskinny/tests/solvers/eigen/device_runs.hpp"

namespace {

/// Rows of 0 to 7 entries and, where `lengths` has one for it, longer ones.
template <class T, class I>
CsrMatrix<T, I> with_rows(index_t n, const std::map<index_t, index_t>& lengths) {
  return csr_by_rows<T, I>(n, n, [&](index_t i, auto add) {
    const auto longer = lengths.find(i);
    const index_t length = longer == lengths.end() ? i % 8 : longer->second;
    for (index_t k = 0; k < length; ++k) {
      const double value = 1.0 / static_cast<double>(1 + (i + k) % 97) - 0.3;
      add((i + 37 * k) % n, element<T>(value, 1 - value));
    }
  });
}

/// The residual of columns 1 .. q of a wider block on the GPU, twice, against the processor's.
template <class T, class I>
void check_residual(const CsrMatrix<T, I>& a, index_t q, bool same_bits) {
  CAPTURE(q, sizeof(I));
  const Context ctx = device_context();
  const InBothPlaces<T, I> both(ctx, a);
  const auto op = both.op();
  Matrix<T> x(a.rows, q + 2), here(a.rows, q + 2);
  solvers::fill_random<T>(ctx, 1, 2, x.view());
  std::vector<double> theta;
  for (index_t j = 0; j < q; ++j) theta.push_back(0.1 - static_cast<double>(j) / 3);
  PlacedMatrix<T> x_there(ctx, Space::device, a.rows, q + 2), r_there(ctx, Space::device, a.rows, q);
  ortho::copy_block<T>(ctx, x.cview(), x_there.view());
  REQUIRE(op.residual(ctx, x_there.cview().cols(1, q), theta, r_there.view()));
  const auto r = std::move(r_there).to_host(ctx);
  PlacedMatrix<T> again_there(ctx, Space::device, a.rows, q);
  REQUIRE(op.residual(ctx, x_there.cview().cols(1, q), theta, again_there.view()));
  const auto again = std::move(again_there).to_host(ctx);
  REQUIRE(op.residual(ctx, x.cview().cols(1, q), theta, here.view().cols(1, q)));
  const double u = std::is_same_v<real_t<T>, float> ? test::eps<float> : test::eps<double>;
  index_t others = 0, wrong = 0, unsteady = 0;
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t j = 0; j < q; ++j) {
      const T expected = here(i, j + 1);
      if (r(i, j) != expected) ++others;
      if (r(i, j) != again(i, j)) ++unsteady;
      // Two sums in another order, each within u of the true one and (m u)^2 of its terms, up to 5 x 20,000 here.
      const double rounding = 1e5 * std::pow(2e4 * test::eps<double>, 2);
      if (!(std::abs(r(i, j) - expected) <= u * std::abs(expected) + rounding)) ++wrong;
    }
  CHECK(wrong == 0);
  CHECK(unsteady == 0);
  if (same_bits) CHECK(others == 0);
}

/// Rows of which products cancel but for (1 + 1/3) x.
CsrMatrix<double> cancelling() {
  return csr_by_rows<double>(4000, 4000, [&](index_t i, auto add) {
    for (const double value : {1e10 + 1, 1.0 / 3, -1e10}) add(i, value);
  });
}

/// Checks A x - theta x to 5e-17, where a plain sum is off by 1e-6.
void check_digits(const Context& ctx, const solvers::Operator<double>& op) {
  const index_t n = op.rows();
  const double x = 1 + test::eps<double>, third = 1.0 / 3;
  const std::vector<double> theta = {1 + third};
  Matrix<double> here(n, 1);
  std::fill_n(here.data(), n, x);
  PlacedMatrix<double> vector(ctx, op.residual_space(), n, 1), r(ctx, op.residual_space(), n, 1);
  ortho::copy_block<double>(ctx, here.cview(), vector.view());
  REQUIRE(op.residual(ctx, vector.cview(), theta, r.view()));
  const auto result = std::move(r).to_host(ctx);
  const double expected = (third - (theta[0] - 1)) * x;
  REQUIRE(expected != 0);
  CHECK(std::all_of(result.data(), result.data() + n,
                    [&](double v) { return std::abs(v - expected) <= allowed::four_digits * std::abs(expected); }));
}

}  // namespace

TEST_CASE("residuals are computed where a sparse matrix is, and with the host alone on the host", "[device][cuda]") {
  const Context ctx = typical_context();
  const InBothPlaces<double> a(ctx, generators::laplacian({10, 10}));
  const auto op = a.op();
  CHECK(op.residual_space() == Space::device);
  CHECK(problem_of(a.here).a.residual_space() == Space::host);
  const solvers::Operator<double> twice = solvers::at_home<double>(Space::device, Twice{100});
  CHECK(twice.space() == Space::device);
  CHECK(twice.residual_space() == Space::host);
  const std::vector<double> theta(4, 0.5);
  PlacedMatrix<double> x(ctx, Space::device, 100, 4), r(ctx, Space::device, 100, 4);
  CHECK(op.residual(ctx, x.cview(), theta, r.view()));
  const auto& kernels = ctx.stream.rehearsal()->kernels;
  REQUIRE(kernels.size() == 1);
  CHECK(kernels.back().family == "residual_rows");
  CHECK_THROWS_AS(twice.residual(ctx, x.cview(), theta, r.view()), Error);
  Matrix<double> ones(100, 4), here(100, 4);
  std::fill_n(ones.data(), 400, 1.0);
  CHECK_FALSE(twice.residual(ctx, ones.cview(), theta, here.view()));
  CHECK(here(0, 0) == 1.5);
  CHECK(op.residual(ctx, ones.cview(), theta, here.view()));
  CHECK(here(0, 0) == 1.5);  // of a corner, 4 - 1 - 1 - theta
  CHECK(kernels.size() == 1);
}

TEST_CASE("the residual of a pair that is exact but for rounding keeps its digits", "[device]") {
  const auto a = cancelling();
  check_digits(Context{}, solvers::CsrOperator<double>(a.view()));
}

TEMPLATE_TEST_CASE("on a GPU residuals in twofold sums are the processor's", "[device][sanitize][gpu]", double, float,
                   std::complex<double>, std::complex<float>) {
  using T = TestType;
  const auto of_rows = [](const std::map<index_t, index_t>& lengths, index_t q, bool same_bits) {
    check_residual<T, std::int32_t>(with_rows<T, std::int32_t>(3001, lengths), q, same_bits);
    check_residual<T, std::int64_t>(with_rows<T, std::int64_t>(3001, lengths), q, same_bits);
  };
  for (const index_t q : {1, 3, 8, 20, 70}) {
    of_rows({{5, 100}, {17, 256}}, q, true);                  // a row is a team's
    of_rows({{5, 257}, {6, 2000}, {3000, 999}}, q, false);    // or a block's
    of_rows({{0, 20000}, {1, 20000}, {2, 20000}}, q, false);  // teams share entries
  }
}

TEST_CASE("on a GPU the residual of a pair that is exact but for rounding keeps its digits",
          "[device][sanitize][gpu]") {
  const Context ctx = device_context();
  check_digits(ctx, InBothPlaces<double>(ctx, cancelling()).op());
}
