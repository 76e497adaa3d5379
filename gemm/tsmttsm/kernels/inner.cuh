// What the kernels of C = alpha op(A) B + beta C have in common: the operands, the panels that A is cut into,
// and how a block's product becomes its share of C.
//
// An A of more columns is cut into panels, each the work of `panel_blocks` blocks of the grid; the last panel ends with
// A and begins within the one before it, whose results it leaves alone. `mirror`, unless null, is where the (conjugate)
// transpose of the result goes too: the other triangle of a Gram matrix that is computed in panels.
#pragma once

#include "tallskinny/gemm/device/cluster_sum.cuh"
#include "tallskinny/gemm/device/operand.cuh"
#include "tallskinny/gemm/device/ordered_sum.cuh"
#include "tallskinny/gemm/device/parts.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/columns.cuh"

using ts::cuda::InnerArguments;
using OperandA = TallStream<policy.a()>;
using OperandB = TallStream<policy.b()>;
constexpr int width_b = policy.gram ? policy.p : policy.q;
using Left = Choose<policy.swap, OperandB, OperandA>::type;
using Right = Choose<policy.swap, OperandA, OperandB>::type;

/// x or y.
template <bool First, class X, class Y>
__device__ __forceinline__ const auto& pick(const X& x, const Y& y) {
  if constexpr (First)
    return x;
  else
    return y;
}

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

constexpr int folded_chunk = policy.chunk_rows();
__device__ __forceinline__ int64 chunks_of(int64 rows) {
  const int64 folded_rows = (rows + policy.fold - 1) / policy.fold;
  return (folded_rows + folded_chunk - 1) / folded_chunk;
}

/// The panel that this block works on, and which of the panel's blocks it is.
struct Part {
  int panel, block, blocks;
  int overlap;  ///< columns that the panel before has as well
  int64 chunks, turn;
  int number, place;  ///< which part of the rows this is; which panel of all parts
  OperandArgument a, b;
  int64 rows;
  Result* c;

  /// The chunk whose turn is number `i`. Panels of a column-major A begin at different rows: otherwise all
  /// blocks march through addresses that are multiples of the leading dimension apart. Those of a row-major A
  /// are parts of the same rows and share B in the L2 cache.
  __device__ __forceinline__ int64 chunk_at(int64 i) const { return i + turn < chunks ? i + turn : i + turn - chunks; }
};
__device__ __forceinline__ Part part_of(const InnerArguments& of) {
  OperandArgument a = of.a, b = of.b;
  int64 rows = of.rows;
  int number = 0, block, blocks = static_cast<int>(gridDim.x);
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));  // worked out anew each time, so that no registers hold it
  if constexpr (in_parts) {
    const PartOfGrid of_rows(of.parts);
    number = of_rows.number, block = of_rows.block, blocks = of_rows.blocks;
    rows = of_rows.rows(of.parts, rows);
    a.data = static_cast<const Element*>(a.data) + number * of.parts.rows * a.row_stride;
    b.data = static_cast<const Element*>(b.data) + number * of.parts.rows * b.row_stride;
  }
  int panel = 0, panels = 1, panel_blocks = blocks;
  if constexpr (policy.panels)
    panel_blocks = of.panel_blocks, panel = block / panel_blocks, panels = blocks / panel_blocks;
  const int64 start = static_cast<int64>(panel) * policy.p, chunks = chunks_of(rows);
  const int overlap =
      !policy.panels || start + policy.p <= of.a_columns ? 0 : static_cast<int>(start + policy.p - of.a_columns);
  a.data = static_cast<const Element*>(a.data) + (start - overlap) * a.column_stride;
  return {panel,
          block - panel * panel_blocks,
          panel_blocks,
          overlap,
          chunks,
          OperandA::by_columns ? panel * chunks / panels : 0,
          number,
          number * panels + panel,
          a,
          b,
          rows,
          static_cast<Result*>(of.c) + (start - overlap) * of.c_row_stride};
}

constexpr int result_count = policy.p * width_b;
constexpr int result_parts = result_count * parts;  ///< reals

template <class R>
__device__ __forceinline__ void add_product(Complex<double>& sum, R x, R y, int) {
  sum.re = madd(static_cast<double>(widen(x)), static_cast<double>(widen(y)), sum.re);
}
template <class R>
__device__ __forceinline__ void add_product(Complex<double>& sum, Complex<R> x, Complex<R> y, int adjoint) {
  sum = madd(Complex<double>{x.re, adjoint ? -x.im : x.im}, Complex<double>{y.re, y.im}, sum);
}

/// The sum over this block's rows of conj(a) b in float64, by one warp. High and low parts of a number that
/// is not finite make NaN of what should be infinite, and so do three products for a complex one: where a sum
/// is not finite, this one counts.
__device__ __forceinline__ Complex<double> plain_sum(const InnerArguments& of, int column_a, int column_b, int lane) {
  const InnerArguments* again = &of;  // read anew, so that no registers hold them meanwhile
  asm volatile("" : "+l"(again));
  const Part part = part_of(*again);
  const OperandArgument &a = part.a, &b = part.b;
  const Element* at_a = static_cast<const Element*>(a.data) + column_a * a.column_stride;
  const Element* at_b = static_cast<const Element*>(b.data) + column_b * b.column_stride;
  constexpr int chunk_rows = folded_chunk * policy.fold;
  Complex<double> sum = {0, 0};
  for (int64 i = part.block; i < part.chunks; i += part.blocks)
    for (int r = lane; r < chunk_rows; r += 32) {
      const int64 row = part.chunk_at(i) * chunk_rows + r;
      if (row >= part.rows) break;
      add_product(sum, at_a[row * a.row_stride], at_b[row * b.row_stride], again->adjoint);
    }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum.re += __shfl_xor_sync(~0u, sum.re, distance);
    sum.im += __shfl_xor_sync(~0u, sum.im, distance);
  }
  return sum;
}

