#include "tallskinny/tests/solvers/eigen/general/runs.hpp"

namespace {

/// kron(S, I_c) + kron(I_m, C), S skew with random elements, C the cyclic shift of c: normal, with the
/// eigenvalues i mu_j + exp(2 pi i l / c).
CsrMatrix<double> skew_and_shift(index_t m, index_t c, index_t copies, double alone) {
  const auto s = [m](index_t i, index_t j) {
    const auto x = [m](index_t p, index_t q) { return std::sin(12.9 * static_cast<double>(p * m + q) + 0.3); };
    return x(i, j) - x(j, i);
  };
  const index_t n = copies * m * c;
  return csr_by_rows<double>(n + 1, n + 1, [&](index_t row, auto add) {
    if (row == n) return add(n, alone);
    const index_t base = row / (m * c) * m * c, i = row / c % m, k = row % c;
    for (index_t j = 0; j < m; ++j) add(base + j * c + (i == j ? (k + 1) % c : k), i == j ? 1 : s(i, j));
  });
}

solvers::GeneralResult solve_normal(const CsrMatrix<double>& a, const solvers::GeneralOptions& options) {
  return solve_with(a, transposed(a.view()), options);
}

/// The sine of the angle between column j and the nearest Fourier mode, an eigenvector of every circulant matrix.
double off_fourier(const Matrix<std::complex<double>>& x, index_t j) {
  double largest = 0, all = 0;
  const auto n = static_cast<double>(x.rows());
  for (index_t k = 0; k < x.rows(); ++k) {
    std::complex<double> inner = 0;
    for (index_t i = 0; i < x.rows(); ++i)
      inner +=
          x(i, j) * std::polar(1 / std::sqrt(n), -2 * std::acos(-1.0) * static_cast<double>((i * k) % x.rows()) / n);
    largest = std::max(largest, std::norm(inner)), all += std::norm(inner);
  }
  return std::sqrt(std::max(0.0, all - largest));
}

}  // namespace

TEST_CASE("a normal matrix is held against a Hermitian one with its eigenvectors", "[long]") {
  const auto a = generators::circulant(200, {1, 2, 4});
  for (const auto part : {GeneralWhich::LM, GeneralWhich::LR, GeneralWhich::SR, GeneralWhich::LI}) {
    CAPTURE(static_cast<int>(part));
    const auto r = solve_normal(a, only_searching(6, part));
    check(r, generators::circulant_spectrum(200, {1, 2, 4}), part, allowed::run_of_norm_100);
    CHECK(r.verification == solvers::Verification::normal);
    CHECK(r.conditions == std::vector<double>(r.values.size(), 1.0));
    for (std::size_t j = 0; j < r.values.size(); ++j) {
      CAPTURE(j, r.vector_errors[j]);
      if (!std::isnan(r.vector_errors[j]))
        CHECK(off_fourier(r.vectors, static_cast<index_t>(j)) <= r.vector_errors[j] + allowed::many_steps);
    }
    CHECK(std::count_if(r.vector_errors.begin(), r.vector_errors.end(), [](double e) { return !std::isnan(e); }) >= 4);
  }
}

TEST_CASE("an eigenvalue beside many copies is not missed where nothing found tells of it", "[long]") {
  // The leftmost eigenvalue stands alone, 1e-4 before 2 m others of one real part.
  const double low = std::cos(6 * 3.14159265358979323846 / 7), alone = low - 1e-4;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const auto a = skew_and_shift(9, 7, 2, alone);
    auto options = only_searching(2, GeneralWhich::SR);
    options.common.seed = seed;
    const auto r = solve_normal(a, options);
    INFO(r.reason);
    // With the number of block steps given it may be left open, and not more.
    if (r.verified) CHECK(std::abs(r.values[0] - alone) < allowed::run_of_norm_10);
    options.common.max_iterations = 0;
    const auto settled = solve_normal(a, options);
    INFO(settled.reason);
    CHECK(settled.verified);
    CHECK(std::abs(settled.values[0] - alone) < allowed::run_of_norm_10);
  }
}

