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
[[nodiscard]] SvdsResult<T> svds(const Context&, Borrowed<T>&& a, index_t k, const SvdsOptions&);
/// The largest of a tall, narrow matrix in host memory whose elements are not those that are computed with: of another
/// type, by columns, or to be centred. It is read where it lies, a block of rows at a time, which becomes float64.
/// Nothing for all others.
[[nodiscard]] std::optional<SvdsResult<double>> svds_by_blocks(const Context&, const Rows& a, index_t k,
                                                               const SvdsOptions&);
/// The largest of a tall, narrow, row-major matrix of float64 or float32 on the device of ctx.stream: no large block
/// leaves it. Nothing for all others, and where squares of the elements, or NaN, need a look on the host.
[[nodiscard]] std::optional<SvdsResult<double>> svds_on_device(const Context&, const Rows& a, index_t k,
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

/// svds() of a dense matrix on the device of ctx.stream. Of a tall and narrow one in float64 or float32 the largest are
/// computed there; other matrices are copied to the host first.
template <class U, Layout L>
[[nodiscard]] auto svds(const Context& ctx, const MatrixView<U, Space::device, L>& a, index_t k,
                        const SvdsOptions& options = {}) {
  using E = std::remove_const_t<U>;
  const UseHostMemory use(ctx.host_memory);
  if constexpr (!is_complex<E>)
    if (auto found = driver::svds_on_device(ctx, Rows(ctx.stream, a), k, options)) return *std::move(found);
  const bool rows = L == Layout::row_major;
  Matrix<E> here(rows ? a.rows() : a.cols(), rows ? a.cols() : a.rows(), ctx.host_memory);
  copy(ctx.stream, here.view(), DeviceView<const E>::unchecked(a.data(), here.rows(), here.cols(), a.ld()));
  ctx.stream.synchronize();
  return svds(ctx, HostView<const E, L>::unchecked(here.data(), a.rows(), a.cols(), here.cols()), k, options);
}

/// svds() of any operator that multiplies blocks from both sides: largest values, no columns centred.
template <class T>
[[nodiscard]] SvdsResult<T> svds(const Context& ctx, const Rectangular<T>& a, index_t k, const SvdsOptions& = {});

}  // namespace ts::inline v0::solvers
