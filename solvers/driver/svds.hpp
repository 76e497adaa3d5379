// A few singular triplets of a matrix in one call.
#pragma once

#include <optional>

#include "tallskinny/solvers/driver/borrowed.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"
#include "tallskinny/solvers/svd/svd.hpp"

namespace ts::inline v0::solvers {

/// EigenOptions as solve_svd reads them; `nev` has no say. `which` SM or SA: the smallest, else the largest.
struct SvdsOptions : EigenOptions {
  bool centre = false;  ///< subtract the mean of each column: principal components
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
/// The largest of a tall, narrow matrix in host memory whose elements are not those that are computed with: of another
/// type, by columns, or to be centred. It is read where it lies, a block of rows at a time, which becomes float64.
/// Nothing for all others.
[[nodiscard]] std::optional<SvdsResult<double>> svds_by_blocks(const Context&, const Rows& a, index_t k,
                                                               const SvdsOptions&);
}  // namespace driver

/// The k largest or smallest singular values of a matrix with their vectors, as `tssolve --svd` finds them.
/// @param a m x n, as for eigsh(). The largest of a tall and narrow dense one, and its principal components, take no
/// copy, whatever its type and layout.
/// @throws Error(invalid_argument) naming the option that cannot be met; Error(bad_input) for NaN or Inf. Not
/// converging is a returned outcome.
template <MatrixInMemory M>
[[nodiscard]] auto svds(const Context& ctx, const M& a, index_t k, const SvdsOptions& options = {}) {
  using T = ts::wide_t<element_of_t<M>>;
  const UseHostMemory use(ctx.host_memory);
  const auto view = host_view_of(a);
  if constexpr (std::is_same_v<T, double> && requires { view.row_stride(); })
    if (auto found = driver::svds_by_blocks(ctx, Rows(view), k, options)) return *std::move(found);
  return driver::svds<T>(ctx, Borrowed<T>(view), k, options);
}

/// svds() of any operator that multiplies blocks from both sides: largest values, no columns centred.
template <class T>
[[nodiscard]] SvdsResult<T> svds(const Context& ctx, const Rectangular<T>& a, index_t k, const SvdsOptions& = {});

}  // namespace ts::inline v0::solvers
