// The Cholesky factorisation of a sparse matrix, with its factor at hand.
#pragma once

#include <memory>
#include <string_view>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::solvers {

/// What a factor L of P M P^T = L L^H does to a block.
enum class CholeskyStep {
  multiply,          ///< P^T L X
  multiply_adjoint,  ///< L^H P X
  solve,             ///< L^-1 P X
  solve_adjoint      ///< P^T L^-H X
};

/// P M P^T = L L^H of a sparse Hermitian positive definite M, n x n, P a fill-reducing order. T: double or
/// std::complex<double>.
template <class T>
class CholeskyFactor {
 public:
  CholeskyFactor() = default;
  CholeskyFactor(const CholeskyFactor&) = delete;
  CholeskyFactor& operator=(const CholeskyFactor&) = delete;
  virtual ~CholeskyFactor() = default;

  /// The library that factorised.
  [[nodiscard]] virtual std::string_view by() const noexcept = 0;
  /// Y = step(X), n x p; X and Y may be one. The bits do not depend on the number of threads.
  virtual void apply(const Context& ctx, CholeskyStep step, HostView<const T> x, HostView<T> y) const = 0;
};

/// Who factorises: CHOLMOD where it was found when this was built, is there, and says that a factor by blocks pays; or
/// an own factorisation column by column, which best takes for few flops, too.
enum class CholeskyBackend { best, cholmod, by_columns };

/// Entries of both triangles are stored; those that stand twice are added up. Null unless M is positive definite.
/// @throws Error(invalid_argument) where the backend that is asked for does not serve, Error(out_of_memory).
template <class T>
[[nodiscard]] std::unique_ptr<CholeskyFactor<T>> cholesky(CsrView<T> m,
                                                          CholeskyBackend backend = CholeskyBackend::best);

}  // namespace ts::inline v0::solvers
