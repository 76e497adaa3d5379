#include "tallskinny/tests/solvers/eigen/general/runs.hpp"

TEST_CASE("Schur forms are sorted without separating pairs", "[short]") {
  const auto f = generators::frank(9);
  Matrix<double> h(8, 8);
  for (index_t i = 0; i < 8; ++i)
    for (index_t j = 0; j < 8; ++j) h(i, j) = f(i, j) - (i == j ? 3.0 : 0.0) + (i == j + 1 ? -5.0 : 0.0);
  auto schur = solvers::schur_of<double>(h.cview());
  solvers::sort_schur(schur, [](Complex z) { return z.real(); });
  index_t at = 0;
  double before = -1e300;
  for (const index_t size : schur.units) {
    CHECK(schur.value(at).real() >= before);
    before = schur.value(at).real();
    if (size == 2) {
      CHECK(std::abs(schur.value(at) - std::conj(schur.value(at + 1))) < allowed::tight_run);
      CHECK(schur.value(at).imag() > 0);
    }
    at += size;
  }
  // U T U^H = H, T triangular.
  const auto ut = ortho::product<Complex>(schur.u.cview(), schur.t.cview());
  for (index_t i = 0; i < 8; ++i)
    for (index_t j = 0; j < 8; ++j) {
      Complex sum = 0;
      for (index_t k = 0; k < 8; ++k) sum += ut(i, k) * std::conj(schur.u(j, k));
      CHECK(std::abs(sum - h(i, j)) < allowed::many_steps);
      if (j < i) CHECK(std::abs(schur.t(i, j)) < allowed::long_sum);
    }
  const auto pairs = solvers::eigenvectors_of(schur, 8);
  for (index_t j = 0; j < 8; ++j)
    for (index_t i = 0; i < 8; ++i) {
      Complex sum = 0;
      for (index_t k = 0; k < 8; ++k) sum += h(i, k) * pairs.vectors(k, j);
      CHECK(std::abs(sum - schur.value(j) * pairs.vectors(i, j)) < allowed::conditioned);
    }
}

TEST_CASE("circulant matrices: pairs on a curve", "[long]") {
  const std::vector<double> c = {0.5, 1, 0, -0.3, 0.2};
  const auto a = generators::circulant(210, c);
  for (const auto part : {GeneralWhich::SR, GeneralWhich::LI}) {
    CAPTURE(static_cast<int>(part));
    const auto r = solve(a, searching(5, part, 1e-6));
    check(r, generators::circulant_spectrum(210, c), part, allowed::single);
    for (std::size_t i = 0; i < r.values.size(); ++i)
      if (r.values[i].imag() > allowed::many_steps)
        CHECK(std::abs(r.values[i + 1] - std::conj(r.values[i])) < allowed::many_steps);
  }
}

TEST_CASE("copies of pairs, also beyond the block", "[long]") {
  std::vector<Complex> pairs;
  for (int i = 0; i < 200; ++i) pairs.emplace_back(0.01 * i, 0.5 + 0.001 * i);
  for (int i = 0; i < 6; ++i) pairs.emplace_back(4, 1);  // six copies of 4 +- i
  const auto a = rotations(pairs);
  for (const std::uint64_t seed : {1u, 2u}) {
    auto o = searching(14, GeneralWhich::LR);
    o.common.seed = seed;
    const auto r = solve(a, o);
    check(r, with_conjugates_of(pairs), GeneralWhich::LR, allowed::run_of_norm_100);
    CHECK(std::count_if(r.values.begin(), r.values.end(), [](Complex z) { return z.real() > 3.9; }) == 12);
  }
}

TEST_CASE("a matrix of zeros near a target", "[short]") {
  CsrMatrix<Complex> zero{7, 7, std::vector<index_t>(8, 0), {}, {}};
  const auto r =
      solvers::solve_general<Complex>(Context{}, near(zero, Complex(0.5, 1)), options_for(3, GeneralWhich::LM));
  CHECK(r.verified);
  CHECK(r.values == std::vector<Complex>(3, 0));
}

TEST_CASE("smallest imaginary parts are inside of the spectrum: all or no proof", "[short]") {
  // A disc that is full of them, and one on its right that is found at once.
  std::vector<Complex> pairs;
  for (int i = 0; i < 320; ++i) pairs.push_back(std::polar(std::sqrt(i / 320.0), 2.4 * i));
  for (Complex& z : pairs) z = {z.real(), std::abs(z.imag())};
  pairs[100] = 0.1, pairs.emplace_back(5);
  const auto hidden = solve(rotations(pairs), only_searching(1, GeneralWhich::SI, 1e-3));
  CHECK(hidden.converged);
  CHECK_FALSE(hidden.verified);
  pairs.resize(101);
  const auto r = solve(rotations(pairs), options_for(6, GeneralWhich::SI));
  check(r, with_conjugates_of(pairs), GeneralWhich::SI, allowed::run_of_norm_10);
  CHECK(r.verification == solvers::Verification::all_computed);
}

