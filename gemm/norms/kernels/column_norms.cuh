// norms[j] = ||X(:, j)||_2 without overflow or underflow. A thread sees the same columns in every line. Rows beyond the
// last line are read one element at a time.
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

using Piece = Vector<Element, policy.vector, policy.alignment>;
constexpr int threads = policy.threads, line_threads = policy.line_threads(), lines_at_once = policy.lines_at_once();
constexpr int unroll = policy.unroll, tiles = policy.tiles();

__device__ __forceinline__ void add_piece(Sum* sums, const Piece& piece) {
#pragma unroll
  for (int k = 0; k < policy.vector; ++k) add_square(sums[k], widen(piece.part[k]));
}

/// The lines of a tile of columns, of all rows or of those of a part.
struct Lines {
  const Element* from;
  int64 count, stride;
  int columns;
};

/// Adds to the sums of this thread what it reads of the lines that are left to block `block` of `blocks`.
__device__ __forceinline__ void add_lines(Sum* mine, const Lines& lines, int block, int blocks, int thread, int place) {
  // What a block reads at a time is contiguous, so that it rarely shares a cache line with another block.
  const int64 stretch = unroll * lines_at_once, step = blocks * stretch;
  const int64 apart = lines_at_once * lines.stride;
  int64 i = block * stretch + thread / line_threads;
  const Element* at = lines.from + i * lines.stride + place;
  for (; i + (unroll - 1) * lines_at_once < lines.count; i += step, at += step * lines.stride) {
    Piece piece[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) piece[u] = *reinterpret_cast<const Piece*>(at + u * apart);
#pragma unroll
    for (int u = 0; u < unroll; ++u) add_piece(mine, piece[u]);
  }
#pragma unroll 1
  for (int u = 0; u < unroll && i < lines.count; ++u, i += lines_at_once, at += apart)
    add_piece(mine, *reinterpret_cast<const Piece*>(at));
}

/// By the last block: the norms of all columns, or the sums of a part, from those of the blocks of each tile.
__device__ __forceinline__ void finish(const ts::cuda::ColumnNormsArguments& a, int part, const Sum* partial, Sum* sums,
                                       int blocks_a_tile) {
  constexpr int across = policy.columns < threads ? policy.columns : threads, groups = threads / across;
  const int thread = threadIdx.x;
  for (int first = 0; first < policy.columns; first += across) {
    const int c = first + thread % across, group = thread / across;
    Sum total = {};
    if (c < policy.columns && group < groups)
#pragma unroll 4
      for (int b = group; b < blocks_a_tile; b += groups) total += partial[static_cast<int64>(b) * policy.columns + c];
    __syncthreads();
    if (group < groups) sums[thread] = total;
    add_groups(sums, across, groups, threads);
    if (group != 0 || c >= policy.columns) continue;
    if constexpr (in_parts)
      reinterpret_cast<Sum*>(a.parts.sums + part * a.parts.size)[c] = sums[thread];
    else
      static_cast<Real*>(a.norms)[c * a.norms_stride] = static_cast<Real>(sums[thread].root());
  }
}

extern "C" __global__ void __launch_bounds__(threads, policy.blocks_at_once)
    column_norms(const __grid_constant__ ts::cuda::ColumnNormsArguments a) {
  const Element* x = static_cast<const Element*>(a.x);
  Sum* partial = static_cast<Sum*>(a.partial);
  int64 line_count = a.lines;
  int last_rows = a.last_rows;
  __shared__ Sum sums[threads * policy.vector];
  const PartOfGrid part(a.parts);
  if constexpr (in_parts) {
    const int64 rows_here = part.rows(a.parts, a.rows);
    x += part.number * a.parts.rows * a.row_stride;
    line_count = rows_here / policy.fold, last_rows = static_cast<int>(rows_here % policy.fold);
    partial += static_cast<int64>(part.number) * (part.blocks / tiles) * policy.columns;
  }
  const int blocks_a_tile = part.blocks / tiles, tile = part.block / blocks_a_tile, block = part.block % blocks_a_tile;
  const int thread = threadIdx.x, place = thread % line_threads * policy.vector;
  const Lines lines{x + tile * a.tile_stride, line_count, a.line_stride,
                    min(policy.tile, policy.columns - tile * policy.tile)};

  Sum mine[policy.vector] = {};
  const bool reads = thread < line_threads * lines_at_once;
  if (reads && place % policy.tile < lines.columns) add_lines(mine, lines, block, blocks_a_tile, thread, place);
  if (reads) {
#pragma unroll
    for (int k = 0; k < policy.vector; ++k) sums[thread * policy.vector + k] = mine[k];
  }
  add_groups(sums, policy.tile, lines_at_once * policy.fold, threads);

  for (int c = thread; c < lines.columns; c += threads) {
    if (block == 0)
      for (int r = 0; r < last_rows; ++r)
        add_square(sums[c], widen(lines.from[lines.count * lines.stride + r * policy.tile + c]));
    partial[static_cast<int64>(block) * policy.columns + tile * policy.tile + c] = sums[c];
  }
  if (last_block(a.counter + part.number, part.blocks)) finish(a, part.number, partial, sums, blocks_a_tile);
}
