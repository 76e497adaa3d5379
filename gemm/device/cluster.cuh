// Blocks that run together (from sm_90 on) and write into each other's shared memory, and kernels that start
// while the one before them in the stream still ends.
#pragma once

#include "tallskinny/gemm/device/pipeline.cuh"

#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// Tells the cluster that this thread's block is there and has initialised its barriers.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
/// Waits until all threads of the cluster have arrived.
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

/// What is at `mine` in this block, in the block of that rank.
__device__ __forceinline__ uint32 address_of_peer(const void* mine, int rank) {
  uint32 address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(mine)), "r"(rank));
  return address;
}
/// Sends numbers to another block's shared memory; its barrier counts their bytes as they arrive. Both
/// addresses are address_of_peer's.
__device__ __forceinline__ void send(uint32 to, uint32 barrier, unsigned x) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(x),
               "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void send(uint32 to, uint32 barrier, double x) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(to), "d"(x),
               "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void send(uint32 to, uint32 barrier, const float (&x)[4]) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void send(uint32 to, uint32 barrier, const double (&x)[2]) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%0], {%1, %2}, [%3];" ::"r"(to),
               "d"(x[0]), "d"(x[1]), "r"(barrier)
               : "memory");
}
/// Waits for the first phase of this block's barrier, and sees what the cluster sent.
__device__ __forceinline__ void wait_for_peers(uint64* barrier) {
  uint32 done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, "
        "1, 0, p; }"
        : "=r"(done)
        : "r"(shared_address(barrier))
        : "memory");
}
#endif

/// Waits for the kernels before this one and for what they wrote.
__device__ __forceinline__ void wait_for_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Once all blocks have called this, the next kernel may start where it finds room; it waits by itself for
/// what this one writes.
__device__ __forceinline__ void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
