// The operands of project.cuh in a slot of shared memory.
#pragma once

#include "tallskinny/gemm/device/operand.cuh"

using V = TallStream<policy.v()>;
using W = TallStream<policy.w()>;
constexpr int p_scalars = V::scalars, q_scalars = W::scalars;

/// A group of warps. Its first one keeps the ring filled with every `stride`-th chunk.
struct Group {
  const V& v;
  const W& w;
  const OperandArgument& w_argument;
  int64 rows;
  unsigned char* slots;
  uint64* full;  ///< barriers of the slots
  int warp, thread;
  int64 chunks, stride, first, next;
  int slot = 0;

  __device__ __forceinline__ void fill_next(int lane) {
    if (next < chunks) {
      unsigned char* const to = slots + slot * policy.slot_bytes();
      if constexpr (policy.uses_v()) v.fill(next, to, full + slot, lane, 32);
      w.fill(next, to + policy.w_offset(), full + slot, lane, 32);
    }
    next += stride;
    if (++slot == policy.stages) slot = 0;
  }
};

/// Bytes from the beginning of a row in shared memory to one of its scalars.
template <class Side>
__device__ __forceinline__ int scalar_offset(int scalar) {
  return Side::by_columns ? scalar / parts * Side::column_pitch + scalar % parts * Side::scalar_size
                          : scalar * Side::scalar_size;
}

/// Element (i, j) of a small matrix.
__device__ __forceinline__ Result* at(const ts::cuda::ProjectMatrix& m, int64 i, int64 j) {
  return static_cast<Result*>(m.data) + i * m.row_stride + j * m.column_stride;
}
