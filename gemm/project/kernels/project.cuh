// The steps of block Gram-Schmidt in one pass over V (n x p) and W (n x q):
//
//   update  W = W - V S
//   inner   S_next = V^H W   of the updated W
//   gram    G = W^H W        likewise
//
// Groups of warps work on their own: each keeps a private ring of slots in flight and takes chunks of rows in turn. A
// chunk of V and W lies in a slot; the update replaces W there, from where it is stored, and the products then read
// the rows as they are.
#pragma once

#include "tallskinny/gemm/project/kernels/project_products.cuh"
#include "tallskinny/gemm/project/kernels/project_update.cuh"

/// Where the warps of a group wait for each other: a barrier in shared memory like those of the ring. With named
/// barriers racecheck loses track of the __syncthreads() that follow, and they are no faster.
struct Meeting {
  uint64* barrier;
  uint32 parity = 0;
  __device__ __forceinline__ void wait_for_all() {
    if constexpr (policy.group_warps() == 1) {
      __syncwarp();
    } else {
      barrier_arrive(barrier);  // every lane for itself: ordering through __syncwarp() is not seen either
      barrier_wait(barrier, parity);
      parity ^= 1;
    }
  }
};

/// All chunks of a group.
__device__ __forceinline__ void run_chunks(Group& group, Meeting& meeting, Products& products, const double* factor) {
  constexpr int chunk_rows = policy.chunk_rows();
  const int lane = group.thread % 32;
  Element* const w_rows = reinterpret_cast<Element*>(const_cast<unsigned char*>(group.w.base));
  int64 chunk = group.first;
  for (RingPosition<policy.stages> at; chunk < group.chunks; chunk += group.stride, at.advance()) {
    unsigned char* const slot = group.slots + at.stage * policy.slot_bytes();
    barrier_wait(group.full + at.stage, at.parity);
    const int64 first = chunk * chunk_rows;
    const int valid = group.rows - first < chunk_rows ? static_cast<int>(group.rows - first) : chunk_rows;
    const bool whole = stores_in_bulk && valid == chunk_rows;
    if constexpr (policy.update) update_slot(group, slot, factor, valid);
    meeting.wait_for_all();  // W is as it shall be, and the group has left the slot before this one
    if (group.warp == 0) {
      if constexpr (policy.update) store_in_bulk(w_rows, slot, first, whole, lane);
      group.fill_next(lane);
    }
    if (policy.update && !whole) store_rows(group, w_rows, slot, first, valid);
    if constexpr (policy.has_products()) products.add(slot);
  }
  if constexpr (policy.update) wait_for_stores();
}

extern "C" __global__ void __launch_bounds__(policy.threads(), 1)
    project(const __grid_constant__ ts::cuda::ProjectArguments a) {
  extern __shared__ __align__(128) unsigned char shared[];
  constexpr int group_warps = policy.group_warps(), stages = policy.stages;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, number = thread / 32 / group_warps;
  const int warp = thread / 32 % group_warps;
  uint64* const full = reinterpret_cast<uint64*>(shared) + number * stages;
  Meeting meeting{reinterpret_cast<uint64*>(shared) + policy.groups * stages + number};
  if (warp == 0 && lane == 0) {
    for (int i = 0; i < stages; ++i) barrier_init(full + i, (policy.uses_v() ? V::arrivals(32) : 0) + W::arrivals(32));
    barrier_init(meeting.barrier, 32 * group_warps);
  }
  if (lane == 0) barrier_init_fence();
  const PartOfGrid part(a.sums);
  OperandArgument v_argument = a.v, w_argument = a.w;
  int64 rows = a.rows;
  if constexpr (in_parts) {
    rows = part.rows(a.sums, rows);
    v_argument.data = static_cast<const Element*>(a.v.data) + part.number * a.sums.rows * a.v.row_stride;
    w_argument.data = static_cast<const Element*>(a.w.data) + part.number * a.sums.rows * a.w.row_stride;
  }
  const V v(v_argument, rows);
  const W w(w_argument, rows);
  const int64 first = static_cast<int64>(part.block) * policy.groups + number;
  Group group{v,
              w,
              w_argument,
              rows,
              shared + policy.ring_offset() + number * stages * policy.slot_bytes(),
              full,
              warp,
              thread,
              (rows + policy.chunk_rows() - 1) / policy.chunk_rows(),
              static_cast<int64>(part.blocks) * policy.groups,
              first,
              first};
  __syncthreads();

  if (warp == 0)
    for (int i = 0; i < stages - 1; ++i) group.fill_next(lane);
  double* const factor = reinterpret_cast<double*>(shared + policy.factor_offset());
  if constexpr (policy.update) prepare_factor(factor, a.s, thread);
  __syncthreads();

  Products products(v, w, warp, lane / 4, lane % 4);
  run_chunks(group, meeting, products, factor);
  if constexpr (policy.has_products()) {
    __syncthreads();  // the sums take the place of the rings
    double* const all = reinterpret_cast<double*>(shared + policy.ring_offset());
    products.put(all + number * product_rows * product_pitch, lane / 4, lane % 4);
    __syncthreads();
    finish(a, all, thread);
  }
}