/// How the shares of all blocks become one sum: by clusters or by tickets.
#if __CUDA_ARCH__ >= 900
constexpr bool clustered = policy.cluster > 1;
template <bool Clustered, class Number, int Count, int Parts>
struct TotalsOf {
  using Type = ClusterSum<Number, policy.cluster, Count, Parts>;
};
template <class Number, int Count, int Parts>
struct TotalsOf<false, Number, Count, Parts> {
  using Type = TicketSum<Count, Parts>;
};
#else
constexpr bool clustered = false;
template <bool, class, int Count, int Parts>
struct TotalsOf {
  using Type = TicketSum<Count, Parts>;
};
#endif
template <class Number, int Count, int Parts>
using Totals = TotalsOf<clustered, Number, Count, Parts>::Type;

template <class Sum>
__device__ __forceinline__ Sum totals_of(const Part& part, void* inbox, const InnerArguments& of) {
  if constexpr (clustered) {
    const int groups = part.blocks / policy.cluster;
    return Sum{static_cast<typename Sum::Inbox*>(inbox),
               of.mailboxes + static_cast<int64>(part.place) * groups * Sum::numbers, of.tickets + part.place, groups,
               part.block / policy.cluster};
  } else {
    const int group_size = policy.cluster > 1 ? policy.cluster : of.group_size;
    const int groups = (part.blocks + group_size - 1) / group_size;
    double* const partials = of.partials + static_cast<int64>(part.place) * (part.blocks + groups) * Sum::numbers;
    return Sum{{partials, partials + static_cast<int64>(part.blocks) * Sum::numbers,
                of.tickets + part.place * (1 + groups), part.blocks, part.block, group_size}};
  }
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
    if constexpr (in_parts) {
      sums[i * width_b + j] = sum.re;
      if (is_complex) sums[imaginary + i * width_b + j] = sum.im;
    } else {
      Result* out = c + i * row_stride + j * column_stride;
      store_result(out, alpha, sum, beta);
      if (mirror) mirror[j * row_stride + i * column_stride] = adjoint ? conj(*out) : *out;
    }
  }
};

__device__ __forceinline__ Output output_of(const Part& part, const InnerArguments& of) {
  Output out{part.c,
             static_cast<Result*>(of.mirror),
             of.c_row_stride,
             of.c_column_stride,
             {of.alpha.re, of.alpha.im},
             {of.beta.re, of.beta.im},
             of.adjoint,
             part.overlap,
             nullptr,
             0};
  if constexpr (in_parts) {
    out.sums = of.parts.sums + part.number * of.parts.size +
               (static_cast<int64>(part.panel) * policy.p - part.overlap) * width_b;
    out.imaginary = of.parts.size / 2;
  }
  return out;
}

/// Where a block of warpgroups keeps its `count` sums in float64: behind all partial results.
__device__ __forceinline__ double* block_sums(const Part& part, const InnerArguments& of, int count) {
  const int panels = static_cast<int>(gridDim.x) / part.blocks;
  const int groups = (part.blocks + of.group_size - 1) / of.group_size;
  return of.partials + static_cast<int64>(panels) * (part.blocks + groups) * result_parts +
         static_cast<int64>(blockIdx.x) * count;
}

/// C from real_product(l, r) of each block: the sum over its rows for folded columns l of the left factor and
/// r of the right one. Called by all threads.
template <class Sum, class RealProduct>
__device__ __forceinline__ void finish(const Sum& totals, const Output& out, const InnerArguments& of, int threads,
                                       RealProduct real_product) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  // Of scalar columns i of A and j of B: the diagonal of the folds.
  const auto product = [&](int i, int j) {
    double sum = 0;
    for (int fold = 0; fold < policy.fold; ++fold) {
      int l = fold * policy.a().pitch + i, r = fold * policy.b().pitch + j;
      if (policy.swap || (policy.gram && l > r)) {
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
    if constexpr (policy.repairs()) {
      const bool bad = !(isfinite(share.re) && isfinite(share.im));
      for (uint32 todo = __ballot_sync(~0u, bad); todo != 0; todo &= todo - 1) {
        const int at = first + __ffs(static_cast<int>(todo)) - 1;
        const Complex<double> sum = plain_sum(of, at / width_b, at % width_b, lane);
        if (at == e) share = sum;
      }
    }
    if (e < result_count) {
      totals.put(e, 0, share.re);
      if (is_complex) totals.put(e, 1, share.im);
    }
  }
  totals.finish(thread, threads, [&](int e, const double* sum) {
    out.store(e / width_b, e % width_b, {sum[0], is_complex ? sum[parts - 1] : 0});
  });
}
