// How cuSOLVER is called: matrices there and back, workspace, devInfo. For the .cpp files of this folder alone.
#pragma once

#include <vector>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/long_copy.hpp"
#include "tallskinny/solvers/eigen/dense/cusolver_library.hpp"

namespace ts::inline v0::solvers::cusolver {

/// Whether devInfo is zero; waits for it.
[[nodiscard]] inline bool is_zero(const cuda::Stream& stream, const cuda::Memory& info) {
  int value = 0;
  cuda::copy_bytes(stream, &value, info.data(), sizeof value);
  stream.synchronize();
  return value == 0;
}

/// with(routine, ...) calls a routine with all of its arguments but these: the workspace, as `size` tells it, and
/// devInfo. Returns whether that is zero.
template <class With, class OfSize, class Routine, class... More>
[[nodiscard]] bool run(const cuda::Stream& stream, const char* what, const With& with, OfSize size, Routine routine,
                       More... more) {
  Bytes there = 0, here = 0;
  check(with(size, &there, &here), what);
  const cuda::Memory workspace(stream, there), info(stream, sizeof(int));
  std::vector<std::byte> host(here);
  check(with(routine, workspace.data(), there, host.data(), here, static_cast<int*>(info.data()), more...), what);
  return is_zero(stream, info);
}

/// A matrix of the host, row by row.
template <class E>
[[nodiscard]] DeviceMatrix<E> sent(const cuda::Stream& stream, HostView<const E> a) {
  DeviceMatrix<E> there(stream, a.rows(), a.cols());
  if (a.ld() == a.cols()) {
    cuda::upload(stream, there.data(), a.data(), static_cast<Bytes>(a.rows() * a.cols()) * sizeof(E));
  } else {
    copy(stream, there.view(), a);
    stream.synchronize();
  }
  return there;
}

template <class E>
[[nodiscard]] Matrix<E> fetched(const cuda::Stream& stream, const DeviceMatrix<E>& there) {
  Matrix<E> here(there.rows(), there.cols());
  cuda::download(stream, here.data(), there.data(), static_cast<Bytes>(here.rows() * here.cols()) * sizeof(E));
  return here;
}

}  // namespace ts::inline v0::solvers::cusolver
