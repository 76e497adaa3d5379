// What the kernels of C = alpha op(A) B + beta C have in common: the operands, the panels that A is cut into,
// and how a block's product becomes its share of C.
//
//   TS_TYPE; TS_P, TS_Q; TS_GRAM; TS_SWAP
//   TS_PANELS     1: A has one; 2: or more
//   TS_CLUSTER    1, or blocks whose shares of the product are added first, from sm_90 on as a cluster
//   TS_MODE_A/B, TS_PITCH_A/B, TS_VECTOR_A/B, TS_UNIT_A/B, TS_SHIFT_A/B, TS_FOLD, TS_SUBS, TS_SUB_ROWS
//                 see operand.cuh
//   TS_PARTS      1: what is left are the sums of parts of the rows (parts.cuh), and C is not touched
//
// An A of more columns is cut into panels of TS_P, each the work of `panel_blocks` blocks of the grid; the
// last panel ends with A and begins within the one before it, whose results it leaves alone. `mirror`, unless
// null, is where the (conjugate) transpose of the result goes too: the other triangle of a Gram matrix that
// is computed in panels.
#pragma once

#include "tallskinny/gemm/device/cluster_sum.cuh"
#include "tallskinny/gemm/device/operand.cuh"
#include "tallskinny/gemm/device/ordered_sum.cuh"
#include "tallskinny/gemm/device/parts.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/columns.cuh"

using OperandA = Operand<TS_MODE_A, TS_P, TS_PITCH_A, TS_FOLD, TS_VECTOR_A, TS_UNIT_A, TS_SUBS, TS_SUB_ROWS,
                         TS_SUBS == 1 ? 0 : 32, TS_SHIFT_A>;
#if TS_GRAM
using OperandB = OperandA;
constexpr int width_b = TS_P;
#else
using OperandB = Operand<TS_MODE_B, TS_Q, TS_PITCH_B, TS_FOLD, TS_VECTOR_B, TS_UNIT_B, TS_SUBS, TS_SUB_ROWS,
                         TS_SUBS == 1 ? 0 : 32, TS_SHIFT_B>;
constexpr int width_b = TS_Q;
#endif
#if TS_SWAP
using Left = OperandB;
using Right = OperandA;
#else
using Left = OperandA;
using Right = OperandB;
#endif

/// *out = alpha sum + beta *out, rounded once; beta = 0 never reads.
template <class R>
__device__ __forceinline__ void store_result(R* out, Complex<double> alpha, Complex<double> sum, Complex<double> beta) {
  const double scaled = alpha.re * sum.re;
  *out = static_cast<R>(beta.re == 0 ? scaled : __fma_rn(beta.re, static_cast<double>(*out), scaled));
}
template <class R>
__device__ __forceinline__ void store_result(Complex<R>* out, Complex<double> alpha, Complex<double> sum,
                                             Complex<double> beta) {
  Complex<double> scaled = mul(alpha, sum);
  if (!is_zero(beta)) scaled = madd(beta, Complex<double>{out->re, out->im}, scaled);
  *out = {static_cast<R>(scaled.re), static_cast<R>(scaled.im)};
}

constexpr int folded_chunk = TS_SUBS * TS_SUB_ROWS;
__device__ __forceinline__ int64 chunks_of(int64 rows) {
  const int64 folded_rows = (rows + TS_FOLD - 1) / TS_FOLD;
  return (folded_rows + folded_chunk - 1) / folded_chunk;
}

/// The panel that this block works on, and which of the panel's blocks it is.
struct Part {
  int panel, block, blocks;
  int overlap;  ///< columns that the panel before has as well
  int64 chunks, turn;
  int number, place;  ///< which part of the rows this is; which panel of all parts

