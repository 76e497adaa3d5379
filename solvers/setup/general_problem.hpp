// From a matrix in memory to the problem that solve_general is given.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"

namespace ts::inline v0::solvers {

template <class T>
struct GeneralAssembled {
  GeneralProblem<T> problem;
  std::string note;  ///< empty, or a sentence on a shift that was moved or could not be factorised
  /// Operands of the problem's products beside the matrix: copies on a device, the adjoint once it is asked for.
  struct Kept {
    AnyMatrix<T> adjoint;
    DeviceCopy<T> there, adjoint_there;
  };
  std::shared_ptr<Kept> kept;
};

/// The number as T; of a complex one the real part, where T is real.
template <class T>
[[nodiscard]] T as_scalar(std::complex<double> z) {
  if constexpr (is_complex<T>)
    return z;
  else
    return z.real();
}

/// A x = lambda x near a target, or without one. Where ctx has a stream, products run there. The matrix must outlive
/// it. What is decomposed as a whole is not factorised; nor is what has no factors near the target, if it may be.
/// @param options of the search
/// @param note called before long steps: "factorising A - sigma I", "asking the adjoint matrix"; may be empty
/// @throws Error(invalid_argument) when no shift near the target can be factorised.
template <class T>
[[nodiscard]] GeneralAssembled<T> assemble_general(const Context& ctx, const AnyView<T>& matrix,
                                                   std::optional<T> target, const EigenOptions& options,
                                                   const std::function<void(const char*)>& note = {});

}  // namespace ts::inline v0::solvers
