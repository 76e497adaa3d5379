// What the eigen-solver answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/eigen/values/work.hpp"

namespace ts::inline v0::solvers {

/// Why a run ended. rounding: residuals cannot become smaller.
enum class StopReason { converged, max_iterations, interrupted, not_verified, rounding };

/// How a set was found to be complete.
enum class Verification {
  none,
  all_computed,  ///< the whole spectrum was computed
  inertia,       ///< the number of eigenvalues beyond a shift was counted by an LDL^H factorisation
  /// the search grew from a random block with columns to spare for every value found and resolved the first
  /// eigenvalue outside of the set as well
  start_block,
  random_block,  ///< cycles from fresh random blocks, orthogonal to what was found, brought nothing new
  normal         ///< of a normal matrix, by a Hermitian one with the same eigenvectors that was verified
};

/// In a word or two.
[[nodiscard]] std::string_view name_of(StopReason) noexcept;
[[nodiscard]] std::string_view name_of(Verification) noexcept;

/// How a search for the wanted, or one for what is missing, ended. `entered`: something missing was found.
enum class Stage { reached, entered, budget, interrupted, stagnated };

/// What a run that ends so has to say. @param verifying the wanted had been found.
[[nodiscard]] StopReason stop_of(Stage, bool verifying) noexcept;

/// One look at the Ritz values, for the history.
struct HistoryEntry {
  index_t iteration = 0, operator_applications = 0, converged = 0;
  double worst = 0;  ///< largest wanted residual as a multiple of its tolerance
  bool verifying = false;
  std::vector<double> ratios = {};  ///< the same for each wanted pair, from the end of the spectrum inwards

  template <class Archive>
  void exchange(Archive& archive) {
    archive(iteration, operator_applications, converged, worst, verifying, ratios);
  }
};

/// Writes a look into the history, and tells options.progress. @param fraction see Progress.
void note(HistoryEntry look, double fraction, const EigenOptions&, index_t max_iterations, index_t wanted,
          std::vector<HistoryEntry>& history);

/// The same for a look at pairs with these residuals, as multiples of their tolerances, of which a prefix counts as
/// converged; or while verifying, when all the wanted do. How many are converged.
index_t note_look(const KrylovWork& done, std::vector<double> ratios, bool verifying, const EigenOptions&,
                  index_t max_iterations, index_t wanted, std::vector<HistoryEntry>& history);

/// Pairs in the order of what was asked: LA falling, SA rising, LM by falling magnitude, SM by distance from
/// the target, BE rising.
template <class T>
struct EigenResult {
  std::vector<double> values;
  Matrix<T> vectors;                   ///< n x values.size(), orthonormal columns
  DeviceMatrix<T> device_vectors;      ///< those, where Results::on_device was asked for; `vectors` is n x 0 then
  std::vector<double> residual_norms;  ///< ||A x - theta x||, computed from the matrix at the end
  /// An eigenvalue of A lies within this distance of the value: the residual norm, or for a verified set
  /// ||R||^2 / gap where that is smaller.
  std::vector<double> error_bounds;
  /// The sine of the angle between each vector and its eigenvector is no larger: residual / gap (Davis and
  /// Kahan), for a verified set. Vectors of copies, and of values that residuals do not tell apart, are one basis
  /// of many: theirs is the angle to the space of them all. NaN where no gap is known, or none that helps.
  std::vector<double> vector_errors;
  /// How far rounding has moved each value from an eigenvalue of X^H A X, as measured: ||X^H r|| and the loss
  /// of orthogonality times |value|.
  std::vector<double> value_roundings;
  std::vector<index_t> multiplicities;  ///< how many of the values agree with this one, itself included
  /// So many of the values are copies of one eigenvalue at the end of the set that may have more of them:
  /// `nev` cuts them off. Where the set is that of largest magnitude, or nearest to a target, values as far on the
  /// other side count as copies. 0 where the next eigenvalue is clearly another one.
  index_t cut_off = 0;
  /// Copies of that eigenvalue (on both sides) in all, by the inertia of factorisations; 0: not counted.
  index_t copies_counted = 0;
  bool end_known = true;  ///< false: nothing is known of the eigenvalue that follows the set
  std::vector<bool> converged_pairs;

  index_t converged_count = 0;  ///< pairs whose residual meets the tolerance
  bool converged = false;       ///< all pairs that were asked for
  bool verified = false;        ///< and no copy or value is missing
  Verification verification = Verification::none;
  StopReason stop = StopReason::max_iterations;
  std::string reason;  ///< one sentence on how it ended, with advice when it did not converge

  index_t iterations = 0;                 ///< block steps
  index_t operator_applications = 0;      ///< columns that the operator was applied to
  index_t narrow_applications = 0;        ///< those of them in float32
  index_t verification_applications = 0;  ///< those of them after the set had been found
  index_t filter_degree = 0;              ///< of the Chebyshev filter; 0: none
  std::optional<double> shift = {};       ///< of the inverse that was iterated with
  std::optional<double> high_shift = {};  ///< of that beyond the high end, where there was one beyond each
  KrylovSeconds seconds;                  ///< where the time of the iteration went
  index_t restarts = 0, verification_rounds = 0, dead_directions = 0;
  bool taken_over = false;        ///< by the dense solver, from a method that did not succeed
  std::string decomposed_by;      ///< Decomposed::by, where the whole matrix was
  double norm = 0;                ///< estimate of ||A||_2 from below
  double orthogonality_loss = 0;  ///< ||I - X^H X||_2, measured at the end
  double next_value = 0;          ///< the first Ritz value outside the set; NaN when none is known
  double gap = 0;  ///< its distance from the nearest value in the set; 0: residuals do not show it; NaN: not known
  std::vector<HistoryEntry> history;
};

/// What `part` cost joins what a run took as a whole.
template <class T>
void add_costs(const EigenResult<T>& part, EigenResult<T>& whole) {
  whole.iterations += part.iterations, whole.operator_applications += part.operator_applications;
  whole.restarts += part.restarts, whole.dead_directions += part.dead_directions;
  whole.verification_rounds += part.verification_rounds;
  whole.verification_applications += part.verification_applications;
  whole.seconds += part.seconds;
  whole.history.insert(whole.history.end(), part.history.begin(), part.history.end());
}

}  // namespace ts::inline v0::solvers
