// A ring of stages in shared memory between warps that fill them and warps that use them: barriers and
// asynchronous copies. Bulk copies need sm_90; before it, 16-byte copies of single threads take their place.
#pragma once

#include "tallskinny/gemm/device/element.cuh"

__device__ __forceinline__ uint32 shared_address(const void* p) {
  return static_cast<uint32>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void barrier_init(uint64* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
/// Makes initialised barriers visible to the copy engine; a block-wide barrier must follow.
__device__ __forceinline__ void barrier_init_fence() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
__device__ __forceinline__ void barrier_arrive(uint64* barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(barrier))
               : "memory");
}
/// (From sm_90 on.) Arrives as often as `arrivals` threads would.
__device__ __forceinline__ void barrier_arrive_for(uint64* barrier, int arrivals) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0], %1; }" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
/// Waits until the phase of this parity is complete.
__device__ __forceinline__ void barrier_wait(uint64* barrier, uint32 parity) {
  uint32 done = 0;
  while (!done)
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
#else
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
#endif
}

/// Complete where device/every_lane_arrives.cuh was included first.
struct EveryLaneArrives;
template <class T>
concept Complete = requires {
  sizeof(T);
};

/// Whether a lane arrives where a warp counts `warp_arrivals`: one for all, behind a warp barrier. Racecheck
/// does not see the order that this makes, so that under it each lane may arrive for itself.
constexpr int warp_arrivals = Complete<EveryLaneArrives> ? 32 : 1;
__device__ __forceinline__ bool arrives_for_warp(int lane) { return warp_arrivals == 32 || lane == 0; }

/// (From sm_90 on.) Arrives, and lets the phase wait for `bytes` bytes of bulk copies.
__device__ __forceinline__ void barrier_arrive_expecting(uint64* barrier, uint32 bytes) {
  asm volatile(
      "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
/// (From sm_90 on.) Bytes from global to shared memory by the copy engine; all three arguments multiples
/// of 16.
__device__ __forceinline__ void bulk_load(void* to, const void* from, uint32 bytes, uint64* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

/// A copy of Bytes (4, 8 or 16) bytes that goes on while the thread does: the first `valid`, then zeros.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, int valid) {
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(valid)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from), "n"(Bytes),
                 "r"(valid)
                 : "memory");
}
/// Arrives once all earlier copy_async of this thread are done.
__device__ __forceinline__ void barrier_arrive_after_copies(uint64* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Waits until all earlier copy_async of this thread are done.
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Registers that each of `threads` threads can have where `givers` of them, whole warpgroups, keep `kept`.
__host__ __device__ constexpr int registers_left(int threads, int givers, int kept) {
  const int all = threads * (65536 / threads / 8 * 8), each = (all - givers * kept) / (threads - givers) / 8 * 8;
  return each < 240 ? each : 240;
}
/// (sm_90a.) What the threads of a warpgroup give away, others of the block may take; both wait for all of it.
template <int Kept>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Kept));
}
template <int Wanted>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Wanted));
}

/// Position in the ring: which stage, and the parity that a wait for it takes.
template <int Stages>
struct RingPosition {
  int stage = 0;
  uint32 parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == Stages) stage = 0, parity ^= 1;
  }
};

template <class T>
__device__ __forceinline__ constexpr T round_up(T x, T unit) {
  return (x + unit - 1) / unit * unit;
}
