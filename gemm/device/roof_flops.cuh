// How fast a unit multiplies and adds, from registers alone.
using ts::cuda::RoofUnit;

constexpr int chains = policy.chains;

template <class Number>
__device__ __forceinline__ float multiply_add(int rounds) {
  Number sum[chains];
  const Number a = Number(1) + Number(1e-6) * threadIdx.x, b = Number(1e-3) * threadIdx.x;
  for (int c = 0; c < chains; ++c) sum[c] = Number(c);
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int c = 0; c < chains; ++c) sum[c] = sum[c] * a + b;
  float total = 0;
  for (int c = 0; c < chains; ++c) total += static_cast<float>(sum[c]);
  return total;
}

__device__ __forceinline__ float float64_tensor(int rounds) {
  float total = 0;
#if __CUDA_ARCH__ >= 900
  double sum[chains][4] = {};
  double a[8], b[4];
  for (int i = 0; i < 8; ++i) a[i] = 1e-3 * (threadIdx.x + i);
  for (int i = 0; i < 4; ++i) b[i] = 1e-3 * (threadIdx.x - i);
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int c = 0; c < chains; ++c)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
          "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
          : "+d"(sum[c][0]), "+d"(sum[c][1]), "+d"(sum[c][2]), "+d"(sum[c][3])
          : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
            "d"(b[1]), "d"(b[2]), "d"(b[3]));
  for (int c = 0; c < chains; ++c) total += static_cast<float>(sum[c][0] + sum[c][1] + sum[c][2] + sum[c][3]);
#else
  double sum[chains][2] = {};
  const double a = 1e-3 * threadIdx.x, b = 1e-3 * threadIdx.x;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int c = 0; c < chains; ++c)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                   : "+d"(sum[c][0]), "+d"(sum[c][1])
                   : "d"(a), "d"(b));
  for (int c = 0; c < chains; ++c) total += static_cast<float>(sum[c][0] + sum[c][1]);
#endif
  return total;
}

/// TF32, or float16 with float32 sums.
__device__ __forceinline__ float short_tensor(int rounds) {
  float sum[chains][4] = {};
  unsigned a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = 0x3c003c00u + threadIdx.x + i;
  for (int i = 0; i < 2; ++i) b[i] = 0x38003800u + threadIdx.x - i;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int c = 0; c < chains; ++c)
      if constexpr (policy.unit == RoofUnit::tf32_tensor)
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
            "{%0,%1,%2,%3};"
            : "+f"(sum[c][0]), "+f"(sum[c][1]), "+f"(sum[c][2]), "+f"(sum[c][3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
      else
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
            "{%0,%1,%2,%3};"
            : "+f"(sum[c][0]), "+f"(sum[c][1]), "+f"(sum[c][2]), "+f"(sum[c][3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  float total = 0;
  for (int c = 0; c < chains; ++c) total += sum[c][0] + sum[c][1] + sum[c][2] + sum[c][3];
  return total;
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    roof_flops(const __grid_constant__ ts::cuda::RoofFlopsArguments a) {
  float total = 0;
  if constexpr (policy.unit == RoofUnit::float64)
    total = multiply_add<double>(a.rounds);
  else if constexpr (policy.unit == RoofUnit::float32)
    total = multiply_add<float>(a.rounds);
  else if constexpr (policy.unit == RoofUnit::float64_tensor)
    total = float64_tensor(a.rounds);
  else
    total = short_tensor(a.rounds);
  if (total == 1.2345f) *a.sink = total;
}
