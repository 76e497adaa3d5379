// The operands of a case in device memory, made there.
#pragma once

#include "tallskinny/app/tsbench/gpu/kernels.hpp"
#include "tallskinny/app/tsbench/operands.hpp"

namespace ts::bench {

/// The operands of one case; several sets where one would stay in the L2 cache.
template <class T>
struct DeviceSets {
  std::vector<DeviceOperands<T>> sets;
  DeviceSparse<T> sparse;
};

/// Device memory for all cases.
class GpuPool {
 public:
  /// Enough for the operands of each of these cases.
  GpuPool(const Context& ctx, const std::vector<Case>& cases);

  template <class T>
  [[nodiscard]] DeviceSets<T> operands(const Case& c) const;
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
