// Y = alpha X op(S) + beta Y for tall X (n x TS_P) and small S (TS_P x TS_Q); Y may be X itself.
//
// Groups of TS_GROUP warps work on their own: each keeps a private ring of TS_STAGES slots in flight, takes
// chunks of TS_ROWS rows in turn, and leaves the results in the slot that held the rows, from where they are
// stored. The warps of a group share the columns of Y. S lies in shared memory for the whole run, as fragments
// of tensor instructions in the order in which lanes read them (mma), or as it is (narrow).
//
//   mma     (TS_NARROW 0) rows are the 16 of a tile, K the columns of X; two K-neighbours of a lane are
//           neighbours in memory. Complex: K runs over (re, im) pairs of X; one fragment of S gives the
//           factors of both the real and the imaginary columns of Y.
//   narrow  (TS_NARROW 1) a lane has a row; no padding, so that nothing meets what it does not depend on.
//
//   TS_TYPE, TS_CORE (0 or 1), TS_NARROW; TS_P, TS_Q
//   TS_MODE_X, TS_PITCH_X, TS_UNIT_X, TS_SHIFT_X, TS_VECTOR_X   see operand.cuh
//   TS_BULK_Y     Y is contiguous and 16-byte aligned: whole chunks are stored in bulk
//   TS_ACCUMULATE beta is not 0: Y is read
//   TS_ROWS (of a chunk), TS_STAGES, TS_GROUP, TS_GROUPS, TS_TILES (of 16 rows that a warp computes at once)
#pragma once

#include "operand.cuh"

using X = Operand<TS_MODE_X, TS_P, TS_PITCH_X, 1, 1, TS_UNIT_X, 2, TS_ROWS / 2, TS_PAD_X, TS_SHIFT_X>;

constexpr int warps = TS_GROUP * TS_GROUPS, threads = 32 * warps;
constexpr int result_size = sizeof(Result);
constexpr int y_bytes = TS_ROWS * TS_Q * result_size;  ///< of a chunk
constexpr int y_offset = TS_ACCUMULATE ? X::stage_bytes : 0;
constexpr int slot_bytes =
    round_up(TS_ACCUMULATE ? X::stage_bytes + y_bytes : X::stage_bytes > y_bytes ? X::stage_bytes : y_bytes, 128);

/// What alpha, beta and sums are: float32 for sums in float32, else float64.
#if TS_CORE == 0
using Sum = double;
#else
using Sum = float;
#endif

#if TS_NARROW
constexpr int factor_bytes = round_up(TS_P * TS_Q * result_size, 128);
#else
constexpr int k_blocks = (TS_P * parts + 15) / 16, column_blocks = (TS_Q + 7) / 8;
constexpr int blocks_of_warp = (column_blocks + TS_GROUP - 1) / TS_GROUP;
constexpr int factor_bytes = k_blocks * column_blocks * 32 * static_cast<int>(sizeof(Fragment));
#endif
constexpr int factor_offset = round_up(8 * TS_GROUPS * TS_STAGES, 128), ring_offset = factor_offset + factor_bytes;

__device__ __forceinline__ void group_sync(int group) {
  if (TS_GROUP == 1)
    __syncwarp();
  else
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(32 * TS_GROUP) : "memory");
}

/// Element (k, j) of op(S).
struct Factor {
  const Result* data;
  int64 row_stride, column_stride;
  int conjugate;

  __device__ __forceinline__ Result at(int k, int j) const {
    const Result x = data[k * row_stride + j * column_stride];
    return conjugate ? conj(x) : x;
  }
};

