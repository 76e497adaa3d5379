// A run with a matrix in memory that need not be Hermitian: prepare, solve, finish. eigs() and tssolve call the same
// steps.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tallskinny/solvers/driver/borrowed.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"

namespace ts::inline v0::solvers {

/// The part of a request that decides how eigenvalues are sought.
struct GeneralRequest {
  GeneralWhich part = GeneralWhich::LM;  ///< has no say with sigma
  std::optional<std::complex<double>> sigma = {};
};

/// Matrices and request of a run. Matrices are in the caller's units, and must outlive it; those of extreme numbers are
/// scaled.
template <class T>
struct GeneralInput {
  Borrowed<T>& a;
  /// `a` once more where it is real and the target is not: the two of a conjugate pair, which are at different
  /// distances from the target, are sought in complex arithmetic, and this says which belong together.
  Borrowed<double>* real = nullptr;
  std::string name;  ///< of the matrix, for sentences
  GeneralRequest request;
  /// Called before long steps: "factorising A - sigma I", "asking the adjoint matrix"; may be empty.
  std::function<void(const char*)> announce = {};
};

/// One run. With a stream in the Context products run on its device.
template <class T>
class GeneralRun {
 public:
  /// Scales the matrix, copies it to the device, and factorises A - sigma I unless the matrix is decomposed as a whole.
  /// A sparse one that a diagonal scaling makes Hermitian is solved so.
  /// @throws Error(invalid_argument) when no shift near the target can be factorised, unless the matrix is small.
  GeneralRun(const Context&, const GeneralInput<T>&, const EigenOptions& options);
  GeneralRun(const GeneralRun&) = delete;  // operators refer to the copies on a device
  GeneralRun& operator=(const GeneralRun&) = delete;

  [[nodiscard]] const GeneralProblem<T>& problem() const noexcept { return problem_; }
  /// Empty, or a sentence on a shift that was moved or could not be factorised.
  [[nodiscard]] const std::string& note() const noexcept { return note_; }

  /// The wanted pairs, in the caller's units and where `options` says.
  [[nodiscard]] GeneralResult solve(HostView<const T> initial, const Checkpointing<T>& checkpointing) const;

 private:
  void factorise();
  [[nodiscard]] GeneralProblem<T> adjoint_problem();

  const Context& ctx_;
  std::string name_;
  int exponent_;            ///< eigenvalues of the caller's matrix are 2^exponent times those of the scaled one
  GeneralOptions options_;  ///< for the scaled matrix
  std::optional<std::complex<double>> target_;
  std::function<void(const char*)> announce_;
  AnyView<T> matrix_;
  std::optional<AnyView<double>> real_;
  DeviceCopy<T> there_, adjoint_there_;
  AnyMatrix<T> adjoint_;
  std::optional<GeneralInverse<T>> inverse_;
  GeneralProblem<T> problem_;
  std::string note_;
};

}  // namespace ts::inline v0::solvers