TEST_CASE("many copies, of normal matrices and others: the Schur form settles them", "[long]") {
  // A permutation with cycles of 3, 5 and 40; blocks of random elements, 40 times.
  std::vector<index_t> next;
  std::vector<Complex> exact;
  for (int repeat = 0; repeat < 5; ++repeat)
    for (const index_t cycle : {3, 5, 40}) {
      const auto base = std::ssize(next);
      for (index_t i = 0; i < cycle; ++i) {
        next.push_back(base + (i + 1) % cycle);
        exact.push_back(std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(cycle)));
      }
    }
  const auto permutation = csr_by_rows<double>(std::ssize(next), std::ssize(next),
                                               [&](index_t i, auto add) { add(next[static_cast<std::size_t>(i)], 1); });
  for (const auto part : {GeneralWhich::LM, GeneralWhich::LR, GeneralWhich::LI, GeneralWhich::SI}) {
    CAPTURE(static_cast<int>(part));
    check(solve_normal(permutation, options_for(7, part)), exact, part, allowed::tight_run);
  }
  constexpr index_t m = 12, repeats = 60;
  const auto copies = csr_by_rows<double>(m * repeats, m * repeats, [](index_t i, auto add) {
    for (index_t j = 0; j < m; ++j) add(i / m * m + j, noise(i % m * m + j));
  });
  for (const auto part : {GeneralWhich::LM, GeneralWhich::LR}) {
    const auto r = solve_normal(copies, options_for(5, part));
    INFO(r.reason);
    CHECK(r.verified);
    CHECK(r.verification == solvers::Verification::all_computed);
    for (const Complex z : r.values) CHECK(key(part, z) == Approx(key(part, r.values[0])).epsilon(allowed::ten_digits));
  }
}

TEST_CASE("eigenvalues that rounding alone decides are not vouched for", "[short]") {
  // All zero, but those of a matrix within rounding of it lie on a circle of radius 0.7: H N H with N the
  // shift and H = I - 2 / n.
  constexpr index_t n = 100;
  const auto reflected = [](index_t i, index_t j) { return (i == j ? 1.0 : 0.0) - 2.0 / static_cast<double>(n); };
  auto shift = csr_by_rows<double>(n, n, [&](index_t i, auto add) {
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t k = 0; k + 1 < n; ++k) sum += reflected(i, k) * reflected(k + 1, j);
      add(j, sum);
    }
  });
  solvers::GeneralOptions o;
  o.common.nev = 3;
  const auto r = solve(shift, o);
  INFO(r.reason);
  CHECK_FALSE(r.verified);
  CHECK(mentions(r.reason, "rounding decides"));
}

TEST_CASE("eigenvalues nearest to a real target, pairs together", "[short]") {
  std::vector<Complex> pairs;
  for (int i = 0; i < 105; ++i) pairs.emplace_back(std::cos(1.7 * i) * 5, 0.2 + 2 * std::abs(std::sin(0.9 * i)));
  for (int i = 0; i < 5; ++i) pairs.emplace_back(1, 0.3);  // more copies than the block has columns
  const auto a = rotations(pairs);
  for (const double target : {1.0, -2.3}) {
    CAPTURE(target);
    const auto r = solvers::solve_general<double>(Context{}, near<double>(a, target), searching(11, GeneralWhich::LM));
    INFO(r.reason);
    CHECK(r.verified);
    CHECK(r.values.size() == 12);
    check_same_values(r.values, nearest_units(with_conjugates_of(pairs), target, 11), allowed::run_of_norm_100);
    for (std::size_t i = 0; i + 1 < r.values.size(); i += 2)
      CHECK(std::abs(r.values[i + 1] - std::conj(r.values[i])) < allowed::many_steps);
  }
}

TEST_CASE("a target that is an eigenvalue", "[short]") {
  const std::vector<double> c = {0.5, 1, 0, -0.3, 0.2};
  const auto a = generators::circulant(210, c);
  const double target = 0.5 + 1 - 0.3 + 0.2;  // of (1, 1, ..., 1)
  const auto problem = near<double>(a, target);
  CHECK(problem.shift != target);
  const auto r = solvers::solve_general<double>(Context{}, problem, searching(5, GeneralWhich::LM));
  INFO(r.reason);
  CHECK(r.verified);
  check_same_values(r.values, nearest_units(generators::circulant_spectrum(210, c), target, 5),
                    allowed::run_of_norm_100);
}

