#include "tallskinny/solvers/eigen/values/ways.hpp"

#include <algorithm>
#include <cmath>

namespace ts::inline v0::solvers {

namespace {

/// Block steps until a run through an inverse is at its end, and of one at a slow end without; from the grid of
/// tests/bench/floor_eigen.py. No iteration is over before its first basis is nearly full.
constexpr index_t steps_through_inverse = 14, steps_without = 40, least_steps = 12;
/// Factorisations of a run: one for the shift, and two that count.
constexpr double factorisations = 3;
/// What LAPACK's n^3, and a library's flops in fronts, are in those of loops; a call of such a library at the least.
constexpr double of_lapack = 0.5, of_fronts = 1, of_columns = 4, library_call = 1e7;

double cost_of_factors(double flops) { return std::min(of_columns * flops, of_fronts * flops + library_call); }

}  // namespace

index_t Ways::steps_of_dense() const noexcept {
  const double steps = std::ceil(dense.total() / krylov.step);
  return std::max(2 * least_steps, static_cast<index_t>(std::min(steps, 1e6)));
}

bool Ways::dense_at_once() const noexcept { return dense.total() < krylov.step * static_cast<double>(least_steps); }

Ways ways_of(const WayFacts& facts, index_t nev, index_t block, index_t basis) {
  const auto n = static_cast<double>(facts.rows), b = static_cast<double>(block);
  const double passes = facts.entries > 0 ? facts.entries : 5 * n;
  // Twice through half of the basis, and as often the block itself.
  const double ortho = 8 * n * b * (static_cast<double>(basis) / 2 + b);
  Ways ways;
  ways.krylov = {0, std::max(1.0, (2 * passes * b + ortho) / facts.device_speed), steps_without};
  ways.inverse = {factorisations * cost_of_factors(facts.factors.flops), 12 * facts.factors.entries * b + ortho,
                  steps_through_inverse};
  ways.dense.once = of_lapack * n * n * n + 4 * n * n * static_cast<double>(nev);
  return ways;
}

}  // namespace ts::inline v0::solvers