  /// The chunk whose turn is number `i`. Panels of a column-major A begin at different rows: otherwise all
  /// blocks march through addresses that are multiples of the leading dimension apart. Those of a row-major A
  /// are parts of the same rows and share B in the L2 cache.
  __device__ __forceinline__ int64 chunk_at(int64 i) const { return i + turn < chunks ? i + turn : i + turn - chunks; }
};
/// Moves A and C to the panel, and A and B to the part of the rows.
__device__ __forceinline__ Part part_of(OperandArgument& a, [[maybe_unused]] OperandArgument& b, int64& rows,
                                        int64 a_columns, Result*& c, int64 c_row_stride, int panel_blocks,
                                        [[maybe_unused]] const PartsArgument& parts) {
#if TS_PARTS
  const PartOfGrid of_rows(parts);
  const int number = of_rows.number, block = of_rows.block, blocks = of_rows.blocks;
  rows = of_rows.rows(parts, rows);
  a.data = static_cast<const Element*>(a.data) + number * parts.rows * a.row_stride;
  b.data = static_cast<const Element*>(b.data) + number * parts.rows * b.row_stride;
#else
  constexpr int number = 0;
  const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
#endif
#if TS_PANELS == 1
  constexpr int panel = 0, panels = 1;
  panel_blocks = blocks;
#else
  const int panel = block / panel_blocks, panels = blocks / panel_blocks;
#endif
  const int64 start = static_cast<int64>(panel) * TS_P, chunks = chunks_of(rows);
  const int overlap = TS_PANELS == 1 || start + TS_P <= a_columns ? 0 : static_cast<int>(start + TS_P - a_columns);
  a.data = static_cast<const Element*>(a.data) + (start - overlap) * a.column_stride;
  c += (start - overlap) * c_row_stride;
  return {panel,        block - panel * panel_blocks,
          panel_blocks, overlap,
          chunks,       OperandA::by_columns ? panel * chunks / panels : 0,
          number,       number * panels + panel};
}

constexpr int result_count = TS_P * width_b;
constexpr int result_parts = result_count * parts;  ///< reals

#if TS_CORE == 1 || TS_THREE
__device__ __forceinline__ void add_product(Complex<double>& sum, float x, float y, int) {
  sum.re = madd(double{x}, double{y}, sum.re);
}
template <class R>
__device__ __forceinline__ void add_product(Complex<double>& sum, Complex<R> x, Complex<R> y, int adjoint) {
  sum = madd(Complex<double>{x.re, adjoint ? -x.im : x.im}, Complex<double>{y.re, y.im}, sum);
}

/// The sum over this block's rows of conj(a) b in float64, by one warp. High and low parts of a number that
/// is not finite make NaN of what should be infinite, and so do three products for a complex one: where a sum
/// is not finite, this one counts.
__device__ __forceinline__ Complex<double> plain_sum(const OperandArgument& a, const OperandArgument& b, int64 rows,
                                                     const Part& part, int column_a, int column_b, int adjoint,
                                                     int lane) {
  const Element* at_a = static_cast<const Element*>(a.data) + column_a * a.column_stride;
  const Element* at_b = static_cast<const Element*>(b.data) + column_b * b.column_stride;
  constexpr int chunk_rows = folded_chunk * TS_FOLD;
  Complex<double> sum = {0, 0};
  for (int64 i = part.block; i < part.chunks; i += part.blocks)
    for (int r = lane; r < chunk_rows; r += 32) {
      const int64 row = part.chunk_at(i) * chunk_rows + r;
      if (row >= rows) break;
      add_product(sum, at_a[row * a.row_stride], at_b[row * b.row_stride], adjoint);
    }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum.re += __shfl_xor_sync(~0u, sum.re, distance);
    sum.im += __shfl_xor_sync(~0u, sum.im, distance);
  }
  return sum;
}
#endif

/// How the shares of all blocks become one sum.
#if TS_CLUSTER > 1 && __CUDA_ARCH__ >= 900
constexpr bool clustered = true;
#define TS_CLUSTER_DIMS __cluster_dims__(TS_CLUSTER, 1, 1)
template <class Number, int Count, int Parts>
using Totals = ClusterSum<Number, TS_CLUSTER, Count, Parts>;
#else
constexpr bool clustered = false;
#define TS_CLUSTER_DIMS
template <class Number, int Count, int Parts>
using Totals = TicketSum<Count, Parts>;
#endif
template <class Sum>
__device__ __forceinline__ Sum totals_of(const Part& part, void* inbox, double* partials, double* mailboxes,
                                         unsigned* tickets, int group_size) {
#if TS_CLUSTER > 1 && __CUDA_ARCH__ >= 900
  const int groups = part.blocks / TS_CLUSTER;
  return {static_cast<typename Sum::Inbox*>(inbox), mailboxes + static_cast<int64>(part.place) * groups * Sum::numbers,
          tickets + part.place, groups, part.block / TS_CLUSTER};
#else
  if (TS_CLUSTER > 1) group_size = TS_CLUSTER;
  const int groups = (part.blocks + group_size - 1) / group_size;
  partials += static_cast<int64>(part.place) * (part.blocks + groups) * Sum::numbers;
  return {{partials, partials + static_cast<int64>(part.blocks) * Sum::numbers, tickets + part.place * (1 + groups),
           part.blocks, part.block, group_size}};
#endif
}

