// Sums over blocks in an order that the grid alone fixes: every block leaves its partial result in global
// memory; the last block of each group to finish adds the group's partials in the order of their blocks, and
// the last group to finish adds the groups' sums. No atomics touch the numbers, so equal grids give equal
// bits, and one launch does it all.
#pragma once

#include "element.cuh"

/// Blocks [group * size, ...) of `blocks` make a group.
struct OrderedSum {
  double* partials;   ///< blocks * count
  double* groups;     ///< group_count * count
  unsigned* tickets;  ///< 1 + group_count, zero before and after
  int blocks, block, group_size;

  __device__ __forceinline__ int group_count() const { return (blocks + group_size - 1) / group_size; }

  /// Called by all threads of every block after the block's `count` partial values were written to
  /// partials + block * count. True in the one block that shall finish; then groups holds the addends.
  __device__ __forceinline__ bool last(int count, int thread, int threads) const {
    const int group = block / group_size, begin = group * group_size;
    const int size = blocks - begin < group_size ? blocks - begin : group_size;
    if (!last_of(tickets + 1 + group, size, thread)) return false;
    for (int e = thread; e < count; e += threads)
      groups[static_cast<int64>(group) * count + e] = sum(partials + static_cast<int64>(begin) * count + e, count, size);
    return last_of(tickets, group_count(), thread);
  }
  /// Value `e` of the result, in the block for which last() was true.
  __device__ __forceinline__ double total(int count, int e) const { return sum(groups + e, count, group_count()); }

 private:
  static __device__ __forceinline__ double sum(const double* from, int stride, int size) {
    double s = 0;
#pragma unroll 12
    for (int i = 0; i < size; ++i) s += __ldcg(from + static_cast<int64>(i) * stride);
    return s;
  }
  /// Whether this block is the last of `size` to come here.
  static __device__ __forceinline__ bool last_of(unsigned* ticket, int size, int thread) {
    __shared__ int is_last;
    __threadfence();
    __syncthreads();
    if (thread == 0) {
      is_last = atomicAdd(ticket, 1u) == static_cast<unsigned>(size) - 1;
      if (is_last) *ticket = 0;
    }
    __syncthreads();
    __threadfence();
    return is_last != 0;
  }
};