/// alpha sum + beta *y, where beta counts if TS_ACCUMULATE.
template <class R>
__device__ __forceinline__ void put(R* y, Sum re, Sum, Complex<Sum> alpha, Complex<Sum> beta) {
  const Sum scaled = alpha.re * re;
  *y = static_cast<R>(TS_ACCUMULATE ? madd(beta.re, static_cast<Sum>(*y), scaled) : scaled);
}
template <class R>
__device__ __forceinline__ void put(Complex<R>* y, Sum re, Sum im, Complex<Sum> alpha, Complex<Sum> beta) {
  Complex<Sum> sum = mul(alpha, Complex<Sum>{re, im});
  if (TS_ACCUMULATE) sum = madd(beta, Complex<Sum>{static_cast<Sum>(y->re), static_cast<Sum>(y->im)}, sum);
  *y = {static_cast<R>(sum.re), static_cast<R>(sum.im)};
}

#if TS_NARROW

__device__ __forceinline__ void prepare_factor(unsigned char* to, const Factor& s, int thread) {
  for (int e = thread; e < TS_P * TS_Q; e += threads) reinterpret_cast<Result*>(to)[e] = s.at(e / TS_Q, e % TS_Q);
}

__device__ __forceinline__ Real part_of(Real x, int) { return x; }
__device__ __forceinline__ Real part_of(Complex<Real> x, int part) { return part ? x.im : x.re; }

/// Rows lane, lane + 32, ... of a chunk.
__device__ __forceinline__ void compute(const X& x, unsigned char* slot, const unsigned char* factor, int group, int,
                                        int lane, Complex<Sum> alpha, Complex<Sum> beta) {
  constexpr int each = TS_ROWS / 32;
  Real sum[each][TS_Q * parts] = {};
  const Result* s = reinterpret_cast<const Result*>(factor);
  int row[each];
#pragma unroll
  for (int i = 0; i < each; ++i) row[i] = x.row_offset(lane + 32 * i);
#pragma unroll
  for (int k = 0; k < TS_P; ++k) {
    Real value[each][parts];
#pragma unroll
    for (int i = 0; i < each; ++i)
#pragma unroll
      for (int e = 0; e < parts; ++e)
        value[i][e] = widen(*reinterpret_cast<const Scalar*>(
            slot + row[i] + (X::by_columns ? k * X::column_pitch : k * X::element_size) + e * X::scalar_size));
#pragma unroll
    for (int j = 0; j < TS_Q; ++j) {
      const Result factor_kj = s[k * TS_Q + j];
#pragma unroll
      for (int i = 0; i < each; ++i) {
        if (parts == 1) {
          sum[i][j] = madd(value[i][0], part_of(factor_kj, 0), sum[i][j]);
        } else {
          const Real re = part_of(factor_kj, 0), im = part_of(factor_kj, 1);
          sum[i][2 * j] = madd(value[i][0], re, madd(-value[i][parts - 1], im, sum[i][2 * j]));
          sum[i][parts * j + parts - 1] =
              madd(value[i][0], im, madd(value[i][parts - 1], re, sum[i][parts * j + parts - 1]));
        }
      }
    }
  }
  group_sync(group);
  Result* y = reinterpret_cast<Result*>(slot + y_offset);
#pragma unroll
  for (int i = 0; i < each; ++i)
#pragma unroll
    for (int j = 0; j < TS_Q; ++j)
      put(y + (lane + 32 * i) * TS_Q + j, sum[i][parts * j], sum[i][parts * j + parts - 1], alpha, beta);
}

#else

__device__ __forceinline__ void set_parts(Fragment& f, int u, float x) { set(f, u, x); }
__device__ __forceinline__ void set_parts(Fragment& f, int u, double x) { set(f, u, x); }
template <class R>
__device__ __forceinline__ void set_parts(Fragment& f, int u, Complex<R> x) {
  set(f, u, x.re), set(f, u + 1, x.im);
}