/// Where C is, and what is made of it.
struct Output {
  Result *c, *mirror;
  int64 row_stride, column_stride;
  Complex<double> alpha, beta;
  int adjoint;
  int overlap;   ///< columns of A whose rows of C are another panel's
  double* sums;  ///< of this panel and part of the rows, the imaginary ones `imaginary` later
  int64 imaginary;

  /// Element (i, j) from its sum over all rows.
  __device__ __forceinline__ void store(int i, int j, Complex<double> sum) const {
    if (i < overlap) return;
#if TS_PARTS
    sums[i * width_b + j] = sum.re;
    if (is_complex) sums[imaginary + i * width_b + j] = sum.im;
#else
    Result* out = c + i * row_stride + j * column_stride;
    store_result(out, alpha, sum, beta);
    if (mirror) mirror[j * row_stride + i * column_stride] = adjoint ? conj(*out) : *out;
#endif
  }
};

__device__ __forceinline__ Output output_of(const Part& part, Result* c, int64 c_row_stride, int64 c_column_stride,
                                            Result* mirror, Complex<double> alpha, Complex<double> beta, int adjoint,
                                            [[maybe_unused]] const PartsArgument& parts) {
  Output out{c, mirror, c_row_stride, c_column_stride, alpha, beta, adjoint, part.overlap, nullptr, 0};
#if TS_PARTS
  out.sums = parts.sums + part.number * parts.size + (static_cast<int64>(part.panel) * TS_P - part.overlap) * width_b;
  out.imaginary = parts.size / 2;
#endif
  return out;
}

/// C from real_product(l, r) of each block: the sum over its rows for folded columns l of the left factor and
/// r of the right one. Called by all threads.
template <class Sum, class RealProduct>
__device__ __forceinline__ void finish(const Sum& totals, const Output& out, const Part& part, const OperandArgument& a,
                                       const OperandArgument& b, int64 rows, int threads, RealProduct real_product) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  // Of scalar columns i of A and j of B: the diagonal of the folds.
  const auto product = [&](int i, int j) {
    double sum = 0;
    for (int fold = 0; fold < TS_FOLD; ++fold) {
      int l = fold * TS_PITCH_A + i, r = fold * (TS_GRAM ? TS_PITCH_A : TS_PITCH_B) + j;
      if (TS_SWAP || (TS_GRAM && l > r)) {
        const int other = l;
        l = r, r = other;
      }
      sum += real_product(l, r);
    }
    return sum;
  };
  for (int first = thread - lane; first < result_count; first += threads) {
    const int e = first + lane, i = e / width_b, j = e % width_b;
    Complex<double> share = {0, 0};
    if (e < result_count) {
      if constexpr (is_complex) {
        const double sign = out.adjoint ? -1 : 1;
        share.re = product(2 * i, 2 * j) - sign * product(2 * i + 1, 2 * j + 1);
        share.im = product(2 * i, 2 * j + 1) + sign * product(2 * i + 1, 2 * j);
      } else {
        share.re = product(i, j);
      }
    }
#if TS_CORE == 1 || TS_THREE
    const bool bad = !(isfinite(share.re) && isfinite(share.im));
    for (uint32 todo = __ballot_sync(~0u, bad); todo != 0; todo &= todo - 1) {
      const int at = first + __ffs(static_cast<int>(todo)) - 1;
      const Complex<double> sum = plain_sum(a, b, rows, part, at / width_b, at % width_b, out.adjoint, lane);
      if (at == e) share = sum;
    }
#endif
    if (e < result_count) {
      totals.put(e, 0, share.re);
      if (is_complex) totals.put(e, 1, share.im);
    }
  }
  totals.finish(thread, threads, [&](int e, const double* sum) {
    out.store(e / width_b, e % width_b, {sum[0], is_complex ? sum[parts - 1] : 0});
  });
}
