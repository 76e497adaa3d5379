// How fast memory can be read: `chunks` pieces of TS_CHUNK bytes, through shared memory in a ring of TS_STAGES bulk
// copies (TS_BULK, from capability 9.0 on) or by 16-byte loads. Nothing is computed.
using uint64 = unsigned long long;

#if TS_BULK
constexpr int stages = TS_STAGES;

__device__ __forceinline__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

extern "C" __global__ void __launch_bounds__(32)
    roof_read(const char* from, long long chunks, unsigned* sink) {
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64 arrived[stages];
  if (threadIdx.x != 0) return;
  for (int s = 0; s < stages; ++s)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(arrived + s)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const auto ask = [&](long long chunk, int stage) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(arrived + stage)),
                 "r"(TS_CHUNK)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            address_of(ring + stage * TS_CHUNK)),
        "l"(from + chunk * TS_CHUNK), "r"(TS_CHUNK), "r"(address_of(arrived + stage))
        : "memory");
  };
  long long asked = blockIdx.x;
  for (int s = 0; s < stages && asked < chunks; ++s, asked += gridDim.x) ask(asked, s);
  int stage = 0, parity = 0;
  unsigned sum = 0;
  for (long long chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    unsigned done = 0;
    while (done == 0)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(address_of(arrived + stage)), "r"(parity)
          : "memory");
    sum += *reinterpret_cast<const unsigned*>(ring + stage * TS_CHUNK);
    if (asked < chunks) ask(asked, stage);
    asked += gridDim.x;
    if (++stage == stages) stage = 0, parity ^= 1;
  }
  if (sum == 0x12345678u) *sink = sum;
}
#else
extern "C" __global__ void __launch_bounds__(256, 4)
    roof_read(const char* from, long long chunks, unsigned* sink) {
  const uint4* const at = reinterpret_cast<const uint4*>(from);
  const long long count = chunks * (TS_CHUNK / 16), step = static_cast<long long>(gridDim.x) * 256;
  unsigned sum = 0;
  long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  for (; i + 7 * step < count; i += 8 * step) {
    uint4 piece[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) piece[u] = at[i + u * step];
#pragma unroll
    for (int u = 0; u < 8; ++u) sum += piece[u].x ^ piece[u].y ^ piece[u].z ^ piece[u].w;
  }
  for (; i < count; i += step) sum += at[i].x;
  if (sum == 0x12345678u) *sink = sum;
}
#endif