/// Fragments of op(S): lane (g, t) of (k block, column block) holds column g, rows 4t .. 4t + 3 of 16 scalars of
/// K (complex: rows 2t, 2t + 1 of 8, each as real and imaginary part).
__device__ __forceinline__ void prepare_factor(unsigned char* to, const Factor& s, int thread) {
  for (int e = thread; e < k_blocks * column_blocks * 32; e += threads) {
    const int lane = e % 32, column = e / 32 % column_blocks * 8 + lane / 4;
    const int first = (e / 32 / column_blocks * 16 + lane % 4 * 4) / parts;
    Fragment f;
#pragma unroll
    for (int u = 0; u < 4 / parts; ++u)
      set_parts(f, u * parts, first + u < TS_P && column < TS_Q ? s.at(first + u, column) : Result{});
    reinterpret_cast<Fragment*>(to)[e] = f;
  }
}

/// The factor of the imaginary columns, [Im S, Re S], and, in place, of the real ones, [Re S, -Im S].
__device__ __forceinline__ Fragment imaginary_of(Fragment& f) {
  Fragment im;
#pragma unroll
  for (int u = 0; u < 4; u += 2) {
#if TS_CORE == 0
    im.k[u] = f.k[u + 1], im.k[u + 1] = f.k[u];
    f.k[u + 1] = -f.k[u + 1];
#else
    im.high[u] = f.high[u + 1], im.high[u + 1] = f.high[u], im.low[u] = f.low[u + 1], im.low[u + 1] = f.low[u];
    f.high[u + 1] ^= 0x80000000u, f.low[u + 1] ^= 0x80000000u;
#endif
  }
  return im;
}

/// Rows of X in a tile of 16: half of them from each sub-block.
__device__ __forceinline__ int row_of(int tile, int index) { return (index & 1) * (TS_ROWS / 2) + tile * 8 + (index >> 1); }

/// K scalars [first, first + 4) of a row; what is beyond the width counts as zero.
template <bool Whole, int V = X::by_columns ? 1 : TS_VECTOR_X>
__device__ __forceinline__ Fragment load_row(const unsigned char* row, int first) {
  constexpr int v = V, size = X::scalar_size;
  Fragment f;
#pragma unroll
  for (int i = 0; i < 4; i += v) {
    const bool valid = Whole || first + i < TS_P * parts;  // vectors do not straddle the end
    const int at = !valid ? 0
                   : X::by_columns ? (first + i) / parts * X::column_pitch + (first + i) % parts * size
                                   : (first + i) * size;
    if constexpr (v * size >= 4) {
      const Words<v * size> words = load_words<v * size>(row + at);
#pragma unroll
      for (int e = 0; e < v; ++e) {
#if TS_TYPE <= 3
        set(f, i + e, valid ? scalar_of(words.w + e * (size / 4), Scalar()) : 0);
#else
        const Scalar x{static_cast<unsigned short>(words.w[e / 2] >> (e % 2 * 16))};
        set_short(f, i + e, valid ? widen(x) : 0);
#endif
      }
    } else {
      set_short(f, i, valid ? widen(*reinterpret_cast<const Scalar*>(row + at)) : 0);  // 16-bit types alone
    }
  }
  return f;
}

using Sums = AccumulatorTile[TS_TILES][parts][blocks_of_warp];

