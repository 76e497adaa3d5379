// Bandwidth against occupancy and instruction-level parallelism (Ernst et al. 2020, table 1): every thread reads
// policy.streams doubles at a time and adds them up, or writes them scaled.
constexpr int streams = policy.streams;

extern "C" __global__ void __launch_bounds__(policy.threads)
    roof_streams(const __grid_constant__ ts::bench::RoofStreamsArguments a) {
  const long long threads = static_cast<long long>(gridDim.x) * policy.threads;
  double sum = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * policy.threads + threadIdx.x; i < a.count;
       i += threads * streams) {
    double piece[streams];
#pragma unroll
    for (int s = 0; s < streams; ++s) piece[s] = a.from[i + s * threads];
#pragma unroll
    for (int s = 0; s < streams; ++s)
      if constexpr (policy.writes)
        a.to[i + s * threads] = 1.25 * piece[s];
      else
        sum += piece[s];
  }
  if constexpr (!policy.writes)
    if (sum == 1e300) *a.to = sum;
}
