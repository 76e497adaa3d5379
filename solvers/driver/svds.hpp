// A few singular triplets of a matrix in one call.
#pragma once

#include "tallskinny/solvers/driver/borrowed.hpp"
#include "tallskinny/solvers/svd/svd.hpp"

namespace ts::inline v0::solvers {

/// EigenOptions as solve_svd reads them; `nev` has no say. `which` SM or SA: the smallest, else the largest.
struct SvdsOptions : EigenOptions {
  bool centre = false;  ///< subtract the mean of each column: principal components. A dense matrix is copied for that
};

/// A V = U diag(sigma). SvdResult says how far it came in `triplets`. With Results::on_device u() and v() have no
/// columns, and device_u() and device_v() stand for them.
template <class T>
struct SvdsResult : SvdResult<T> {
  std::vector<T> means;                          ///< of the columns, where they were subtracted
  std::vector<double> explained_variance_ratio;  ///< then also: sigma^2 over the sum of all
  std::vector<double> backward_errors;           ///< residual norms over ||A||

  [[nodiscard]] const std::vector<double>& values() const noexcept { return this->triplets.values; }
  [[nodiscard]] const Matrix<T>& u() const noexcept { return this->left; }              ///< m x k
  [[nodiscard]] const Matrix<T>& v() const noexcept { return this->triplets.vectors; }  ///< n x k
  [[nodiscard]] const DeviceMatrix<T>& device_u() const noexcept { return this->device_left; }
  [[nodiscard]] const DeviceMatrix<T>& device_v() const noexcept { return this->triplets.device_vectors; }
};

namespace driver {
template <class T>
[[nodiscard]] SvdsResult<T> svds(const Context&, const Borrowed<T>& a, index_t k, const SvdsOptions&);
}  // namespace driver

/// The k largest or smallest singular values of a matrix with their vectors, as `tssolve --svd` finds them.
/// @param a m x n, as for eigsh()
/// @throws Error(invalid_argument) naming the option that cannot be met; Error(bad_input) for NaN or Inf. Not
/// converging is a returned outcome.
template <MatrixInMemory M>
[[nodiscard]] auto svds(const Context& ctx, const M& a, index_t k, const SvdsOptions& options = {}) {
  using T = ts::wide_t<element_of_t<M>>;
  const UseHostMemory use(ctx.host_memory);
  return driver::svds<T>(ctx, Borrowed<T>(host_view_of(a)), k, options);
}

/// The same of anything that multiplies blocks from both sides; the largest, and no columns centred.
template <class T>
[[nodiscard]] SvdsResult<T> svds(const Context& ctx, const Rectangular<T>& a, index_t k, const SvdsOptions& = {});

}  // namespace ts::inline v0::solvers
