// What each way to eigenvalues of a Hermitian matrix costs, and which is taken: pure functions of sizes.
#pragma once

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

/// Of one L D L^H: by columns where it takes few flops a row, else by fronts (direct/).
struct FactorCost {
  double flops = inf;  ///< inf: none may be made
  double entries = 0;
  int count = 3;  ///< made in a run: one for the shift, and two that count
};

/// Those of an interval: two gaps are counted twice, and an inverse is made inside.
inline constexpr int factors_of_interval = 6;

/// What is known of a matrix before a run.
struct WayFacts {
  index_t rows = 0;
  double entries = 0;  ///< that a product with one column passes over; 0: not known, few
  FactorCost factors = {};
  double device_speed = 1;  ///< of block steps, against those of the processor, which factorises
};

/// Costs in flops of loops over tall blocks; those of LAPACK and of fronts, which run faster, are scaled to them.
struct Way {
  double once = 0, step = 0;  ///< before the first block step, and for each
  index_t steps = 0;          ///< block steps that a run takes, as a guess from many
  index_t least = 0;          ///< and at the least
  [[nodiscard]] double total() const noexcept { return once + step * static_cast<double>(steps); }
};

struct Ways {
  Way krylov;          ///< block Lanczos on products with the matrix
  Way inverse;         ///< the same through factors beyond the wanted end, or beside a target
  Way dense;           ///< the matrix as a whole, by LAPACK
  double product = 0;  ///< of A with a block
  double counts = 0;   ///< the factorisations that count what was found

  /// Factors are made before anything else is tried.
  [[nodiscard]] bool inverse_at_once() const noexcept { return inverse.total() < krylov.total(); }
  /// A block step on a Chebyshev polynomial of A, of degree 1: on A; and a run of them.
  [[nodiscard]] double filtered_step(index_t degree) const noexcept {
    return krylov.step + static_cast<double>(degree - 1) * product;
  }
  [[nodiscard]] double filtered(index_t degree) const noexcept {
    return filtered_step(degree) * static_cast<double>(krylov.steps);
  }
  /// Block steps that cost what LAPACK costs: no iteration is worth more where that may be had.
  [[nodiscard]] index_t steps_of_dense() const noexcept;
  /// The matrix is so small that no iteration could cost less.
  [[nodiscard]] bool dense_at_once() const noexcept;
  /// A search that is its own witness is not counted as well, unless that adds little to what it took.
  [[nodiscard]] bool counts_cost_little(bool through_inverse, index_t steps) const noexcept;
  /// Block steps that cost what the eigenpairs of a projected matrix cost, at least one: so often are they computed.
  /// @param columns of the basis; @param step flops of a block step
  [[nodiscard]] static index_t steps_per_look(index_t columns, double step) noexcept;
  /// Where values are wanted that only an inverse brings near: LAPACK costs less.
  [[nodiscard]] bool dense_beside_inverse() const noexcept { return dense.total() < inverse.total(); }
};

/// @param nev, block, basis sizes of the run, in columns
[[nodiscard]] Ways ways_of(const WayFacts&, index_t nev, index_t block, index_t basis);

}  // namespace ts::inline v0::solvers
