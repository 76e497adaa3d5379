// Numbers in 8 bits, and what rounding took. Internal to the room.
#pragma once

#include <new>
#include <vector>

#include "tallskinny/gemm/core/host_memory.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"

namespace ts::inline v0::assign_detail {

inline constexpr index_t most_columns_of_bytes = 1 << 16;  ///< of sums of products in 32 bits

/// Vectors that begin a line of the cache: tiles are loaded three times as fast then, and vectors of 64 bytes faster.
/// Numbers without a value are not set: memory is touched first by the thread that needs it.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  explicit LineAllocator(const LineAllocator<U>&) noexcept {}
  [[nodiscard]] T* allocate(std::size_t n) { return static_cast<T*>(allocate_host(n * sizeof(T))); }
  void deallocate(T* p, std::size_t) noexcept { release_host(p); }
  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  bool operator==(const LineAllocator&) const noexcept { return true; }
};
template <class T>
using InLines = std::vector<T, LineAllocator<T>>;

/// A vector x as bytes q: x is about q / factor.
struct Bytes {
  double unit;  ///< 1 / factor, or 0
  std::int32_t sum;
  double norm, error;  ///< ||q unit||, ||x - q unit||, at most
};
/// @param norm ||x||, @param columns a multiple of assign_cpu::byte_columns
Bytes round_to_bytes(const assign_cpu::PruningKernels& kernels, const float* x, index_t columns, double norm,
                     std::int8_t* bytes);

/// The weight w for which (w a, t) and (b / w, s) point the same way, squared: b t / (a s).
[[nodiscard]] double weight_for(double a, double t, double b, double s) noexcept;

/// A little more than x.
[[nodiscard]] float float_above(double x) noexcept;

/// A number that is not negative as float16, rounded towards 0.
[[nodiscard]] std::uint16_t half_below(float x) noexcept;

/// Centroids in groups of assign_cpu::group_centroids, in the layout of the kernels.
struct GroupsOfBytes {
  index_t columns = 0;
  InLines<std::uint8_t> quads;
  std::vector<float> half_norms, scale, radius;

  /// Makes room for `places` centroids; places without one never survive.
  GroupsOfBytes(const assign_cpu::PruningKernels& kernels, index_t places, index_t columns);
  void put(const assign_cpu::PruningKernels& kernels, index_t place, const std::int8_t* bytes, double unit);
  [[nodiscard]] index_t groups() const noexcept { return std::ssize(scale) / assign_cpu::group_centroids; }
  [[nodiscard]] assign_cpu::CentroidGroup group(index_t g) const noexcept {
    constexpr index_t size = assign_cpu::group_centroids;
    return {quads.data() + g * size * columns, half_norms.data() + g * size, scale.data() + g * size,
            radius.data() + g * size, static_cast<std::int32_t>(g * size)};
  }
};

}  // namespace ts::inline v0::assign_detail
