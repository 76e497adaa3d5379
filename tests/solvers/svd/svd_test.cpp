#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/core/sparse_of.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/random.hpp"
#include "tallskinny/solvers/types.hpp"
#include "tallskinny/tests/solvers/svd/known.hpp"

using solvers::SvdStage;
using solvers::Which;

namespace {

solvers::EigenOptions options_for(index_t k, Which which = Which::LA) {
  solvers::EigenOptions o{.nev = k, .which = which};
  o.max_iterations = 20000;  // given, so that searches go on where all values would be computed otherwise
  return o;
}

template <class T>
solvers::SvdResult<T> solve(const solvers::SvdProblem<T>& problem, const solvers::EigenOptions& options) {
  return solvers::solve_svd<T>(Context{}, problem, options);
}

/// Given by products and by its elements.
template <class T>
solvers::SvdProblem<T> dense(const Matrix<T>& a) {
  return {solvers::rectangular<T>(a.cview()), a.cview()};
}
template <class T>
solvers::SvdProblem<T> sparse(const CsrMatrix<T>& a) {
  return {solvers::rectangular<T>(a.view()), {}, a.view()};
}

/// Differences of neighbours, with zeros beyond both ends: (n + 1) x n, sigma_k = 2 sin(k pi / (2 n + 2)). On
/// a ring: n x n, sigma_k = 2 sin(k pi / n), of which one is zero.
CsrMatrix<double> differences(index_t n, bool ring = false) {
  return csr_by_rows<double>(ring ? n : n + 1, n, [&](index_t i, auto add) {
    if (i < n) add(i, 1);
    if (i > 0 || ring) add((i + n - 1) % n, -1);
  });
}

std::vector<double> difference_values(index_t n, bool ring, std::size_t count) {
  std::vector<double> sigma;
  for (index_t k = 0; k < n; ++k) {
    const double angle = ring ? static_cast<double>(k) / static_cast<double>(n)
                              : static_cast<double>(k + 1) / static_cast<double>(2 * n + 2);
    sigma.push_back(2 * std::sin(std::acos(-1.0) * angle));
  }
  std::sort(sigma.begin(), sigma.end());
  sigma.resize(count);
  return sigma;
}

}  // namespace

TEST_CASE("tall dense matrices through their Gram matrix") {
  const std::vector<double> sigma = {5, 4, 4, 3, 2, 1};
  const auto a = with_singular_values<double>(400, 6, sigma);
  const auto problem = dense(a);
  auto r = solve<double>(problem, options_for(4));
  check(r, {5, 4, 4, 3}, allowed::many_steps);
  CHECK(r.stage == SvdStage::gram);
  CHECK(r.triplets.multiplicities[1] == 2);
  CHECK(r.left.rows() == 400);
  CHECK(r.triplets.vectors.rows() == 6);
  check(solve<double>(problem, options_for(99)), sigma, allowed::many_steps);
}

TEST_CASE("errors of singular vectors hold for the left and for the right ones") {
  const index_t n = 300;
  const auto a = differences(n);  // right vectors sin(k j pi / (n + 1)), left ones cos(k (j + 1/2) pi / (n + 1))
  const auto off = [n](const Matrix<double>& x, index_t j, index_t k, bool left) {
    double inner = 0, squares = 0;
    const auto exact = [=, m = static_cast<double>(n + 1)](index_t i) {
      const double angle = std::numbers::pi * static_cast<double>(k) / m * (static_cast<double>(i) + (left ? 0.5 : 1));
      return std::sqrt(2 / m) * (left ? std::cos(angle) : std::sin(angle));
    };
    for (index_t i = 0; i < x.rows(); ++i) inner += x(i, j) * exact(i);
    for (index_t i = 0; i < x.rows(); ++i) squares += std::pow(x(i, j) - inner * exact(i), 2);
    return std::sqrt(squares);
  };
  for (const auto which : {Which::LA, Which::SM})
    for (const double tol : {1e-4, 1e-8}) {
      auto options = options_for(5, which);
      options.tol = tol;
      const auto r = solve<double>(sparse(a), options);
      CAPTURE(static_cast<int>(which), tol, r.triplets.reason);
      CHECK(r.triplets.verified);
      index_t estimates = 0;
      for (index_t j = 0; j < 5; ++j) {
        const double told = r.triplets.vector_errors[static_cast<std::size_t>(j)];
        if (std::isnan(told)) continue;
        const index_t k = which == Which::SM ? j + 1 : n - j;
        CHECK(off(r.triplets.vectors, j, k, false) <= told + allowed::many_steps);
        CHECK(off(r.left, j, k, true) <= told + allowed::many_steps);
        ++estimates;
      }
      CHECK(estimates >= 3);
    }
}

