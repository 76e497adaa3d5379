// norms[j] = ||X(:, j)||_2 without overflow or underflow.
// A line is TS_FOLD rows of the TS_TILE columns of a tile, contiguous in memory: TS_VECTOR elements are read at
// once, and a thread sees the same columns in every line. Rows beyond the last line (`rest` of them) are read one
// element at a time. TS_PARTS: the sums of parts of the rows are left (parts.cuh), Sums as they are. TS_P: columns of X; TS_ALIGN: alignment of what is read at once.
#include "tallskinny/gemm/device/parts.cuh"
#include "tallskinny/gemm/device/reduce.cuh"
#include "tallskinny/gemm/norms/kernels/squares.cuh"

template <class R>
__device__ __forceinline__ void add_square(Sum& sum, R x) {
  sum.add(x);
}
template <class R>
__device__ __forceinline__ void add_square(Sum& sum, Complex<R> x) {
  sum.add(x.re), sum.add(x.im);
}

using Piece = Vector<Element, TS_VECTOR, TS_ALIGN>;
constexpr int threads = 256;
constexpr int line = TS_FOLD * TS_TILE;         // elements
constexpr int line_threads = line / TS_VECTOR;  // that read one line together
constexpr int lines_at_once = threads / line_threads;
constexpr int unroll = 4;
constexpr int tiles = (TS_P + TS_TILE - 1) / TS_TILE;

__device__ __forceinline__ void add_piece(Sum* sums, const Piece& piece) {
#pragma unroll
  for (int k = 0; k < TS_VECTOR; ++k) add_square(sums[k], widen(piece.part[k]));
}

extern "C" __global__ void __launch_bounds__(256, 3)
    column_norms(const Element* x, int64 lines, int64 line_stride, int64 tile_stride, int rest, Sum* partial,
                 unsigned* counter, Real* norms, int64 norms_stride, int64 rows, int64 row_stride,
                 PartsArgument parts) {
  __shared__ Sum sums[threads * TS_VECTOR];
  const PartOfGrid part(parts);
#if TS_PARTS
  const int64 rows_here = part.rows(parts, rows);
  x += part.number * parts.rows * row_stride;
  lines = rows_here / TS_FOLD, rest = static_cast<int>(rows_here % TS_FOLD);
  partial += static_cast<int64>(part.number) * (part.blocks / tiles) * TS_P;
#endif
  const int blocks_a_tile = part.blocks / tiles, tile = part.block / blocks_a_tile,
            block = part.block % blocks_a_tile;
  const int thread = threadIdx.x, place = thread % line_threads * TS_VECTOR;
  const int columns = min(TS_TILE, TS_P - tile * TS_TILE);  // of this tile
  const Element* const from = x + tile * tile_stride;
  const bool works = thread < line_threads * lines_at_once && place % TS_TILE < columns;

  Sum mine[TS_VECTOR] = {};
  if (works) {
    // What a block reads at a time is contiguous, so that it rarely shares a cache line with another block.
    const int64 stretch = unroll * lines_at_once, step = blocks_a_tile * stretch;
    const int64 apart = lines_at_once * line_stride;
    int64 i = block * stretch + thread / line_threads;
    const Element* at = from + i * line_stride + place;
    for (; i + (unroll - 1) * lines_at_once < lines; i += step, at += step * line_stride) {
      Piece piece[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) piece[u] = *reinterpret_cast<const Piece*>(at + u * apart);
#pragma unroll
      for (int u = 0; u < unroll; ++u) add_piece(mine, piece[u]);
    }
#pragma unroll 1
    for (int u = 0; u < unroll && i < lines; ++u, i += lines_at_once, at += apart)
      add_piece(mine, *reinterpret_cast<const Piece*>(at));
  }
  if (thread < line_threads * lines_at_once) {
#pragma unroll
    for (int k = 0; k < TS_VECTOR; ++k) sums[thread * TS_VECTOR + k] = mine[k];
  }
  add_groups(sums, TS_TILE, lines_at_once * TS_FOLD, threads);

  for (int c = thread; c < columns; c += threads) {
    if (block == 0)
      for (int r = 0; r < rest; ++r) add_square(sums[c], widen(from[lines * line_stride + r * TS_TILE + c]));
    partial[static_cast<int64>(block) * TS_P + tile * TS_TILE + c] = sums[c];
  }
  if (!last_block(counter + part.number, part.blocks)) return;

  constexpr int across = TS_P < threads ? TS_P : threads, groups = threads / across;
  for (int first = 0; first < TS_P; first += across) {
    const int c = first + thread % across, group = thread / across;
    Sum total = {};
    if (c < TS_P && group < groups)
#pragma unroll 4
      for (int b = group; b < blocks_a_tile; b += groups) total += partial[static_cast<int64>(b) * TS_P + c];
    __syncthreads();
    if (group < groups) sums[thread] = total;
    add_groups(sums, across, groups, threads);
#if TS_PARTS
    if (group == 0 && c < TS_P)
      reinterpret_cast<Sum*>(parts.sums + part.number * parts.size)[c] = sums[thread];
#else
    if (group == 0 && c < TS_P) norms[c * norms_stride] = static_cast<Real>(sums[thread].root());
#endif
  }
}
