// Sums over blocks in an order that the grid alone fixes: every block leaves its partial result in global
// memory; the last block of each group to finish adds the group's partials in the order of their blocks, and
// the last group to finish adds the groups' sums. No atomics touch the numbers, so equal grids give equal
// bits, and one launch does it all.
#pragma once

#include "tallskinny/gemm/device/element.cuh"

/// Blocks [group * size, ...) of `blocks` make a group.
struct OrderedSum {
  double* partials;   ///< blocks * count
  double* groups;     ///< group_count * count
  unsigned* tickets;  ///< 1 + group_count, zero before and after
  int blocks, block, group_size;

  __device__ __forceinline__ int group_count() const { return (blocks + group_size - 1) / group_size; }

  /// Called by all threads of every block after the block's `count` partial values were written to
  /// partials + block * count. True in the one block that shall finish; then total() holds the sums.
  __device__ __forceinline__ bool last(int count, int thread, int threads) const {
    if (blocks == 1) {  // no order, and no tickets: there may be more such panels than tickets
      __syncthreads();
      return true;
    }
    const int group = block / group_size, begin = group * group_size;
    const int size = blocks - begin < group_size ? blocks - begin : group_size;
    if (!last_of(tickets + 1 + group, size, thread)) return false;
    add(groups + static_cast<int64>(group) * count, partials + static_cast<int64>(begin) * count, count, size, thread,
        threads);
    if (!last_of(tickets, group_count(), thread)) return false;
    add(partials, groups, count, group_count(), thread, threads);
    __syncthreads();
    return true;
  }
  __device__ __forceinline__ const double* total() const { return partials; }

 private:
  /// to = the sum of `size` runs of `count` values.
  static __device__ __forceinline__ void add(double* to, const double* from, int count, int size, int thread,
                                             int threads) {
    constexpr int each = 4;  // values of a thread at a time, to have many loads in flight
    for (int first = thread; first < count; first += each * threads) {
      double sum[each] = {};
#pragma unroll 4
      for (int i = 0; i < size; ++i)
#pragma unroll
        for (int k = 0; k < each; ++k)
          if (first + k * threads < count) sum[k] += __ldcg(from + static_cast<int64>(i) * count + first + k * threads);
#pragma unroll
      for (int k = 0; k < each; ++k)
        if (first + k * threads < count) to[first + k * threads] = sum[k];
    }
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

/// The same for Count shares of Parts numbers each, as ClusterSum takes and gives them.
template <int Count, int Parts>
struct TicketSum {
  static constexpr int numbers = Count * Parts;
  struct Inbox {};

  OrderedSum order;

  __device__ __forceinline__ void begin(bool) const {}
  __device__ __forceinline__ unsigned draw() const { return 0; }
  __device__ __forceinline__ void meet() const {}
  __device__ __forceinline__ void tell(unsigned) const {}
  __device__ __forceinline__ void put(int e, int part, double x) const {
    order.partials[static_cast<int64>(order.block) * numbers + part * Count + e] = x;
  }
  template <class Number, int N>
  __device__ __forceinline__ void put_piece(int piece, const Number (&x)[N]) const {
#pragma unroll
    for (int k = 0; k < N; ++k) put(piece * N + k, 0, x[k]);
  }
  template <class Use>
  __device__ __forceinline__ void finish(int thread, int threads, Use use) const {
    if (!order.last(numbers, thread, threads)) return;
    for (int e = thread; e < Count; e += threads) {
      double sum[Parts];
#pragma unroll
      for (int part = 0; part < Parts; ++part) sum[part] = order.total()[part * Count + e];
      use(e, sum);
    }
  }
};