/// sums += the products of 16 scalars of K, some blocks of columns at once: one in float64, up to four of 3xTF32,
/// whose instructions take turns.
template <bool Whole>
__device__ __forceinline__ void multiply_block(Sums& sum, const unsigned char* slot, const int (&row)[TS_TILES][2],
                                               const unsigned char* factor, int kb, int warp_of_group, int lane) {
  Fragment lower[TS_TILES], upper[TS_TILES];
#pragma unroll
  for (int i = 0; i < TS_TILES; ++i) {
    lower[i] = load_row<Whole>(slot + row[i][0], kb * 16 + lane % 4 * 4);
    upper[i] = load_row<Whole>(slot + row[i][1], kb * 16 + lane % 4 * 4);
  }
  constexpr int n = blocks_of_warp, most = is_complex ? 2 : 4;
  constexpr int at_once = TS_CORE == 0 ? 1 : n % most == 0 ? most : n % 3 == 0 && most > 2 ? 3 : n % 2 == 0 ? 2 : 1;
  using Blocks = AccumulatorTile[at_once];
#pragma unroll
  for (int b = 0; b < n; b += at_once) {
    Fragment right[at_once], imaginary[at_once];
#pragma unroll
    for (int j = 0; j < at_once; ++j) {
      int block = warp_of_group * n + b + j;
      if (column_blocks % TS_GROUP != 0 && block >= column_blocks) block = 0;  // its sums are not stored
      right[j] = reinterpret_cast<const Fragment*>(factor)[(kb * column_blocks + block) * 32 + lane];
      if constexpr (is_complex) imaginary[j] = imaginary_of(right[j]);
    }
#pragma unroll
    for (int i = 0; i < TS_TILES; ++i) {
      multiply_add_row(reinterpret_cast<Blocks&>(sum[i][0][b]), lower[i], upper[i], right, 0);
      if constexpr (is_complex)
        multiply_add_row(reinterpret_cast<Blocks&>(sum[i][parts - 1][b]), lower[i], upper[i], imaginary, 0);
    }
  }
}

/// A warp's columns of a chunk.
__device__ __forceinline__ void compute(const X& x, unsigned char* slot, const unsigned char* factor, int group,
                                        int warp_of_group, int lane, Complex<Sum> alpha, Complex<Sum> beta) {
  static_assert(TS_ROWS == 16 * TS_TILES, "results replace the rows, so that all are computed before any is stored");
  const int g = lane / 4, t = lane % 4;
  Sums sum = {};
  int row[TS_TILES][2];
#pragma unroll
  for (int i = 0; i < TS_TILES; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) row[i][half] = x.row_offset(row_of(i, g + 8 * half));

  // Blocks of 16 scalars of K that are whole, then what is left.
  constexpr int whole_blocks = TS_P * parts / 16;
#pragma unroll 1
  for (int kb = 0; kb < whole_blocks; ++kb) multiply_block<true>(sum, slot, row, factor, kb, warp_of_group, lane);
  if (whole_blocks < k_blocks) multiply_block<false>(sum, slot, row, factor, whole_blocks, warp_of_group, lane);

  group_sync(group);
  Result* y = reinterpret_cast<Result*>(slot + y_offset);
#pragma unroll
  for (int i = 0; i < TS_TILES; ++i)
#pragma unroll
    for (int b = 0; b < blocks_of_warp; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int column = (warp_of_group * blocks_of_warp + b) * 8 + 2 * t + e % 2;
        if (column < TS_Q)
          put(y + row_of(i, g + e / 2 * 8) * TS_Q + column, sum[i][0][b][e], sum[i][parts - 1][b][e], alpha, beta);
      }
}

#endif

#if __CUDA_ARCH__ >= 900
constexpr bool y_in_bulk = TS_ACCUMULATE && TS_BULK_Y;
#else
constexpr bool y_in_bulk = false;
#endif

struct ResultArgument {
  Result* data;
  int64 row_stride, column_stride;
};

