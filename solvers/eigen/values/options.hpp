// What a user asks of the eigen-solver.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::solvers {

/// Which eigenvalues are wanted: largest or smallest algebraic, largest magnitude, nearest to a target (SM:
/// the target is sigma, or zero), or half from each end (the odd one from the high end). With a target, LA
/// and SA ask for the nearest above and below it, BE for both, LM means the same as SM.
enum class Which { LA, SA, LM, SM, BE };

/// What the residual norm ||A x - theta x|| is compared with: tol ||A||, tol |theta| (as in ARPACK and SLEPc), or
/// tol; `root`: tol sqrt(||A|| |theta|), which for A = B^H B is what tol ||B|| asks of the singular triplets of
/// B. Never with less than the rounding of A x, which is what is asked of values near zero.
enum class Convergence { norm, rel, abs, root };

/// Block Lanczos, the same on a Chebyshev polynomial of the matrix (for SA and LA without a target; others
/// do without), LOBPCG or block Davidson with the problem's preconditioner (SA and LA), or all eigenvalues by
/// a dense solver. `automatic` takes the dense one for small matrices and the polynomial for large ones whose
/// product with a block is cheap.
enum class Method { automatic, lanczos, chebyshev, dense, lobpcg, davidson };

/// What block Lanczos iterates in. float32: matrix, basis and blocks in half of the memory; residuals of the
/// result, computed in float64, reach `float32_tolerance` ||A||, and no more is asked of small values. mixed: that
/// first, then float64 from what it found, to the tolerance and the certainty of float64. A dense solver, and the
/// way through a cheap factorisation that Method::automatic takes at an end of the spectrum, are float64 throughout.
enum class Precision { float64, float32, mixed };

/// The smallest tolerance, relative to ||A||, that Precision::float32 takes.
inline constexpr double float32_tolerance = 0x1p-18;

/// Up to this size a dense solver takes over from iterations that have cost what that costs, unless the number of block
/// steps was given.
inline constexpr index_t takeover_rows = 4000;
/// Block steps of larger ones.
inline constexpr index_t most_block_steps = 20000;
/// Block steps of a method that was asked for by name before it does.
inline constexpr index_t steps_of_asked = 600;
/// Columns that the operator is applied to before, for each row: polynomials of high degree take many.
inline constexpr index_t takeover_applications = 50;

/// Whether a method takes a preconditioner.
[[nodiscard]] constexpr bool is_preconditioned(Method method) noexcept {
  return method == Method::lobpcg || method == Method::davidson;
}

/// Ritz vectors that are kept for `nev` wanted: the rate of convergence goes with the distance to the first
/// outside.
[[nodiscard]] constexpr index_t with_guards(index_t nev) noexcept { return nev + (nev / 5 > 2 ? nev / 5 : 2); }

/// Where the vectors of a result are left. on_device: on that of ctx.stream, in EigenResult::device_vectors. What block
/// Lanczos found there, and what needs no mass matrix afterwards, does not pass through the host; all else is copied
/// once. Read by solve_eigen(), eigsh(), eigs() and svds().
enum class Results { on_host, on_device };

/// How far a search has come.
struct Progress {
  std::string_view phase;  ///< "search", "verify", or "dense" before all eigenvalues are computed at once
  index_t iteration = 0, max_iterations = 0;
  index_t operator_applications = 0;
  index_t converged = 0, wanted = 0;
  double worst = 0;  ///< largest wanted residual as a multiple of its tolerance
  /// Of the decades from ||A||, or the largest residual so far, to the tolerance, how many all residuals have fallen
  double fraction = 0;
};

/// What is asked of an eigen-solver.
struct EigenOptions {
  index_t nev = 6;
  Which which = Which::LA;
  double tol = 1e-8;
  Convergence convergence = Convergence::rel;
  Method method = Method::automatic;
  Precision precision = Precision::float64;
  index_t block_size = 0;      ///< columns per block step; 0: chosen
  index_t max_basis = 0;       ///< columns of the basis, raised to the least that serves; 0: chosen
  index_t max_iterations = 0;  ///< block steps; 0: chosen
  std::uint64_t seed = 0;
  /// False: nothing is done to find out whether a copy or a value is missing, and no set is called verified.
  bool verify = true;
  bool vectors = true;  ///< false: the result holds none (n x 0)
  Results results = Results::on_host;
  bool spills = false;         ///< the basis in page-locked host memory, where the operator is on a device
  std::function<bool()> stop;  ///< asked once per block step; true ends the run early
  std::function<void(const Progress&)> progress;  ///< called after each look at the Ritz values
};

/// Tells options.progress that all eigenvalues are computed at once now, of which `wanted` were asked for.
void announce_dense(const EigenOptions& options, index_t wanted);

/// The sizes that a run will use: a pure function of n and what is asked.
struct EigenPlan {
  Method method = Method::lanczos;
  std::string_view why;  ///< this method, as half a sentence; empty where it is the one that was asked for
  index_t nev = 0;       ///< at most n
  index_t block_size = 0, max_basis = 0, max_iterations = 0;
  index_t max_applications = 0;  ///< columns that block Lanczos may apply the operator to; 0: any number
  std::uint64_t bytes = 0;       ///< memory beside the operator's own
};

/// @param initial columns of a warm start, 0 without.
/// @param entries of a dense matrix, as ways_of() takes them; 0: of a sparse one
/// @throws Error(invalid_argument) naming the option that cannot be met.
[[nodiscard]] EigenPlan plan_eigen(index_t n, std::size_t element_bytes, const EigenOptions&, index_t initial = 0,
                                   double entries = 0);

}  // namespace ts::inline v0::solvers
