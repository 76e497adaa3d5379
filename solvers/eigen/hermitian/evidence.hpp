// What a run of Lanczos hands over: to the final computation of residuals, and to a run in its place.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tallskinny/gemm/runtime/placed.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/eigen/values/work.hpp"

namespace ts::inline v0::solvers {

/// That a set is complete, as a search in float32 found.
struct Evidence {
  Verification how = Verification::none;
  std::vector<double> values;  ///< the eigenvalues of the set, rising
  double clearance = 0;        ///< from the ends of the set to the first eigenvalue outside

  /// Rounding moves no eigenvalue farther than its size (Weyl), and `values`, rising, the same set in
  /// float64, tell its size: does it leave the gap outside the set open, so that the number of eigenvalues
  /// beyond the gap is that of the set in float64 as well?
  [[nodiscard]] bool holds_for(std::span<const double> values) const;
};

/// What a run leaves to one that goes on in its place.
struct Predecessor {
  KrylovWork work;
  SpectralTransform transform;  ///< of the operator that it ended with
  Evidence evidence = {};
};

/// What an iteration hands to the final computation of residuals.
template <class T>
struct Iterated {
  PlacedMatrix<T> vectors;  ///< n x k, not necessarily orthonormal to the last digit
  StopReason stop = StopReason::max_iterations;
  Verification verification = Verification::none;
  double next_value = 0;  ///< first eigenvalue estimate outside the set; NaN when none is known
  bool end_known = true;  ///< false: the last eigenvalue of the set may have copies outside that nothing has shown
  std::optional<Evidence> evidence = std::nullopt;  ///< that must hold for the verification to count
  /// LM or BE was given up in favour of a run at each end, of which so many values at most can be among the wanted;
  /// there are no vectors then. None: it was not.
  Ends beyond = {};
};

}  // namespace ts::inline v0::solvers
