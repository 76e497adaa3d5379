#include "tallskinny/solvers/eigen/general/similar.hpp"

#include "tallskinny/solvers/driver/general.hpp"
#include "tallskinny/tests/solvers/eigen/general/runs.hpp"

using solvers::similar_hermitian;
using Complex = std::complex<double>;

namespace {

/// Tridiagonal, 1 below and `above` above the diagonal: its values are 2 sqrt(above) cos(k pi / (n + 1)).
CsrMatrix<double> drifting(index_t n, double above) {
  return csr_by_rows<double>(n, n, [&](index_t i, auto add) {
    if (i > 0) add(i - 1, 1);
    if (i + 1 < n) add(i + 1, above);
  });
}

double value_of_drifting(index_t n, double above, index_t k) {
  return 2 * std::sqrt(above) * std::cos(static_cast<double>(k) * std::acos(-1.0) / static_cast<double>(n + 1));
}

template <class T>
CsrMatrix<T> matrix_of(index_t n, const std::vector<T>& rows) {
  return csr_by_rows<T>(n, n, [&](index_t i, auto add) {
    for (index_t j = 0; j < n; ++j)
      if (rows[at(i * n + j)] != T{}) add(j, rows[at(i * n + j)]);
  });
}

solvers::GeneralResult solved(const CsrMatrix<double>& a, std::optional<double> target, solvers::GeneralOptions o) {
  const Context ctx;
  solvers::Borrowed<double> borrowed(a.view());
  const solvers::GeneralRun<double> run(ctx, {borrowed, nullptr, "a", {o.part, target}}, o.common);
  REQUIRE(run.problem().similar);
  return run.solve({}, {});
}

}  // namespace

TEST_CASE("matrices that a scaling makes Hermitian are solved so, with proof, beyond what is decomposed as a whole") {
  constexpr index_t n = 1801;
  constexpr double above = 1.005;
  const auto a = drifting(n, above);
  solvers::GeneralOptions o{GeneralWhich::LR, options_for(4, Which::LA)};
  const auto r = solved(a, std::nullopt, o);
  INFO(r.reason);
  CHECK((r.verified && r.similar));
  for (index_t j = 0; j < 4; ++j) {
    CAPTURE(j);
    CHECK(std::abs(r.values[at(j)] - value_of_drifting(n, above, j + 1)) < allowed::fine_run);
    CHECK(r.conditions[at(j)] > 1.5);
    CHECK(r.residual_norms[at(j)] < allowed::fine_run);
  }
  // The middle value is zero.
  const auto near = solved(a, 1e-5, o);
  INFO(near.reason);
  CHECK((near.verified && near.similar));
  CHECK(std::abs(near.values[0]) < allowed::fine_run);
  CHECK(std::abs(near.values[1] - value_of_drifting(n, above, n / 2)) < allowed::fine_run);
  o.part = GeneralWhich::LI;
  o.common.max_iterations = 5;
  CHECK_FALSE(solved(a, std::nullopt, o).similar);
}

TEST_CASE("a scaling is found where there is one, and only there") {
  const auto similar = similar_hermitian<double>(drifting(60, 1.1).view());
  REQUIRE(similar);
  CHECK(similar->condition == Approx(std::pow(1.1, 29.5)));
  CHECK(similar->scale[0] / similar->scale[1] == Approx(std::sqrt(1.1)));
  CHECK(similar->matrix.values[0] == Approx(std::sqrt(1.1)));
  CHECK_FALSE(similar_hermitian<double>(drifting(2000, 1.1).view()));  // a condition of 1e41
  CHECK_FALSE(similar_hermitian<double>(drifting(60, -1).view()));     // imaginary values
  // Round a cycle of three the weights must give the same product either way.
  CHECK(similar_hermitian<double>(matrix_of<double>(3, {0, 2, 3, 1, 0, 4, 6, 16, 0}).view()));
  CHECK_FALSE(similar_hermitian<double>(matrix_of<double>(3, {0, 2, 3, 1, 0, 4, 6, 5, 0}).view()));
  CHECK_FALSE(similar_hermitian<double>(matrix_of<double>(2, {1, 2, 0, 1}).view()));
  const auto turned = similar_hermitian<Complex>(matrix_of<Complex>(2, {1, Complex(0, 4), Complex(0, -1), 3}).view());
  REQUIRE(turned);
  CHECK(std::abs(turned->matrix.values[1] - Complex(0, 2)) < allowed::short_sum);
  CHECK_FALSE(similar_hermitian<Complex>(matrix_of<Complex>(2, {Complex(1, 1), 4, 1, 3}).view()));
}