/// The rows of a chunk that Y has, one element at a time, neighbours in memory by neighbouring lanes.
template <class F>
__device__ __forceinline__ void for_each_result(const ResultArgument& y, int64 first, int rows, int thread, F f) {
  if (y.column_stride == 1) {
    Result* const start = y.data + first * y.row_stride;
#pragma unroll 8
    for (int e = thread; e < rows * TS_Q; e += 32 * TS_GROUP) f(e, start + e / TS_Q * y.row_stride + e % TS_Q);
  } else {
    Result* const start = y.data + first * y.row_stride;
#pragma unroll 8
    for (int e = thread; e < TS_ROWS * TS_Q; e += 32 * TS_GROUP) {
      const int row = e % TS_ROWS, column = e / TS_ROWS;
      if (row < rows) f(row * TS_Q + column, start + row * y.row_stride + column * y.column_stride);
    }
  }
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    tsmm(OperandArgument x_argument, Factor s, ResultArgument y, int64 rows, Complex<double> wide_alpha,
         Complex<double> wide_beta) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, group = thread / 32 / TS_GROUP;
  const int warp_of_group = thread / 32 % TS_GROUP, thread_of_group = thread % (32 * TS_GROUP);
  uint64* full = reinterpret_cast<uint64*>(shared) + group * TS_STAGES;
  unsigned char* factor = shared + factor_offset;
  unsigned char* ring = shared + ring_offset + group * TS_STAGES * slot_bytes;
  const Complex<Sum> alpha{static_cast<Sum>(wide_alpha.re), static_cast<Sum>(wide_alpha.im)};
  const Complex<Sum> beta{static_cast<Sum>(wide_beta.re), static_cast<Sum>(wide_beta.im)};

  if (thread_of_group == 0)
    for (int i = 0; i < TS_STAGES; ++i) barrier_init(full + i, X::arrivals(32) + y_in_bulk);
  if (thread == 0) barrier_init_fence();
  const X x(x_argument, rows);
  const int64 chunks = (rows + TS_ROWS - 1) / TS_ROWS, stride = static_cast<int64>(gridDim.x) * TS_GROUPS;
  int64 to_load = static_cast<int64>(blockIdx.x) * TS_GROUPS + group, chunk = to_load;
  __syncthreads();

  int load_slot = 0;
  // By the first warp of the group; what Y was comes along where it can be copied in bulk.
  const auto load_next = [&] {
    if (to_load < chunks) {
      unsigned char* slot = ring + load_slot * slot_bytes;
      x.fill(to_load, slot, full + load_slot, lane, 32);
#if __CUDA_ARCH__ >= 900
      if (y_in_bulk && lane == 0) {
        const bool whole = (to_load + 1) * TS_ROWS <= rows;
        barrier_arrive_expecting(full + load_slot, whole ? y_bytes : 0);
        if (whole) bulk_load(slot + y_offset, y.data + to_load * (TS_ROWS * TS_Q), y_bytes, full + load_slot);
      }
#endif
    }
    to_load += stride;
    if (++load_slot == TS_STAGES) load_slot = 0;
  };
  if (warp_of_group == 0)
    for (int i = 0; i < TS_STAGES - 1; ++i) load_next();
  prepare_factor(factor, s, thread);
  __syncthreads();

  for (RingPosition<TS_STAGES> at; chunk < chunks; chunk += stride, at.advance()) {
    unsigned char* slot = ring + at.stage * slot_bytes;
    const int64 first = chunk * TS_ROWS;
    const int valid = rows - first < TS_ROWS ? static_cast<int>(rows - first) : TS_ROWS;
    Result* staged = reinterpret_cast<Result*>(slot + y_offset);
    if (TS_ACCUMULATE && !(y_in_bulk && valid == TS_ROWS)) {
      for_each_result(y, first, valid, thread_of_group, [&](int i, const Result* from) { staged[i] = *from; });
      group_sync(group);
    }
    barrier_wait(full + at.stage, at.parity);
    compute(x, slot, factor, group, warp_of_group, lane, alpha, beta);

    bool in_bulk = false;
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    in_bulk = TS_BULK_Y && valid == TS_ROWS;
#endif
    group_sync(group);
    if (!in_bulk)
      for_each_result(y, first, valid, thread_of_group, [&](int i, Result* to) { *to = staged[i]; });
    if (warp_of_group == 0) {
#if __CUDA_ARCH__ >= 900
      if (lane == 0) {
        if (in_bulk)
          asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y.data + first * TS_Q),
                       "r"(shared_address(staged)), "n"(y_bytes)
                       : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");  // of the slot that is filled next
      }
#endif
      __syncwarp();
      load_next();
    }
  }
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}
