// Arrays of Python as operands of the engine, and what the library owns as arrays of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <complex>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::python {

namespace nb = nanobind;
using In = nb::ndarray<nb::ro>;
using Out = nb::ndarray<>;

/// A two-dimensional array wherever it lies; owns nothing.
struct Operand {
  void* data = nullptr;
  DType type = DType::float64;
  index_t rows = 0, cols = 0, row_stride = 0, col_stride = 0;
  Space space = Space::host;
  int device = 0;

  /// Its elements for an operation of `ctx`.
  /// @throws Error(invalid_argument) for an array of another type, or on another device.
  template <class T, Space S>
  [[nodiscard]] Strided<T, S> as(const char* name, const Context& ctx) const {
    if (S == Space::device && space == S && device != ctx.stream.device().index)
      throw Error(Errc::invalid_argument, std::string(name) + " is on device " + std::to_string(device) +
                                              ", the first array on device " +
                                              std::to_string(ctx.stream.device().index) + ": move one of them");
    return as<T, S>(name);
  }
  /// @throws Error(invalid_argument) for an array of another type.
  template <class T, Space S>
  [[nodiscard]] Strided<T, S> as(const char* name) const {
    if (type != dtype_of<std::remove_const_t<T>>)
      throw Error(Errc::invalid_argument, std::string(name) + " is of " + std::string(name_of(type)) + " where " +
                                              std::string(name_of(dtype_of<std::remove_const_t<T>>)) +
                                              " is needed: convert it by astype()");
    if (space != S)
      throw Error(Errc::invalid_argument,
                  std::string(name) + " and the first array lie in different memory: move one of them");
    return Strided<T, S>(static_cast<T*>(data), rows, cols, row_stride, col_stride);
  }
};

/// @throws Error(invalid_argument) for an array that is not two-dimensional, or of a type that the engine lacks.
[[nodiscard]] Operand operand_of(const In& a, const char* name);
[[nodiscard]] Operand operand_of(const Out& a, const char* name);

/// The stream that operations of this thread on a device use.
[[nodiscard]] cuda::Stream stream_of(int device);
/// `ctx` with the stream of this thread on the operand's device; `ctx` itself for operands in host memory.
[[nodiscard]] Context context_at(const Context& ctx, const Operand& where);

/// body.operator()<T>() for the element type.
template <class Body>
auto with_type(DType type, Body&& body) {
  return by_type(type, [&]<class T>(std::type_identity<T>) { return body.template operator()<T>(); });
}

/// A list of elements in host memory, contiguous.
template <class T>
[[nodiscard]] std::pair<const T*, index_t> list_of(const In& a, const char* name) {
  if (a.ndim() != 1 || a.dtype() != nb::dtype<T>() || a.device_type() != nb::device::cpu::value ||
      (a.shape(0) > 1 && a.stride(0) != 1))
    throw Error(Errc::invalid_argument, std::string(name) + " must be a contiguous list in host memory");
  return {static_cast<const T*>(a.data()), static_cast<index_t>(a.shape(0))};
}

/// (indptr, indices, data, columns) of a sparse matrix, as csr_parts() of _arrays.py makes them.
using CsrParts = std::tuple<In, In, In, index_t>;
template <class T>
[[nodiscard]] CsrView<T> csr_of(const CsrParts& parts) {
  const auto pointers = list_of<index_t>(std::get<0>(parts), "indptr");
  const auto indices = list_of<std::int32_t>(std::get<1>(parts), "indices");
  return {pointers.second - 1, std::get<3>(parts), pointers.first, indices.first,
          list_of<T>(std::get<2>(parts), "data").first};
}

/// The value that a word of a list stands for. @throws Error(invalid_argument) naming all of them.
template <class Enum, std::size_t N>
Enum word_of(const std::string& word, const char* what, const std::pair<const char*, Enum> (&words)[N]) {
  std::string all;
  for (const auto& [name, value] : words) {
    if (word == name) return value;
    all += (all.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  throw Error(Errc::invalid_argument, std::string(what) + "='" + word + "' is none of " + all);
}

/// An array of NumPy over what `owner` holds; no copy.
template <class T, class Owner>
[[nodiscard]] nb::object array_of(Owner&& owner, const T* data, std::initializer_list<std::size_t> shape) {
  auto kept = std::make_unique<std::decay_t<Owner>>(std::forward<Owner>(owner));
  nb::capsule capsule(kept.get(), [](void* p) noexcept { delete static_cast<std::decay_t<Owner>*>(p); });
  kept.release();
  return nb::cast(nb::ndarray<nb::numpy, T>(const_cast<T*>(data), shape.size(), shape.begin(), capsule));
}
template <class T>
[[nodiscard]] nb::object array_of(std::vector<T> values) {
  const T* const data = values.data();
  const std::size_t size = values.size();
  return array_of<T>(std::move(values), data, {size});
}
template <class T>
[[nodiscard]] nb::object array_of(Matrix<T> m) {
  const T* const data = m.data();
  const auto rows = static_cast<std::size_t>(m.rows()), cols = static_cast<std::size_t>(m.cols());
  return array_of<T>(std::move(m), data, {rows, cols});
}

/// A matrix on a device as an object of DLPack, which other libraries take without a copy.
template <class T>
[[nodiscard]] nb::object array_of(DeviceMatrix<T> m, int device) {
  const std::size_t shape[] = {static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())};
  T* const data = m.data();
  auto kept = std::make_unique<DeviceMatrix<T>>(std::move(m));
  nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<DeviceMatrix<T>*>(p); });
  kept.release();
  return nb::cast(nb::ndarray<nb::array_api, T, nb::device::cuda>(data, 2, shape, owner, nullptr, nb::dtype<T>(),
                                                                  nb::device::cuda::value, device));
}

void add_engine(nb::module_& m);
void add_kmeans(nb::module_& m);
void add_eigen(nb::module_& m);
void add_files(nb::module_& m);

}  // namespace ts::python
