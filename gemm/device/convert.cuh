// to = from where one of them is row-major and the other column-major. A tile goes through shared memory, so that both
// sides are touched in their own order.
using int64 = long long;

struct alignas(policy.alignment) Bits {
  unsigned char byte[policy.bytes];
};

constexpr int threads = policy.threads, tile_rows = policy.tile_rows, tile_cols = policy.tile_cols;

extern "C" __global__ void __launch_bounds__(threads, 4) convert(const __grid_constant__ ts::cuda::ConvertArguments a) {
  Bits* const to = static_cast<Bits*>(a.to);
  const Bits* const from = static_cast<const Bits*>(a.from);
  __shared__ Bits tile[tile_cols][tile_rows + 1];
  const int64 tiles_across = (a.cols + tile_cols - 1) / tile_cols;
  const int64 tiles = (a.rows + tile_rows - 1) / tile_rows * tiles_across;
  for (int64 t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64 row = t / tiles_across * tile_rows, col = t % tiles_across * tile_cols;
    const int height = static_cast<int>(min(static_cast<int64>(tile_rows), a.rows - row));
    const int width = static_cast<int>(min(static_cast<int64>(tile_cols), a.cols - col));
    const int count = height * width;
    if constexpr (policy.from_rows) {
      for (int e = threadIdx.x; e < count; e += threads)
        tile[e % width][e / width] = from[(row + e / width) * a.from_ld + col + e % width];
      __syncthreads();
      for (int e = threadIdx.x; e < count; e += threads)
        to[row + e % height + (col + e / height) * a.to_ld] = tile[e / height][e % height];
    } else {
      for (int e = threadIdx.x; e < count; e += threads)
        tile[e / height][e % height] = from[row + e % height + (col + e / height) * a.from_ld];
      __syncthreads();
      for (int e = threadIdx.x; e < count; e += threads)
        to[(row + e / width) * a.to_ld + col + e % width] = tile[e % width][e / width];
    }
    __syncthreads();
  }
}
