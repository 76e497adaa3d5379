// The operands of a case in device memory, made there.
#pragma once

#include <vector>

#include "tallskinny/app/tsbench/gpu/case.hpp"
#include "tallskinny/app/tsbench/gpu/kernels.hpp"
#include "tallskinny/app/tsbench/operands.hpp"

namespace ts::bench {

/// Which operand means what follows Operands: x and y the tall inputs, out the tall result, small the small
/// factor (row-major), result and gram what reductions give (row-major).
template <class T>
struct DeviceOperands {
  using R = result_t<T>;
  Problem problem;
  DeviceStrided<const T> x, y;
  DeviceStrided<R> out;
  DeviceStrided<const R> small;
  DeviceStrided<R> result, gram;
  CsrView<T, Space::device> sparse;
  SparsePattern pattern;
  const std::int32_t* short_pointers = nullptr;  ///< of sparse
};

/// Where operands begin; addresses of nothing, aligned as memory is, will do for planning.
struct Places {
  std::byte *x = address(1), *y = address(2), *out = address(3), *small = address(4), *result = address(5),
            *gram = address(6);
  [[nodiscard]] static std::byte* address(std::uintptr_t number) {
    return reinterpret_cast<std::byte*>(number << 44);  // NOLINT(performance-no-int-to-ptr): never followed
  }
};
/// The operands of a case but for its sparse matrix.
template <class T>
[[nodiscard]] DeviceOperands<T> operands_at(const Case& c, const Places& at);

/// The operands of one case; several sets where one would stay in the L2 cache.
template <class T>
struct OperandSets {
  Case described;
  std::vector<DeviceOperands<T>> sets;
  DeviceSparse<T> sparse;
};

/// Device memory for all cases.
class GpuPool {
 public:
  /// Room for the operands of each of these cases.
  GpuPool(const Context& ctx, const std::vector<Case>& cases);

  template <class T>
  [[nodiscard]] OperandSets<T> operands(const Case& c);
  /// What an operation in place overwrites, as operands() filled it.
  template <class T>
  void refill(const DeviceOperands<T>& o) const;

  [[nodiscard]] const cuda::Memory& source() const noexcept { return x_; }
  [[nodiscard]] const cuda::Memory& target() const noexcept { return out_; }

 private:
  const Context& ctx_;
  cuda::Memory x_, y_, out_, small_, result_, gram_;
};

}  // namespace ts::bench
