// Estimates of the errors of vectors, against vectors that are known.
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"

namespace {

/// All eigenpairs of I_copies (x) laplacian({n}), from the closed form, vectors as columns.
struct Exact {
  std::vector<double> values;
  Matrix<double> vectors;

  Exact(index_t copies, index_t n) : vectors(Matrix<double>::zeros(copies * n, copies * n)) {
    const double step = std::acos(-1.0) / static_cast<double>(n + 1);
    for (index_t p = 0; p < copies; ++p)
      for (index_t j = 0; j < n; ++j) {
        values.push_back(2 - 2 * std::cos(static_cast<double>(j + 1) * step));
        for (index_t i = 0; i < n; ++i)
          vectors(p * n + i, p * n + j) =
              std::sqrt(2.0 / static_cast<double>(n + 1)) * std::sin(static_cast<double>((i + 1) * (j + 1)) * step);
      }
  }

  /// The sine of the angle between column j of X and the space of all eigenvectors of the value nearest to `value`.
  [[nodiscard]] double sine(const Matrix<double>& x, index_t j, double value) const {
    double nearest = values.front();
    for (const double v : values)
      if (std::abs(v - value) < std::abs(nearest - value)) nearest = v;
    double outside = 0;
    for (index_t c = 0; c < vectors.cols(); ++c) {
      if (std::abs(values[static_cast<std::size_t>(c)] - nearest) < allowed::many_steps) continue;
      double inner = 0;
      for (index_t i = 0; i < x.rows(); ++i) inner += vectors(i, c) * x(i, j);
      outside += inner * inner;
    }
    return std::sqrt(outside);
  }
};

/// Every estimate holds; how many there are.
index_t count_estimates(const Exact& exact, const solvers::EigenResult<double>& r) {
  index_t estimates = 0;
  REQUIRE(r.vector_errors.size() == r.values.size());
  for (std::size_t j = 0; j < r.values.size(); ++j) {
    if (std::isnan(r.vector_errors[j])) continue;
    const double sine = exact.sine(r.vectors, static_cast<index_t>(j), r.values[j]);
    CAPTURE(j, r.values[j], r.residual_norms[j]);
    CHECK(sine <= r.vector_errors[j] + allowed::long_sum);
    ++estimates;
  }
  return estimates;
}

}  // namespace

TEST_CASE("estimates of the errors of vectors hold, at every end and by every method") {
  const index_t n = 300;
  const auto a = generators::laplacian({n});
  const Exact exact(1, n);
  for (const Which which : {Which::SA, Which::LA, Which::BE, Which::LM})
    for (const Method method : {Method::automatic, Method::lanczos, Method::dense})
      for (const double tol : {1e-2, 1e-5, 1e-8}) {
        auto options = options_for(6, which, method);
        options.tol = tol;
        const auto r = solve(a, options);
        CAPTURE(static_cast<int>(which), static_cast<int>(method), tol, r.reason);
        CHECK(r.verified);
        const index_t estimates = count_estimates(exact, r);
        if (tol <= 1e-5) CHECK(estimates >= 4);  // the last may have none: what comes next is known roughly
      }
}

TEST_CASE("vectors of copies have an angle to the space of them all, and none where copies are cut off") {
  const auto a = generators::laplacian_copies(4, 70);
  const Exact exact(4, 70);
  for (const Method method : {Method::lanczos, Method::dense}) {
    const auto r = solve(a, options_for(8, Which::SA, method));
    CAPTURE(static_cast<int>(method), r.reason);
    CHECK(r.verified);
    CHECK(count_estimates(exact, r) == 8);
    for (const double error : r.vector_errors) CHECK(error < allowed::five_digits);
    const auto cut = solve(a, options_for(6, Which::SA, method));
    CHECK(cut.verified);
    CHECK(count_estimates(exact, cut) == 4);
    CHECK(std::isnan(cut.vector_errors[5]));
  }
}

TEST_CASE("vectors of sets that are not verified have no estimate, of those near a target and in an interval they do") {
  const index_t n = 300;
  const auto a = generators::laplacian({n});
  const Exact exact(1, n);
  auto options = options_for(5, Which::SA, Method::lanczos);
  options.verify = false;
  const auto open = solve(a, options);
  CHECK(open.converged);
  for (const double error : open.vector_errors) CHECK(std::isnan(error));

  const auto inside = solvers::solve_interval<double>(Context{}, factorised(a), options_for(1, Which::SA), {1, 1.2});
  CHECK(inside.verified);
  CHECK(count_estimates(exact, inside) == static_cast<index_t>(inside.values.size()));
  for (const Which which : {Which::SM, Which::LA, Which::SA, Which::BE}) {
    const auto near = solve(beside(a, 1.5), options_for(6, which));
    CAPTURE(static_cast<int>(which), near.reason);
    CHECK(near.verified);
    CHECK(count_estimates(exact, near) >= 4);
  }
}
