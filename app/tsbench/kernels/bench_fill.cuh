// Element c of line l of an operand becomes the value of key seed + l line_step + c step.
// The numbers in [-1, 1) are those of app/tsbench/operands.hpp on the host.
#include "tallskinny/gemm/device/element.cuh"

__device__ __forceinline__ double uniform_at(uint64 key) {
  uint64 z = (key + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

template <class T>
struct Value {
  static __device__ __forceinline__ T at(uint64 key) { return static_cast<T>(uniform_at(key)); }
};
template <class R>
struct Value<Complex<R>> {
  static __device__ __forceinline__ Complex<R> at(uint64 key) { return {Value<R>::at(key), Value<R>::at(~key)}; }
};
template <>
struct Value<Half> {
  static __device__ __forceinline__ Half at(uint64 key) {
    Half half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(Value<float>::at(key)));
    return half;
  }
};
template <>
struct Value<Bfloat> {
  static __device__ __forceinline__ Bfloat at(uint64 key) {
    Bfloat half;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half.bits) : "f"(Value<float>::at(key)));
    return half;
  }
};

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bench_fill(const __grid_constant__ ts::bench::FillArguments in) {
  auto* const a = static_cast<Element*>(in.a);
  const int64 count = in.lines * in.length, stride = static_cast<int64>(gridDim.x) * policy.threads;
  for (int64 e = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x; e < count; e += stride) {
    const int64 l = e / in.length, c = e - l * in.length;
    a[l * in.ld + c] =
        Value<Element>::at(in.seed + static_cast<uint64>(l) * in.line_step + static_cast<uint64>(c) * in.step);
  }
}
