#include "tallskinny/solvers/eigen/values/ways.hpp"

#include <algorithm>
#include <cmath>

namespace ts::inline v0::solvers {

namespace {

/// Block steps until a run through an inverse is at its end, and of one at a slow end without; from the grid of
/// tests/bench/floor_eigen.py. No iteration is over before its first basis is nearly full.
constexpr index_t steps_through_inverse = 14, steps_without = 40, least_steps = 12;
/// m^3 of the eigenpairs of a projected matrix, by scalar rotations.
constexpr double of_projected = 20;
/// LAPACK's n^3, and flops of factors by columns and in fronts, in those of loops; a call of a library at the least,
/// and loading it.
constexpr double of_lapack = 0.5, of_columns = 40, of_fronts = 2, library_call = 1e7, library_load = 5e7;
/// Flops of solves with factors, for each entry and column.
constexpr double solve_by_columns = 25, solve_by_fronts = 12;
/// Factors of fewer flops a row are made by columns.
constexpr double flops_of_row = 4000;

bool goes_by_columns(const FactorCost& f, double rows) { return f.flops <= flops_of_row * rows; }

double cost_of_factors(const FactorCost& f, double rows) {
  return goes_by_columns(f, rows) ? f.count * of_columns * f.flops
                                  : f.count * (of_fronts * f.flops + library_call) + library_load;
}

}  // namespace

index_t Ways::steps_of_dense() const noexcept {
  const double steps = std::ceil(dense.total() / krylov.step);
  return std::max(2 * least_steps, static_cast<index_t>(std::min(steps, 1e6)));
}

bool Ways::dense_at_once() const noexcept { return dense.total() < krylov.step * static_cast<double>(krylov.least); }

index_t Ways::steps_per_look(index_t columns, double step) noexcept {
  const auto m = static_cast<double>(columns);
  return std::max<index_t>(1, static_cast<index_t>(std::min(of_projected * m * m * m / step, m)));
}

bool Ways::counts_cost_little(bool through_inverse, index_t steps) const noexcept {
  constexpr double little = 0.25;
  const double taken = through_inverse ? inverse.once - counts + inverse.step * static_cast<double>(steps)
                                       : krylov.step * static_cast<double>(steps);
  return !(counts > little * taken);
}

Ways ways_of(const WayFacts& facts, index_t nev, index_t block, index_t basis) {
  const auto n = static_cast<double>(facts.rows), b = static_cast<double>(block);
  const double passes = facts.entries > 0 ? facts.entries : 5 * n;
  // Twice through half of the basis, and as often the block itself.
  const double ortho = 8 * n * b * (static_cast<double>(basis) / 2 + b);
  Ways ways;
  ways.product = 2 * passes * b / facts.device_speed;
  ways.krylov = {0, std::max(1.0, ways.product + ortho / facts.device_speed), steps_without,
                 4 * facts.entries > n * n ? steps_without : least_steps};  // products with a dense matrix are dear
  const double solve = goes_by_columns(facts.factors, n) ? solve_by_columns : solve_by_fronts;
  ways.inverse = {cost_of_factors(facts.factors, n), solve * facts.factors.entries * b + ortho, steps_through_inverse};
  ways.counts = ways.inverse.once * (facts.factors.count - 1) / facts.factors.count;
  ways.dense.once = of_lapack * n * n * n + 4 * n * n * static_cast<double>(nev);
  return ways;
}

}  // namespace ts::inline v0::solvers