TEST_CASE("what the squares cannot resolve takes the triangular factor") {
  const std::vector<double> sigma = {1, 1e-3, 1e-6, 3e-9, 1e-9, 3e-13};
  const auto a = with_singular_values<double>(300, 6, sigma);
  const auto r = solve<double>(dense(a), options_for(6));
  check(r, sigma, allowed::last_place);
  CHECK(r.stage == SvdStage::triangular);
  CHECK(r.triplets.values[4] == Approx(1e-9).epsilon(allowed::five_digits));

  // Rank 2 of 5: the vectors of the zero singular values are orthonormal all the same.
  const auto low = with_singular_values<double>(80, 5, {2, 1});
  check(solve<double>(dense(low), options_for(5)), {2, 1, 0, 0, 0}, allowed::short_sum);
  const auto zero = Matrix<double>::zeros(50, 3);
  check(solve<double>(dense(zero), options_for(2)), {0, 0}, 0);
}

TEST_CASE("wide and complex matrices") {
  const std::vector<double> sigma = {7, 3, 1, 0.5};
  const auto a = with_singular_values<std::complex<double>>(20, 500, sigma);
  const auto r = solve<std::complex<double>>(dense(a), options_for(3));
  check(r, {7, 3, 1}, allowed::many_steps);
  CHECK(r.left.rows() == 20);
  CHECK(r.triplets.vectors.rows() == 500);
}

TEST_CASE("sparse matrices, with many copies and with tiny singular values") {
  const auto ring = generators::laplacian({900}, generators::Boundary::ring);  // sigma = lambda: pairs
  auto r = solve<double>({solvers::rectangular<double>(ring.view())}, options_for(6));
  auto exact = generators::laplacian_spectrum({900}, generators::Boundary::ring).largest(6);
  std::reverse(exact.begin(), exact.end());
  check(r, exact, allowed::run_of_norm_10);
  CHECK(r.stage == SvdStage::gram);

  // One large singular value above many copies of mu, which the squares know to 1e-16 / mu^2.
  const auto lauchli = generators::lauchli(400, 1e-9);
  r = solve<double>({solvers::rectangular<double>(lauchli.view())}, options_for(3));
  check(r, {20, 1e-9, 1e-9}, allowed::many_steps);
  CHECK(r.stage == SvdStage::deflated);
}

TEST_CASE("centring without forming the centred matrix") {
  const auto middle = with_singular_values<double>(200, 5, {3, 2, 1});
  const auto a = matrix_of<double>(200, 5, [&](auto i, auto j) { return middle(i, j) + 10 * static_cast<double>(j); });
  const auto plain = solvers::rectangular<double>(a.cview());
  const auto mu = solvers::column_means<double>(Context{}, plain);
  const auto implicit = solve<double>({solvers::centred<double>(Context{}, plain, mu)}, options_for(2));
  const auto formed = matrix_of<double>(200, 5, [&](auto i, auto j) { return a(i, j) - mu[at(j)]; });
  check(implicit, solve<double>(dense(formed), options_for(2)).triplets.values, allowed::many_steps);
}

TEST_CASE("columns that centring makes zero") {
  // 300 columns, of which 12 are not constant: 288 singular values of zero.
  Matrix<double> noise(500, 12);
  solvers::fill_random<double>(Context{}, 7, 0, noise.view());
  auto a = csr_by_rows<double>(500, 300, [&](index_t i, auto add) {
    for (index_t j = 0; j < 300; ++j) add(j, j < 12 ? noise(i, j) : 1 + 0.1 * static_cast<double>(j));
  });
  const auto plain = solvers::rectangular<double>(a.view());
  const auto mu = solvers::column_means<double>(Context{}, plain);
  const auto formed = matrix_of<double>(500, 12, [&](auto i, auto j) { return noise(i, j) - mu[at(j)]; });
  auto exact = ortho::svd<double>(formed.cview()).values;
  exact.resize(20, 0.0);
  const auto r = solve<double>({solvers::centred<double>(Context{}, plain, mu)}, options_for(20));
  check(r, exact, allowed::tight_run);
  CHECK(r.stage == SvdStage::deflated);
  check(solve<double>({solvers::centred<double>(Context{}, plain, mu)}, options_for(12)),
        {exact.begin(), exact.begin() + 12}, allowed::tight_run);
}

