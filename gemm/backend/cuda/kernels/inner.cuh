// What the kernels of C = alpha op(A) B + beta C have in common: the operands, the panels that A is cut into,
// and how a block's product becomes its share of C.
//
//   TS_TYPE; TS_P, TS_Q; TS_GRAM; TS_SWAP
//   TS_MODE_A/B, TS_PITCH_A/B, TS_VECTOR_A/B, TS_UNIT_A/B, TS_SHIFT_A/B, TS_FOLD, TS_SUBS, TS_SUB_ROWS
//                 see operand.cuh
//
// An A of more columns is cut into panels of TS_P, each the work of `panel_blocks` blocks of the grid; the
// last panel ends with A and begins within the one before it, whose results it leaves alone. `mirror`, unless
// null, is where the (conjugate) transpose of the result goes too: the other triangle of a Gram matrix that
// is computed in panels.
#pragma once

#include "columns.cuh"
#include "operand.cuh"
#include "ordered_sum.cuh"

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
__device__ __forceinline__ void store_result(R* out, Complex<double> alpha, Complex<double> sum,
                                             Complex<double> beta) {
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

  /// The chunk whose turn is number `i`. Panels of a column-major A begin at different rows: otherwise all
  /// blocks march through addresses that are multiples of the leading dimension apart. Those of a row-major A
  /// are parts of the same rows and share B in the L2 cache.
  __device__ __forceinline__ int64 chunk_at(int64 i) const {
    return i + turn < chunks ? i + turn : i + turn - chunks;
  }
};
/// Moves A and C to the panel.
__device__ __forceinline__ Part part_of(OperandArgument& a, int64 rows, int64 a_columns, Result*& c,
                                        int64 c_row_stride, int panel_blocks) {
  const int panel = static_cast<int>(blockIdx.x) / panel_blocks,
            panels = static_cast<int>(gridDim.x) / panel_blocks;
  const int64 start = static_cast<int64>(panel) * TS_P, chunks = chunks_of(rows);
  const int overlap = start + TS_P <= a_columns ? 0 : static_cast<int>(start + TS_P - a_columns);
  a.data = static_cast<const Element*>(a.data) + (start - overlap) * a.column_stride;
  c += (start - overlap) * c_row_stride;
  return {panel,  static_cast<int>(blockIdx.x) % panel_blocks,       panel_blocks, overlap,
          chunks, OperandA::by_columns ? panel * chunks / panels : 0};
}

constexpr int result_count = TS_P * width_b;
constexpr int result_parts = result_count * parts;  ///< reals

#if TS_CORE == 1
__device__ __forceinline__ void add_product(Complex<double>& sum, float x, float y, int) {
  sum.re = madd(double{x}, double{y}, sum.re);
}
__device__ __forceinline__ void add_product(Complex<double>& sum, Complex<float> x, Complex<float> y,
                                            int adjoint) {
  sum = madd(Complex<double>{x.re, adjoint ? -x.im : x.im}, Complex<double>{y.re, y.im}, sum);
}

/// The sum over this block's rows of conj(a) b in float64, by one warp. High and low parts of a number that
/// is not finite make NaN of what should be infinite: where a sum is not finite, this one counts.
__device__ __forceinline__ Complex<double> plain_sum(const OperandArgument& a, const OperandArgument& b,
                                                     int64 rows, const Part& part, int column_a, int column_b,
                                                     int adjoint, int lane) {
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

/// C = alpha sum + beta C by the last block of the panel, from real_product(l, r) of each block: the sum over
/// its rows for folded columns l of the left factor and r of the right one. Called by all threads.
template <class RealProduct>
__device__ __forceinline__ void finish(const Part& part, const OperandArgument& a, const OperandArgument& b,
                                       int64 rows, Result* c, int64 c_row_stride, int64 c_column_stride,
                                       Result* mirror, Complex<double> alpha, Complex<double> beta,
                                       int adjoint, int group_size, double* partials, unsigned* tickets,
                                       int threads, RealProduct real_product) {
  const int thread = static_cast<int>(threadIdx.x);
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
  const int groups = (part.blocks + group_size - 1) / group_size;
  partials += static_cast<int64>(part.panel) * (part.blocks + groups) * result_parts;
  double* mine = partials + static_cast<int64>(part.block) * result_parts;
  for (int e = thread; e < result_count; e += threads) {
    const int i = e / width_b, j = e % width_b;
    if constexpr (is_complex) {
      const double sign = adjoint ? -1 : 1;
      mine[e] = product(2 * i, 2 * j) - sign * product(2 * i + 1, 2 * j + 1);
      mine[result_count + e] = product(2 * i, 2 * j + 1) + sign * product(2 * i + 1, 2 * j);
    } else {
      mine[e] = product(i, j);
    }
  }
#if TS_CORE == 1
  for (int first = thread / 32 * 32; first < result_count; first += threads) {
    const int lane = thread % 32, e = first + lane;
    const bool bad =
        e < result_count &&
        !(isfinite(mine[e]) && (!is_complex || isfinite(mine[(is_complex ? result_count : 0) + e])));
    for (uint32 todo = __ballot_sync(~0u, bad); todo != 0; todo &= todo - 1) {
      const int at = first + __ffs(static_cast<int>(todo)) - 1;
      const Complex<double> sum = plain_sum(a, b, rows, part, at / width_b, at % width_b, adjoint, lane);
      if (at == e) {
        mine[e] = sum.re;
        if (is_complex) mine[result_count + e] = sum.im;
      }
    }
  }
#endif
  const OrderedSum order{partials,
                         partials + static_cast<int64>(part.blocks) * result_parts,
                         tickets + part.panel * (1 + groups),
                         part.blocks,
                         part.block,
                         group_size};
  if (!order.last(result_parts, thread, threads)) return;
  const double* total = order.total();
  for (int e = thread + part.overlap * width_b; e < result_count; e += threads) {
    const int i = e / width_b, j = e % width_b;
    Result* out = c + i * c_row_stride + j * c_column_stride;
    store_result(out, alpha, {total[e], is_complex ? total[result_count + e] : 0}, beta);
    if (mirror) mirror[j * c_row_stride + i * c_column_stride] = adjoint ? conj(*out) : *out;
  }
}
