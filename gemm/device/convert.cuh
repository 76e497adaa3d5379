// to = from where one of them is row-major and the other column-major: rows x cols elements of TS_BYTES bytes.
// A tile goes through shared memory, so that both sides are touched in their own order. Distances between
// neighbours in elements; TS_FROM_ROWS: neighbours of a row are contiguous in `from`, else those of a column.
#include "tallskinny/gemm/device/element.cuh"

struct alignas(TS_ALIGN) Bits {
  unsigned char byte[TS_BYTES];
};

constexpr int tile_rows = 128, tile_cols = 16;

extern "C" __global__ void __launch_bounds__(256, 4)
    convert(Bits* to, int64 to_ld, const Bits* from, int64 from_ld, int64 rows, int64 cols) {
  __shared__ Bits tile[tile_cols][tile_rows + 1];
  const int64 tiles_across = (cols + tile_cols - 1) / tile_cols;
  const int64 tiles = (rows + tile_rows - 1) / tile_rows * tiles_across;
  for (int64 t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64 row = t / tiles_across * tile_rows, col = t % tiles_across * tile_cols;
    const int height = static_cast<int>(min(static_cast<int64>(tile_rows), rows - row));
    const int width = static_cast<int>(min(static_cast<int64>(tile_cols), cols - col));
    const int count = height * width;
#if TS_FROM_ROWS
    for (int e = threadIdx.x; e < count; e += 256)
      tile[e % width][e / width] = from[(row + e / width) * from_ld + col + e % width];
    __syncthreads();
    for (int e = threadIdx.x; e < count; e += 256)
      to[row + e % height + (col + e / height) * to_ld] = tile[e / height][e % height];
#else
    for (int e = threadIdx.x; e < count; e += 256)
      tile[e / height][e % height] = from[row + e % height + (col + e / height) * from_ld];
    __syncthreads();
    for (int e = threadIdx.x; e < count; e += 256)
      to[(row + e / width) * to_ld + col + e % width] = tile[e % width][e / width];
#endif
    __syncthreads();
  }
}
