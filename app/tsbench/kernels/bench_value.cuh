// The numbers in [-1, 1) that benchmarks compute with: a function of a counter, the same on host and device
// (app/tsbench/values.hpp).
#pragma once

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
