// Arrays of other libraries through DLPack: as views without a copy, and owners of this library as tensors.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "tallskinny/gemm/adaptors/dlpack.h"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/placed.hpp"

namespace ts::inline v0 {

/// T in DLPack's words. T: the six element types, std::int32_t or std::int64_t.
template <class T>
[[nodiscard]] constexpr DLDataType dl_type() noexcept {
  constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
  if constexpr (std::is_integral_v<T>)
    return {kDLInt, bits, 1};
  else if constexpr (is_complex<T>)
    return {kDLComplex, bits, 1};
  else if constexpr (bits == 16 && digits_of(dtype_of<T>) == 8)  // the upper half of a float
    return {kDLBfloat, bits, 1};
  else
    return {kDLFloat, bits, 1};
}

/// Whether the elements of a tensor are of type T.
template <class T>
[[nodiscard]] constexpr bool holds(const DLTensor& t) noexcept {
  constexpr DLDataType wanted = dl_type<T>();
  return t.dtype.code == wanted.code && t.dtype.bits == wanted.bits && t.dtype.lanes == 1;
}

/// Whether its elements are in host memory, or in that of a GPU.
/// @throws Error(invalid_argument) for memory of another kind.
[[nodiscard]] inline Space space_of(const DLTensor& t) {
  const int kind = static_cast<int>(t.device.device_type);
  expects(kind == kDLCPU || kind == kDLCUDAHost || kind == kDLCUDA || kind == kDLCUDAManaged,
          "a DLPack tensor is neither in host memory nor in that of a CUDA device");
  return kind == kDLCPU || kind == kDLCUDAHost ? Space::host : Space::device;
}

/// @throws Error(invalid_argument) naming both devices unless the tensor is on that of the stream. Managed memory,
/// which every device reads, is on each.
inline void expects_on_device_of(const cuda::Stream& stream, const DLTensor& t) {
  expects(space_of(t) == Space::device, "a DLPack tensor is in host memory where a device is asked for");
  if (t.device.device_type == kDLCUDAManaged || t.device.device_id == stream.device().index) return;
  throw Error(Errc::invalid_argument, "a DLPack tensor is on device " + std::to_string(t.device.device_id) +
                                          ", the context on device " + std::to_string(stream.device().index) +
                                          ": move one of them");
}

/// rows x cols with their strides in elements; a tensor of one dimension is a column.
struct DLShape {
  index_t rows = 0, cols = 1, row_stride = 1, col_stride = 1;
};
/// @throws Error(invalid_argument) for other than one or two dimensions.
[[nodiscard]] inline DLShape dl_shape(const DLTensor& t) {
  expects(t.ndim == 1 || t.ndim == 2, "a DLPack tensor has other than one or two dimensions");
  DLShape s{t.shape[0], t.ndim == 2 ? t.shape[1] : 1, 0, 1};
  s.row_stride = t.strides != nullptr ? t.strides[0] : s.cols;
  if (t.strides != nullptr && t.ndim == 2) s.col_stride = t.strides[1];
  return s;
}

/// Whether dl_view with this layout takes it: which neighbours have no gap between them.
template <Layout L>
[[nodiscard]] bool has_layout(const DLTensor& t) {
  const DLShape s = dl_shape(t);
  if constexpr (L == Layout::row_major)
    return (s.col_stride == 1 || s.cols <= 1) && (s.rows <= 1 || s.row_stride >= s.cols);
  else
    return (s.row_stride == 1 || s.rows <= 1) && (s.cols <= 1 || s.col_stride >= s.rows);
}

/// The elements of a tensor where they are, rows x cols, which the tensor keeps alive. T may be const. Of a tensor on a
/// device nothing says which: give the context, too.
/// @throws Error(invalid_argument) for another element type, place or layout than asked for.
template <class T, Space S = Space::host, Layout L = Layout::row_major>
[[nodiscard]] MatrixView<T, S, L> dl_view(const DLTensor& t) {
  expects(holds<std::remove_const_t<T>>(t), "a DLPack tensor has another element type than asked for");
  expects(space_of(t) == S, S == Space::host ? "a DLPack tensor is on a device where host memory is asked for"
                                             : "a DLPack tensor is in host memory where a device is asked for");
  expects(has_layout<L>(t), "a DLPack tensor has strides of another layout than asked for");
  const DLShape s = dl_shape(t);
  const index_t least = L == Layout::row_major ? s.cols : s.rows;
  const index_t ld =
      L == Layout::row_major ? (s.rows <= 1 ? least : s.row_stride) : (s.cols <= 1 ? least : s.col_stride);
  return {reinterpret_cast<T*>(static_cast<char*>(t.data) + t.byte_offset), s.rows, s.cols, ld};
}

/// The same for operations of `ctx`: a tensor on a device must be on that of ctx.stream.
/// @throws Error(invalid_argument) for another device, naming both; Error(no_device) where ctx has none.
template <class T, Space S = Space::host, Layout L = Layout::row_major>
[[nodiscard]] MatrixView<T, S, L> dl_view(const Context& ctx, const DLTensor& t) {
  if constexpr (S == Space::device) expects_on_device_of(ctx.stream, t);
  return dl_view<T, S, L>(t);
}

/// The same, wherever a row-major tensor is.
/// @throws Error(invalid_argument) and Error(no_device) as dl_view.
template <class T>
[[nodiscard]] PlacedView<T> dl_placed(const Context& ctx, const DLTensor& t) {
  if (space_of(t) == Space::host) return dl_view<T>(t);
  return dl_view<T, Space::device>(ctx, t);
}

/// Memory with an owner as a tensor. Its consumer calls the deleter, which lets go of `owner`.
/// @param shape one or two numbers, as `dimensions` says
/// @param strides in elements
[[nodiscard]] inline DLManagedTensor* dl_tensor(std::shared_ptr<const void> owner, const void* data, DLDataType type,
                                                DLDevice device, std::array<index_t, 2> shape,
                                                std::array<index_t, 2> strides, int dimensions) {
  struct Held {
    DLManagedTensor tensor;
    std::array<std::int64_t, 2> shape, strides;
    std::shared_ptr<const void> owner;
  };
  auto held = std::make_unique<Held>();
  held->shape = shape, held->strides = strides, held->owner = std::move(owner);
  DLTensor& t = held->tensor.dl_tensor;
  t.data = const_cast<void*>(data);
  t.device = device;
  t.ndim = dimensions, t.dtype = type;
  t.shape = held->shape.data(), t.strides = held->strides.data(), t.byte_offset = 0;
  held->tensor.manager_ctx = held.get();
  held->tensor.deleter = [](DLManagedTensor* self) { delete static_cast<Held*>(self->manager_ctx); };
  return &held.release()->tensor;
}

/// Host memory without gaps, row-major.
[[nodiscard]] inline DLManagedTensor* dl_tensor(std::shared_ptr<const void> owner, const void* data, DLDataType type,
                                                std::array<index_t, 2> shape, int dimensions) {
  const index_t row = dimensions == 2 ? shape[1] : 1;
  return dl_tensor(std::move(owner), data, type, {kDLCPU, 0}, shape, {row, 1}, dimensions);
}

/// An owner (Matrix, DeviceMatrix, PlacedMatrix) as a tensor rows x cols that owns it, in its layout.
template <class Owner>
[[nodiscard]] DLManagedTensor* dl_tensor_of(Owner matrix, DLDevice device) {
  const auto owner = std::make_shared<const Owner>(std::move(matrix));
  const auto view = owner->view();
  std::array<index_t, 2> strides = {view.ld(), 1};
  if constexpr (requires { requires !decltype(view)::row_major; }) strides = {1, view.ld()};
  return dl_tensor(owner, view.data(), dl_type<typename Owner::value_type>(), device, {view.rows(), view.cols()},
                   strides, 2);
}

/// A matrix in host memory as a tensor that owns it, rows x cols in its layout.
template <class T, Layout L>
[[nodiscard]] DLManagedTensor* to_dlpack(Matrix<T, Space::host, L> matrix) {
  return dl_tensor_of(std::move(matrix), {kDLCPU, 0});
}

/// A matrix on the device of `stream` likewise. Waits for the work given to the stream, of which a consumer knows
/// nothing. @throws Error(device_failure) if any of it failed; Error(no_device) for a stream without a device.
template <class T, Layout L>
[[nodiscard]] DLManagedTensor* to_dlpack(const cuda::Stream& stream, DeviceMatrix<T, L> matrix) {
  stream.synchronize();
  return dl_tensor_of(std::move(matrix), {kDLCUDA, stream.device().index});
}

/// A matrix wherever it is; on a device as above.
template <class T>
[[nodiscard]] DLManagedTensor* to_dlpack(const Context& ctx, PlacedMatrix<T> matrix) {
  if (matrix.space() == Space::host) return dl_tensor_of(std::move(matrix), {kDLCPU, 0});
  ctx.stream.synchronize();
  return dl_tensor_of(std::move(matrix), {kDLCUDA, ctx.stream.device().index});
}

/// Takes a tensor over: calls its deleter at the end.
struct DLRelease {
  void operator()(DLManagedTensor* t) const noexcept {
    if (t != nullptr && t->deleter != nullptr) t->deleter(t);
  }
};
using DLOwner = std::unique_ptr<DLManagedTensor, DLRelease>;

}  // namespace ts::inline v0