TEST_CASE("a complex target: of a complex matrix, and of a real one with the conjugates", "[short]") {
  const auto flux = generators::flux_ring(220, 0.3);
  auto a = flux;
  for (auto& x : a.values) x *= Complex(0, 1);
  std::vector<Complex> exact;
  for (const double v : generators::flux_ring_spectrum(220, 0.3).all()) exact.emplace_back(0, v);
  const Complex target(0.1, 0.7);
  const auto r = solvers::solve_general<Complex>(Context{}, near<Complex>(a, target), searching(6, GeneralWhich::LM));
  CHECK(r.verified);
  std::sort(exact.begin(), exact.end(),
            [&](Complex x, Complex y) { return std::abs(x - target) < std::abs(y - target); });
  check_same_values(r.values, {exact.begin(), exact.begin() + 6}, allowed::run_of_norm_10);

  const std::vector<double> c = {0.5, 1, 0, -0.3, 0.2};
  const auto real = generators::circulant(210, c);
  auto wide = CsrMatrix<Complex>{real.rows, real.cols, real.pointers, real.indices, {}};
  wide.values.assign(real.values.begin(), real.values.end());
  const solvers::Operator<double> op = solvers::CsrOperator<double>(real.view());
  for (const Complex z : {Complex(1.3, 0.01), Complex(-0.5, -0.4)}) {
    CAPTURE(z);
    const auto options = searching(5, GeneralWhich::LM);
    auto found = solvers::solve_general<Complex>(Context{}, near<Complex>(wide, z), options);
    REQUIRE(found.verified);
    const auto whole = solvers::with_conjugates(Context{}, op, std::move(found), z, options);
    INFO(whole.reason);
    CHECK(whole.verified);
    check_same_values(whole.values, nearest_units(generators::circulant_spectrum(210, c), z, 5),
                      allowed::run_of_norm_100);
    for (const double residual : whole.residual_norms) CHECK(residual <= allowed::default_run * 3);
  }
}

TEST_CASE("a general run that is stopped and resumed gives the bits of one that was not", "[short]") {
  std::vector<Complex> pairs;
  for (int i = 0; i < 110; ++i) pairs.emplace_back(0.02 * i, 0.5 + 0.002 * i);
  for (int i = 0; i < 6; ++i) pairs.emplace_back(4, 1);
  const auto a = rotations(pairs);
  for (const bool inverted : {false, true}) {
    CAPTURE(inverted);
    solvers::GeneralProblem<double> problem{solvers::CsrOperator<double>(a.view())};
    if (inverted) problem = near<double>(a, 3.9);
    auto options = searching(14, GeneralWhich::LR);
    const auto whole = solvers::solve_general<double>(Context{}, problem, options);
    REQUIRE(whole.verified);
    REQUIRE(whole.verification_rounds > 0);
    Stored<double> stored;
    int rounds = 0;
    for (;; ++rounds) {
      REQUIRE(rounds < 1000);
      int steps = 0;
      options.common.stop = [&steps] { return steps++ >= 9; };
      const Stored<double> before = std::move(stored);
      solvers::Checkpointing<double> checkpointing;
      checkpointing.write = [&](const solvers::SavedState<double>& s) { stored = Stored<double>(s); };
      if (rounds > 0) checkpointing.resume = &before.state;
      const auto r = solvers::solve_general<double>(Context{}, problem, options, {}, checkpointing);
      if (r.stop == solvers::StopReason::interrupted) continue;
      CHECK(r.values == whole.values);
      CHECK(r.residual_norms == whole.residual_norms);
      CHECK(r.iterations == whole.iterations);
      CHECK(r.operator_applications == whole.operator_applications);
      CHECK(r.history.size() == whole.history.size());
      CHECK(r.verified);
      CHECK(std::equal(r.vectors.data(), r.vectors.data() + r.vectors.rows() * r.vectors.cols(), whole.vectors.data()));
      break;
    }
    CHECK(rounds > 3);
  }
}

TEST_CASE("triangular in some order: eigenvalues are elements of the matrix", "[short]") {
  // Ten eigenvalues, twice each, with everything above them: defective, but elements of the matrix.
  constexpr index_t n = 20;
  const auto place = [](index_t i) { return 7 * i % n; };
  std::vector<std::vector<double>> rows(n, std::vector<double>(n));
  for (index_t i = 0; i < n; ++i)
    for (index_t j = i; j < n; ++j)
      rows[static_cast<std::size_t>(place(i))][static_cast<std::size_t>(place(j))] =
          i == j ? static_cast<double>(i / 2) : 1;
  auto a = csr_by_rows<double>(n, n, [&](index_t i, auto add) {
    for (index_t j = 0; j < n; ++j)
      if (const double x = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]; x != 0) add(j, x);
  });
  check(solve(a, options_for(4, GeneralWhich::LR)), {9, 9, 8, 8, 7, 7}, GeneralWhich::LR, allowed::long_sum);
}
