// Copies of matrices in the memory of a GPU, and back.
#pragma once

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::test {

template <class T>
DeviceMatrix<T> copy_there(const Context& ctx, const Matrix<T>& x) {
  DeviceMatrix<T> there(ctx.stream, x.rows(), x.cols());
  copy(ctx.stream, there.view(), x.cview());
  ctx.stream.synchronize();
  return there;
}

template <class T, Layout L>
Matrix<T, Space::host, L> copy_here(const cuda::Stream& stream, const DeviceMatrix<T, L>& there) {
  Matrix<T, Space::host, L> x(there.rows(), there.cols());
  copy(stream, x.view(), there.cview());
  stream.synchronize();
  return x;
}

}  // namespace ts::test
