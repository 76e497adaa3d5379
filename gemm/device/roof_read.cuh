// How fast memory can be read: `chunks` pieces of `chunk` bytes. Nothing is computed.
using uint64 = unsigned long long;

__device__ __forceinline__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// In a ring of bulk copies to shared memory, by one thread.
__device__ __forceinline__ void read_by_copies(const ts::cuda::RoofReadArguments& a) {
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64 arrived[policy.most_stages];
  if (threadIdx.x != 0) return;
  for (int s = 0; s < a.stages; ++s)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(arrived + s)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const auto ask = [&](long long chunk, int stage) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(arrived + stage)),
                 "r"(a.chunk)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address_of(ring + stage * a.chunk)),
                 "l"(a.from + chunk * a.chunk), "r"(a.chunk), "r"(address_of(arrived + stage))
                 : "memory");
  };
  long long asked = blockIdx.x;
  for (int s = 0; s < a.stages && asked < a.chunks; ++s, asked += gridDim.x) ask(asked, s);
  int stage = 0, parity = 0;
  unsigned sum = 0;
  for (long long chunk = blockIdx.x; chunk < a.chunks; chunk += gridDim.x) {
    unsigned done = 0;
    while (done == 0)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(address_of(arrived + stage)), "r"(parity)
                   : "memory");
    sum += *reinterpret_cast<const unsigned*>(ring + stage * a.chunk);
    if (asked < a.chunks) ask(asked, stage);
    asked += gridDim.x;
    if (++stage == a.stages) stage = 0, parity ^= 1;
  }
  if (sum == 0x12345678u) *a.sink = sum;
}

/// By loads of 16 bytes.
__device__ __forceinline__ void read_by_loads(const ts::cuda::RoofReadArguments& a) {
  const uint4* const at = reinterpret_cast<const uint4*>(a.from);
  const long long count = a.chunks * (a.chunk / 16), step = static_cast<long long>(gridDim.x) * policy.threads();
  unsigned sum = 0;
  long long i = static_cast<long long>(blockIdx.x) * policy.threads() + threadIdx.x;
  for (; i + 7 * step < count; i += 8 * step) {
    uint4 piece[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) piece[u] = at[i + u * step];
#pragma unroll
    for (int u = 0; u < 8; ++u) sum += piece[u].x ^ piece[u].y ^ piece[u].z ^ piece[u].w;
  }
  for (; i < count; i += step) sum += at[i].x;
  if (sum == 0x12345678u) *a.sink = sum;
}

extern "C" __global__ void __launch_bounds__(policy.threads(), policy.blocks_at_once())
    roof_read(const __grid_constant__ ts::cuda::RoofReadArguments a) {
  if constexpr (policy.bulk)
    read_by_copies(a);
  else
    read_by_loads(a);
}
