// A GPU as a place where cases are measured.
#pragma once

#include "tallskinny/app/tsbench/gpu/pool.hpp"
#include "tallskinny/app/tsbench/measure.hpp"

namespace ts::bench {

class GpuPlace {
 public:
  static constexpr Space space = Space::device;

  /// Compiles, in parallel, what the cases and the benchmark itself need; takes memory; measures the roofs. `ctx` is
  /// kept.
  GpuPlace(const Context& ctx, const std::vector<Case>& cases);

  [[nodiscard]] Measured measure(const Case& c, const Effort& effort);
  /// The device with rates as measured.
  [[nodiscard]] const cuda::DeviceInfo& roofs() const noexcept { return roofs_; }

  // What measure_on asks for.
  [[nodiscard]] const Context& context() const noexcept { return ctx_; }
  template <class T>
  [[nodiscard]] DeviceSets<T> operands(const Case& c) const {
    return pool_.operands<T>(c);
  }
  template <class T>
  void refill(const DeviceOperands<T>& o) const {
    pool_.refill(o);
  }
  /// A number that tells two results apart.
  template <class T>
  [[nodiscard]] std::uint64_t bits_of(const DeviceOperands<T>& o) const;
  /// Ours one by one and in a graph, then the vendor's best.
  template <class T>
  void time(const std::vector<DeviceOperands<T>>& sets, const Effort& effort, Measured& m) const;
  void judge(Measured& m) const;

 private:
  template <class T>
  void time_vendor(const std::vector<DeviceOperands<T>>& sets, const Effort& effort, Measured& m) const;
  template <class T>
  void time_candidates(const std::vector<DeviceOperands<T>>& sets, const Effort& effort, Measured& m) const;
  const Context& ctx_;
  GpuPool pool_;
  cuda::DeviceInfo roofs_;
};

}  // namespace ts::bench
