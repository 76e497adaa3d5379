// The products of a sparse matrix by rows on the GPU of each rank.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"

namespace ts::inline v0::solvers {

/// Neighbouring rows of a halo that come from one rank, or rows of a list that go to one.
struct HaloMessage {
  int rank;
  index_t begin, count;
};

/// A rank's parts of a sparse matrix that is distributed by rows (CsrRows).
template <class T>
struct HaloParts {
  CsrView<T> inner;                          ///< all rows here; those of `outer` are empty in it
  CsrView<T> outer;                          ///< columns: outer_rows, others, halo
  std::span<const std::int32_t> outer_rows;  ///< of each row of outer, its number here
  std::span<const std::int32_t> others;      ///< further rows of X here that outer has columns of
  std::span<const std::int32_t> sent;        ///< rows of X that other ranks ask for
  std::span<const HaloMessage> to, from;
  index_t of_row = 0;  ///< entries of a row of the whole matrix on average
};

/// A copy on the device of a stream. Rows that need elements of other ranks go through a second stream, beside the
/// others. At level gpu_to_gpu the bits are those of CsrOperator with the whole matrix on one device. One thread at a
/// time; not copied.
template <class T>
class DeviceCsrRows {
 public:
  /// @throws Error(out_of_memory).
  DeviceCsrRows(const Context& ctx, const HaloParts<T>& parts);

  void apply(const Context& ctx, DeviceView<const T> x, DeviceView<T> y);
  /// Y = alpha (A - shift I) X + beta Y
  void update(const Context& ctx, T alpha, T shift, DeviceView<const T> x, T beta, DeviceView<T> y);
  /// @param theta 1 x the columns of X, on the device.
  void residual(const Context& ctx, DeviceView<const T> x, DeviceView<const double> theta, DeviceView<T> r);

 private:
  template <class Product>
  void in_two_parts(const Context& ctx, DeviceView<const T> x, DeviceView<T> y, bool adds, const Product& product);
  [[nodiscard]] std::unique_ptr<Exchange> exchange(const Context& ctx, index_t cols);
  [[nodiscard]] DeviceView<T> block(const Context& ctx, DeviceMatrix<T>& memory, index_t rows, index_t cols) const;

  DeviceCsrMatrix<T> inner_, outer_;
  index_t of_row_;
  DeviceMatrix<std::int32_t> outer_rows_;  ///< 1 x their number, as all of these
  DeviceMatrix<std::int32_t> own_;         ///< they, and the others
  DeviceMatrix<std::int32_t> sent_;
  std::vector<HaloMessage> to_, from_;
  cuda::Stream beside_;
  cuda::Event ready_, done_;
  DeviceMatrix<T> sends_, copies_, results_;  ///< grown as blocks get wider
};

}  // namespace ts::inline v0::solvers
