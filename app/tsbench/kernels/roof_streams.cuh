// Bandwidth against occupancy and instruction-level parallelism (Ernst et al. 2020, table 1): every thread reads
// TS_STREAMS doubles at a time and adds them up (TS_WRITE = 0), or writes them scaled (1). `count` is a multiple of
// what the grid reads at a time.
extern "C" __global__ void __launch_bounds__(128)
    roof_streams(const double* from, double* to, long long count) {
  const long long threads = static_cast<long long>(gridDim.x) * 128;
  double sum = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * 128 + threadIdx.x; i < count;
       i += threads * TS_STREAMS) {
    double piece[TS_STREAMS];
#pragma unroll
    for (int s = 0; s < TS_STREAMS; ++s) piece[s] = from[i + s * threads];
#pragma unroll
    for (int s = 0; s < TS_STREAMS; ++s)
      if (TS_WRITE)
        to[i + s * threads] = 1.25 * piece[s];
      else
        sum += piece[s];
  }
  if (!TS_WRITE && sum == 1e300) *to = sum;
}