TEST_CASE("complex matrices, matrices far from normal, and small ones", "[long]") {
  const auto flux = generators::flux_ring(300, 0.3);
  auto a = flux;
  for (auto& x : a.values) x *= Complex(0, 1);  // eigenvalues on the imaginary axis
  std::vector<Complex> exact;
  for (const double v : generators::flux_ring_spectrum(300, 0.3).all()) exact.emplace_back(0, v);
  check(solve(a, searching(4, GeneralWhich::LM)), exact, GeneralWhich::LM, allowed::run_of_norm_100);

  const auto t = generators::toeplitz(18, 0.2, 1, 3);  // condition of the eigenvalues about 1e5
  const auto r = solve(t, options_for(3, GeneralWhich::LR, 1e-12));
  check(r, generators::toeplitz_spectrum(18, 0.2, 1, 3), GeneralWhich::LR, allowed::run_of_norm_100);
  CHECK(r.verification == solvers::Verification::all_computed);
  for (index_t n = 1; n <= 6; ++n) {
    const auto s = solve(generators::circulant(n, {1, 2, 4}), options_for(9, GeneralWhich::LM));
    check(s, generators::circulant_spectrum(n, {1, 2, 4}), GeneralWhich::LM, allowed::tight_run);
    CHECK(static_cast<index_t>(s.values.size()) == n);
  }
}

TEST_CASE("ill-conditioned eigenvalues are vouched for only where all are computed", "[short]") {
  auto a = generators::toeplitz(18, 0.2, 3, 3);  // condition of the eigenvalues about 1e5
  const auto whole = solve(a, options_for(18, GeneralWhich::LR, 1e-9));
  CHECK(whole.conditions[0] > 1e4);
  CHECK(whole.verified);
  for (; a.rows < 400; ++a.rows, ++a.cols) {  // others beside them, far away
    a.indices.push_back(static_cast<std::int32_t>(a.rows));
    a.values.push_back(-0.01 * static_cast<double>(a.rows % 100));
    a.pointers.push_back(static_cast<index_t>(a.values.size()));
  }
  const auto searched = solve(a, only_searching(18, GeneralWhich::LR, 1e-9));
  INFO(searched.reason);
  CHECK(searched.converged);
  CHECK_FALSE(searched.verified);
}

TEST_CASE("a search with the adjoint matrix gives the conditions, and proves nothing", "[short]") {
  const auto a = generators::toeplitz(120, 0.98, 1, 1);
  const auto options = only_searching(6, GeneralWhich::LR);
  const auto r = solve_with(a, transposed(a.view()), options);
  CHECK(r.converged);
  CHECK_FALSE(r.verified);
  CHECK(r.stop == solvers::StopReason::not_verified);
  CHECK(mentions(r.reason, "no search can tell"));
  CHECK(r.conditions[0] == Approx(1.1015).epsilon(allowed::three_digits));  // of x_i = 0.98^(i/2) sin(pi i / 121)
  const auto other = solve_with(a, generators::toeplitz(120, 0.9, 1, 1.3), options);
  CHECK(other.converged);
  CHECK_FALSE(other.verified);
  INFO(other.reason);
  CHECK(mentions(other.reason, "finds other eigenvalues"));
  const auto whole = solve(a, searching(6, GeneralWhich::LR));
  check(whole, generators::toeplitz_spectrum(120, 0.98, 1, 1), GeneralWhich::LR, allowed::tight_run);
  CHECK(whole.verification == solvers::Verification::all_computed);
  CHECK(whole.conditions[0] == Approx(1.1015).epsilon(allowed::three_digits));
}

TEST_CASE("far from normal, values beyond the spectrum have small residuals and are not vouched for", "[long]") {
  const auto a = generators::toeplitz(260, 0.8, 1, 1.2);
  const auto r = solve_with(a, transposed(a.view()), only_searching(6, GeneralWhich::LR));
  INFO(r.reason);
  CHECK(r.converged);
  CHECK(r.values[0].real() > 1.001 * generators::toeplitz_spectrum(260, 0.8, 1, 1.2)[0].real());
  CHECK(*std::max_element(r.conditions.begin(), r.conditions.end()) > 1e4);
  CHECK_FALSE(r.verified);
}