TEST_CASE("smallest singular values of sparse matrices: closed forms, both shapes, rank deficient") {
  const auto tall = differences(400);
  auto r = solve<double>(sparse(tall), options_for(5, Which::SM));
  check(r, difference_values(400, false, 5), allowed::tight_run);
  CHECK(r.stage == SvdStage::inverse);
  CHECK(r.triplets.verification == solvers::Verification::inertia);

  const auto wide = transposed(tall.view());
  r = solve<double>(sparse(wide), options_for(5, Which::SM));
  check(r, difference_values(400, false, 5), allowed::tight_run);
  CHECK(r.left.rows() == 400);
  CHECK(r.triplets.vectors.rows() == 401);

  const auto ring = differences(350, true);
  check(solve<double>(sparse(ring), options_for(6, Which::SM)), difference_values(350, true, 6), allowed::tight_run);
  check(solve<double>(sparse(differences(30)), options_for(40, Which::SM)), difference_values(30, false, 30),
        allowed::many_steps);

  // Three empty rows and five empty columns, beside the ring: rank 349 of 353.
  auto holes = ring;
  for (int i = 0; i < 3; ++i) holes.pointers.push_back(holes.pointers.back());
  holes.rows += 3, holes.cols += 5;
  auto exact = difference_values(350, true, 6);
  exact.insert(exact.begin(), 3, 0.0);
  r = solve<double>(sparse(holes), options_for(9, Which::SM));
  check(r, exact, allowed::tight_run);
  const CsrMatrix<double> nothing{400, 300, std::vector<index_t>(401, 0), {}, {}};
  check(solve<double>(sparse(nothing), options_for(3, Which::SM)), {0, 0, 0}, 0);
}

TEST_CASE("smallest singular values down to 1e-12 of the largest") {
  // Bidiagonal, with a diagonal that falls to 1e-12; a dense solver knows its singular values to 1e-16.
  const index_t n = 320;
  auto a = csr_by_rows<std::complex<double>>(n, n, [&](index_t i, auto add) {
    const double d = std::pow(10, -12 * static_cast<double>(i) / (n - 1));
    add(i, {d, 0.3 * d});
    if (i + 1 < n) add(i + 1, {0, 0.2 * d});
  });
  const auto dense = solvers::as_dense(Context{}, solvers::rectangular<std::complex<double>>(a.view()));
  auto exact = ortho::svd<std::complex<double>>(dense.cview().host()).values;
  std::reverse(exact.begin(), exact.end());
  exact.resize(8);
  const auto r = solve<std::complex<double>>(sparse(a), options_for(8, Which::SM));
  check(r, exact, allowed::tight_run);
  CHECK(r.stage == SvdStage::inverse);
  for (const double residual : r.triplets.residual_norms) CHECK(residual < allowed::default_run);
}

TEST_CASE("a search for the smallest ends where computing all costs as much") {
  constexpr index_t n = 700, k = 20;  // graded over 16 decades: the smallest do not stand apart from the next
  const solvers::Random random(5);
  auto dense = Matrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t e = 0; e < 6; ++e) {
      const auto draw = static_cast<std::uint64_t>(3 * (6 * i + e));
      const index_t j = e == 0 ? i : static_cast<index_t>(std::abs(random.normal(draw)) * 1e6) % n;
      dense(i, j) += std::exp(2 * random.normal(draw + 1) - (e == 0 ? 3 : 0)) * random.normal(draw + 2);
    }
  const auto all = ortho::svd<double>(dense.cview()).values;
  const auto a = sparse_of<double>(dense.cview());
  const auto r = solve<double>(sparse(a), options_for(k, Which::SM));
  check(r, {all.rbegin(), all.rbegin() + k}, 1e-13 * all.front());
  CHECK(r.triplets.operator_applications < 10000);
}

TEST_CASE("no rows or no columns: no singular values, complete") {
  const auto which = GENERATE(Which::LA, Which::SM);
  for (const auto& [rows, cols] : std::vector<std::pair<index_t, index_t>>{{0, 3}, {3, 0}, {0, 0}}) {
    CAPTURE(rows, cols);
    const Matrix<double> a(rows, cols);
    const auto r = solve<double>(dense(a), options_for(2, which));
    CHECK(r.triplets.values.empty());
    CHECK(r.triplets.verified);
  }
}

TEST_CASE("smallest singular values of dense matrices") {
  const std::vector<double> sigma = {1, 1e-3, 1e-6, 3e-9, 1e-9, 3e-13};
  const auto a = with_singular_values<double>(300, 6, sigma);
  const auto r = solve<double>(dense(a), options_for(3, Which::SM));
  check(r, {3e-13, 1e-9, 3e-9}, allowed::last_place);
  CHECK(r.stage == SvdStage::triangular);
  const auto wide = with_singular_values<std::complex<double>>(7, 60, {4, 2, 1});
  check(solve<std::complex<double>>(dense(wide), options_for(5, Which::SM)), {0, 0, 0, 0, 1}, allowed::short_sum);
  std::vector<double> many;
  for (int i = 0; i < 140; ++i) many.push_back(std::pow(0.82, i));  // to 1e-12
  const auto large = with_singular_values<double>(150, 140, many);
  std::reverse(many.begin(), many.end());
  many.resize(5);
  const auto f = solve<double>(dense(large), options_for(5, Which::SM));
  check(f, many, allowed::many_steps);  // far below what squares resolve
  CHECK(f.stage == SvdStage::inverse);
  // An operator that is neither dense nor sparse nor small has nothing to factorise.
  const auto d = differences(300);
  CHECK_THROWS_AS(solve<double>({solvers::rectangular<double>(d.view())}, options_for(3, Which::SM)), Error);
}

