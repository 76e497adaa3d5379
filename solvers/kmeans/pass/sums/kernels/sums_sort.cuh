// Orders the rows that move by cluster, in any order within one. Each is an entry of the cluster that it enters, and
// with a mark one of the cluster that it leaves. Runs once to count the entries of clusters, and again, after
// sums_places.cuh gave places to these, to put them there; then `places` say where the entries of a cluster end. A
// block takes one stretch of the moves and counts it in shared memory, so that it adds to global counts once for each
// cluster.
#include "tallskinny/solvers/kmeans/pass/sums/kernels/sums_moves.cuh"

constexpr int threads = policy.threads, at_once = 4;

/// Adds one to the cluster's counter, and returns what it was for this lane.
__device__ __forceinline__ uint32 count_one(uint32* counter, int cluster) {
  if constexpr (!policy.few) {
    return atomicAdd(counter + cluster, 1u);
  } else {
    const uint32 equal = __match_any_sync(__activemask(), cluster);
    const int lane = threadIdx.x % 32, first = __ffs(equal) - 1;
    uint32 before = 0;
    if (lane == first) before = atomicAdd(counter + cluster, static_cast<uint32>(__popc(equal)));
    return __shfl_sync(equal, before, first) + __popc(equal & ((1u << lane) - 1));
  }
}

/// Calls work(cluster, entry) for the entries of the moves that this thread has of [begin, end).
template <class Work>
__device__ __forceinline__ void for_entries(int begin, int end, const Moves& moves, const int* labels,
                                            const Work& work) {
  for (int first = begin + threadIdx.x; first < end; first += at_once * threads) {
    int row[at_once], to[at_once], from[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const int m = first + u * threads;
      row[u] = m >= end ? -1 : moves.rows == nullptr ? m : moves.rows[m];
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      to[u] = row[u] < 0 ? -1 : labels[row[u]];
      from[u] = row[u] < 0 || moves.before == nullptr ? -1 : moves.before[row[u]];
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      if (to[u] >= 0) work(to[u], static_cast<uint32>(row[u]));
      if (from[u] >= 0) work(from[u], static_cast<uint32>(row[u]) | leaves);
    }
  }
}

extern "C" __global__ void __launch_bounds__(threads, 1) sums_sort(ts::cuda::SumsSortArguments a) {
  const auto& [count, moves, labels, clusters, places, order] = a;
  const int stretch = (count - 1) / static_cast<int>(gridDim.x) + 1;
  const int begin = min(count, static_cast<int>(blockIdx.x) * stretch), end = min(count - begin, stretch) + begin;
  uint32* counters = places;
  if constexpr (policy.shared) {
    extern __shared__ uint32 own[];
    counters = own;
    for (int m = threadIdx.x; m < clusters; m += threads) own[m] = 0;
    __syncthreads();
    for_entries(begin, end, moves, labels, [&](int cluster, uint32) { count_one(own, cluster); });
    __syncthreads();
    for (int m = threadIdx.x; m < clusters; m += threads)
      if (own[m] != 0) own[m] = atomicAdd(places + m, own[m]);
    __syncthreads();
  } else if constexpr (!policy.put) {
    for_entries(begin, end, moves, labels, [&](int cluster, uint32) { count_one(places, cluster); });
  }
  if constexpr (policy.put)
    for_entries(begin, end, moves, labels,
                [&](int cluster, uint32 entry) { order[count_one(counters, cluster)] = entry; });
}