TEMPLATE_TEST_CASE("smallest singular vectors of a nearly singular matrix are unit vectors", "", double,
                   std::complex<double>) {
  const index_t n = GENERATE(60, 100, 144, 223);
  const bool is_sparse = GENERATE(false, true);
  CAPTURE(n, is_sparse);
  const auto a = kahan<TestType>(n);
  const auto all = ortho::svd<TestType>(a.cview()).values;
  const auto s = sparse_of<TestType>(a.cview());
  solvers::EigenOptions options{.nev = 3, .which = Which::SM};
  const auto r = solve<TestType>(is_sparse ? sparse(s) : dense(a), options);
  check(r, {all[at(n - 1)], all[at(n - 2)], all[at(n - 3)]}, allowed::short_sum);
  for (const double residual : r.triplets.residual_norms) CHECK(residual < allowed::long_sum);
  // The other half of the residual, and unit vectors.
  for (index_t j = 0; j < 3; ++j) {
    double off = 0, length = 0;
    for (index_t c = 0; c < n; ++c) {
      TestType sum = -r.triplets.values[at(j)] * r.triplets.vectors(c, j);
      for (index_t i = 0; i < n; ++i) sum += conjugate(a(i, c)) * r.left(i, j);
      off += std::norm(sum), length += std::norm(r.left(c, j));
    }
    CHECK(std::sqrt(off) < allowed::long_sum);
    CHECK(std::abs(length - 1) < allowed::long_sum);
  }
}

TEST_CASE("the smallest singular values of matrices with random elements, to the last digits") {
  // Their search went on past the dimension of the space, until its numbers overflowed.
  for (const auto& [m, n] : {std::pair<index_t, index_t>{422, 233}, {300, 200}}) {
    CAPTURE(m);
    const solvers::Random random(7);
    const auto a = matrix_of<double>(
        m, n, [&, n = n](index_t i, index_t j) { return random.normal(static_cast<std::uint64_t>(i * n + j)); });
    const auto exact = ortho::svd<double>(a.cview()).values;
    for (const bool search : {false, true})
      for (const index_t k : {3, 20}) {
        CAPTURE(search, k);
        auto options = options_for(k, Which::SM);
        options.tol = 1e-12, options.max_iterations = search ? 150 : 0;
        const auto r = solve<double>(dense(a), options);
        INFO(r.triplets.reason);
        CHECK((search || r.stage == SvdStage::triangular));
        CHECK((search || r.triplets.verified));
        for (index_t j = 0; j < k && r.triplets.verified; ++j)
          CHECK(std::abs(r.triplets.values[static_cast<std::size_t>(j)] - exact[static_cast<std::size_t>(n - 1 - j)]) <
                allowed::many_steps);
      }
  }
}

TEMPLATE_TEST_CASE("many singular values of a dense matrix that is not tall", "", double, std::complex<double>) {
  using T = TestType;
  const index_t least = 140, k = GENERATE(index_t{140}, index_t{30});
  const bool flat = GENERATE(true, false), wide = GENERATE(true, false);
  CAPTURE(k, flat, wide);
  std::vector<double> sigma;
  for (index_t j = 0; j < least; ++j) {
    const double share = static_cast<double>(j) / static_cast<double>(least);
    sigma.push_back(flat ? 3 - 2 * share : std::pow(10, -9 * share));
  }
  const auto a = wide ? with_singular_values<T>(least, 170, sigma) : with_singular_values<T>(170, least, sigma);
  const solvers::EigenOptions o{.nev = k};
  Context one, three;
  one.threads = 1, three.threads = 3;
  const solvers::SvdProblem<T> problem{solvers::rectangular<T>(a.cview()), a.cview()};
  const auto r = solvers::solve_svd<T>(one, problem, o), again = solvers::solve_svd<T>(three, problem, o);
  CHECK(r.stage == SvdStage::whole);
  CHECK(r.triplets.values == again.triplets.values);
  CHECK(std::equal(r.left.data(), r.left.data() + r.left.rows() * r.left.cols(), again.left.data()));
  sigma.resize(at(k));
  check(r, sigma, allowed::many_steps);
  for (const double residual : r.triplets.residual_norms) CHECK(residual <= allowed::many_steps);
}
