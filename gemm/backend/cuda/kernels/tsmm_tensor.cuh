// The chunk of a warp of tsmm.cuh by tensor instructions: rows are the 16 of a tile, K the columns of X; four
// K-neighbours of a lane are neighbours in memory. S lies in shared memory as fragments in the order in which
// lanes read them, its columns permuted so that a lane ends up with neighbouring results. Complex: K runs
// over (re, im) pairs; the real and the imaginary part of Y come from one fragment of S and two of X.
#pragma once

#include "tsmm_chunk.cuh"

constexpr int k_blocks = (TS_P * parts + 15) / 16, column_blocks = (TS_Q + 7) / 8;
constexpr int blocks_of_warp = (column_blocks + TS_COLUMN_WARPS - 1) / TS_COLUMN_WARPS;
constexpr int factor_bytes = k_blocks * column_blocks * 32 * static_cast<int>(sizeof(Fragment));

/// Blocks whose columns are dealt out to the lanes in turns, so that a lane has up to 32 bytes of a row of Y.
constexpr int dealt_wanted = sizeof(Result) >= 16 ? 1 : sizeof(Result) == 8 ? 2 : 4;
constexpr int dealt = column_blocks % TS_COLUMN_WARPS != 0           ? 1
                      : blocks_of_warp % dealt_wanted == 0           ? dealt_wanted
                      : dealt_wanted == 4 && blocks_of_warp % 2 == 0 ? 2
                                                                     : 1;
/// The column of Y in place n of a block.
__device__ __forceinline__ int column_of(int block, int n) {
  return block / dealt * (8 * dealt) + n / 2 * (2 * dealt) + block % dealt * 2 + n % 2;
}

__device__ __forceinline__ void set_parts(Fragment& f, int u, float x) {
  set(f, u, x);
}
__device__ __forceinline__ void set_parts(Fragment& f, int u, double x) {
  set(f, u, x);
}
template <class R>
__device__ __forceinline__ void set_parts(Fragment& f, int u, Complex<R> x) {
  set(f, u, x.re), set(f, u + 1, x.im);
}

/// Half a fragment: lanes that read together meet in no bank.
#if TS_CORE == 0
using FactorPiece = double2;
#else
using FactorPiece = uint4;
#endif

/// Fragments of op(S): lane (g, t) of (k block, column block) holds the column in place g, rows 4t .. 4t + 3
/// of 16 scalars of K (complex: rows 2t, 2t + 1 of 8, each as real and imaginary part).
__device__ __forceinline__ void prepare_factor(unsigned char* to, const Factor& s, int thread) {
  for (int e = thread; e < k_blocks * column_blocks * 32; e += threads) {
    const int lane = e % 32, column = column_of(e / 32 % column_blocks, lane / 4);
    const int first = (e / 32 / column_blocks * 16 + lane % 4 * 4) / parts;
    Fragment f;
#pragma unroll
    for (int u = 0; u < 4 / parts; ++u)
      set_parts(f, u * parts, first + u < TS_P && column < TS_Q ? s.at(first + u, column) : Result{});
    FactorPiece* const pieces = reinterpret_cast<FactorPiece*>(to) + e / 32 * 64 + lane;
#if TS_CORE == 0
    pieces[0] = {f.k[0], f.k[1]}, pieces[32] = {f.k[2], f.k[3]};
#else
    pieces[0] = {f.high[0], f.high[1], f.high[2], f.high[3]},
    pieces[32] = {f.low[0], f.low[1], f.low[2], f.low[3]};
#endif
  }
}
__device__ __forceinline__ Fragment load_factor(const unsigned char* factor, int kb, int block, int lane) {
  const FactorPiece* const pieces =
      reinterpret_cast<const FactorPiece*>(factor) + (kb * column_blocks + block) * 64 + lane;
  const FactorPiece first = pieces[0], second = pieces[32];
#if TS_CORE == 0
  return {{first.x, first.y, second.x, second.y}};
#else
  return {{first.x, first.y, first.z, first.w}, {second.x, second.y, second.z, second.w}};
#endif
}

/// What (Re S, Im S) meets of X for the imaginary part of Y, (Im X, Re X), and, in place, for the real one,
/// (Re X, -Im X).
__device__ __forceinline__ Fragment imaginary_of(Fragment& f) {
  Fragment im;
#pragma unroll
  for (int u = 0; u < 4; u += 2) {
#if TS_CORE == 0
    im.k[u] = f.k[u + 1], im.k[u + 1] = f.k[u];
    f.k[u + 1] = -f.k[u + 1];
#else
    im.high[u] = f.high[u + 1], im.high[u + 1] = f.high[u], im.low[u] = f.low[u + 1],
    im.low[u + 1] = f.low[u];
    f.high[u + 1] ^= 0x80000000u, f.low[u + 1] ^= 0x80000000u;
#endif
  }
  return im;
}

/// The team's row in a place of a tile of 16: half of them come from each sub-block.
__device__ __forceinline__ int row_of(int tile, int index) {
  return (index & 1) * (team_rows / 2) + tile * 8 + (index >> 1);
}

/// K scalars [first, first + 4) of a row; what is beyond the width counts as zero.
template <bool Whole, int V = X::by_columns ? 1 : TS_VECTOR_X>
__device__ __forceinline__ Fragment load_row(const unsigned char* row, int first) {
  constexpr int v = V, size = X::scalar_size;
  Fragment f;
#pragma unroll
  for (int i = 0; i < 4; i += v) {
    const bool valid = Whole || first + i < TS_P * parts;  // vectors do not straddle the end
    const int at = !valid          ? 0
                   : X::by_columns ? (first + i) / parts * X::column_pitch + (first + i) % parts * size
                                   : (first + i) * size;
    if constexpr (v * size >= 4) {
      const Words<v* size> words = load_words<v * size>(row + at);
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

/// sums += the products of 16 scalars of K, some blocks of columns at once: one in float64, up to four of
/// 3xTF32, whose instructions take turns.
template <bool Whole>
__device__ __forceinline__ void multiply_block(Sums& sum, const unsigned char* slot,
                                               const int (&row)[TS_TILES][2], const unsigned char* factor,
                                               int kb, int column_warp, int lane) {
  Fragment lower[TS_TILES], upper[TS_TILES], imaginary_lower[TS_TILES], imaginary_upper[TS_TILES];
#pragma unroll
  for (int i = 0; i < TS_TILES; ++i) {
    lower[i] = load_row<Whole>(slot + row[i][0], kb * 16 + lane % 4 * 4);
    upper[i] = load_row<Whole>(slot + row[i][1], kb * 16 + lane % 4 * 4);
    if (is_complex) imaginary_lower[i] = imaginary_of(lower[i]), imaginary_upper[i] = imaginary_of(upper[i]);
  }
  constexpr int n = blocks_of_warp, most = is_complex ? 2 : 4;
  constexpr int at_once = TS_CORE == 0             ? 1
                          : n % most == 0          ? most
                          : n % 3 == 0 && most > 2 ? 3
                          : n % 2 == 0             ? 2
                                                   : 1;
  using Blocks = AccumulatorTile[at_once];
#pragma unroll
  for (int b = 0; b < n; b += at_once) {
    Fragment right[at_once];
#pragma unroll
    for (int j = 0; j < at_once; ++j) {
      int block = column_warp * n + b + j;
      if (column_blocks % TS_COLUMN_WARPS != 0 && block >= column_blocks)
        block = 0;  // its sums are not stored
      right[j] = load_factor(factor, kb, block, lane);
    }
#pragma unroll
    for (int i = 0; i < TS_TILES; ++i) {
      multiply_add_row(reinterpret_cast<Blocks&>(sum[i][0][b]), lower[i], upper[i], right, 0);
      if constexpr (is_complex)
        multiply_add_row(reinterpret_cast<Blocks&>(sum[i][parts - 1][b]), imaginary_lower[i],
                         imaginary_upper[i], right, 0);
    }
  }
}

#if TS_CORE == 1
/// Scalar (row, column) of X op(S), one product at a time.
__device__ __forceinline__ float sum_of(const unsigned char* row, const Factor& s, int column, int part) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < TS_P; ++k) {
    const Element x =
        *reinterpret_cast<const Element*>(row + k * (X::by_columns ? X::column_pitch : X::element_size));
    const float re = part_of(widen(x), 0), im = part_of(widen(x), 1);
    const float factor_re = part_of(s.at(k, column), 0), factor_im = part_of(s.at(k, column), 1);
    if (is_complex)
      sum = part ? madd(re, factor_im, madd(im, factor_re, sum))
                 : madd(re, factor_re, madd(-im, factor_im, sum));
    else
      sum = madd(re, factor_re, sum);
  }
  return sum;
}

/// What split numbers make NaN but their products do not: an infinity has no low part, and its product with a
/// low part is NaN. Sums that came out as NaN are computed again. (They pass by in registers, which have no
/// run-time indices.)
__device__ __forceinline__ void repair(Sums& sums, const unsigned char* slot, const int (&row)[TS_TILES][2],
                                       const Factor& s, int column_warp, int t) {
  constexpr int count = TS_TILES * parts * blocks_of_warp * 4;
  float(&sum)[count] = reinterpret_cast<float(&)[count]>(sums);
  bool clean = true;
#pragma unroll
  for (int i = 0; i < count; ++i) clean = clean && sum[i] == sum[i];
  if (clean) return;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    float first = sum[0];
    const int e = i % 4,
              column = column_of(column_warp * blocks_of_warp + i / 4 % blocks_of_warp, 2 * t + e % 2);
    const int part = i / (4 * blocks_of_warp) % parts, tile = i / (4 * blocks_of_warp * parts);
    int at = 0;
#pragma unroll
    for (int j = 0; j < TS_TILES; ++j)
      if (j == tile) at = e < 2 ? row[j][0] : row[j][1];
    if (first != first && column < TS_Q) first = sum_of(slot + at, s, column, part);
#pragma unroll
    for (int j = 0; j + 1 < count; ++j) sum[j] = sum[j + 1];
    sum[count - 1] = first;
  }
}
#endif

/// A lane's neighbouring results of a row, which `dealt` blocks hold: 16 bytes at a time where they stand
/// aligned. Even and odd rows begin with different halves of 32 bytes, or they would meet in a bank.
__device__ __forceinline__ void put(Result* line, const AccumulatorTile (&sum)[parts][blocks_of_warp],
                                    int first_block, int b, int half, int t, int g, const Scalars& scalars) {
  constexpr int size = sizeof(Result), count = 2 * dealt, pieces = count * size / 16;
  const int column = column_of(first_block + b, 2 * t);
  const auto result = [&](int i, const Result& before) {
    const int e = half * 2 + i % 2;
    return scalars.apply(sum[0][b + i / 2][e], sum[parts - 1][b + i / 2][e], before);
  };
  if constexpr (!TS_ACCUMULATE && !TS_COLUMNS_Y && TS_Q * size % 16 == 0 && pieces > 0) {
    constexpr int each = 16 / size;
    using Piece = Vector<Result, each, 16>;
    Piece piece[pieces > 0 ? pieces : 1];
#pragma unroll
    for (int i = 0; i < count; ++i) piece[i / each].part[i % each] = result(i, Result{});
    const bool swap = pieces == 2 && g % 2 == 1;
#pragma unroll
    for (int turn = 0; turn < pieces; ++turn) {
      Piece mine;
#pragma unroll
      for (int i = 0; i < each; ++i)
        mine.part[i] = swap ? piece[pieces - 1 - turn].part[i] : piece[turn].part[i];
      const int at = column + (swap ? pieces - 1 - turn : turn) * each;
      if (at < TS_Q) *reinterpret_cast<Piece*>(line + at) = mine;
    }
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      Result* const at = line + (column + i) * y_column_pitch;
      if (column + i < TS_Q) *at = result(i, *at);
    }
  }
}

/// A warp's columns of its team's rows.
__device__ __forceinline__ void compute(const X& x, unsigned char* slot, const unsigned char* factor,
                                        const Factor& s, const Place& place, const Scalars& scalars) {
  static_assert(team_rows == 16 * TS_TILES,
                "results replace the rows, so that all are computed before any is stored");
  const int g = place.lane / 4, t = place.lane % 4;
  Sums sum = {};
  int row[TS_TILES][2];
#pragma unroll
  for (int i = 0; i < TS_TILES; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      row[i][half] = x.row_offset(place.team * team_rows + row_of(i, g + 8 * half));

  // Blocks of 16 scalars of K that are whole, then what is left.
  constexpr int whole_blocks = TS_P * parts / 16;
#pragma unroll 1
  for (int kb = 0; kb < whole_blocks; ++kb)
    multiply_block<true>(sum, slot, row, factor, kb, place.column_warp, place.lane);
  if (whole_blocks < k_blocks)
    multiply_block<false>(sum, slot, row, factor, whole_blocks, place.column_warp, place.lane);

#if TS_CORE == 1
  repair(sum, slot, row, s, place.column_warp, t);
#endif
  place.sync_readers();
  Result* const y = reinterpret_cast<Result*>(slot + y_offset + place.team * y_pitch);
#pragma unroll
  for (int i = 0; i < TS_TILES; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Result* const line = y + row_of(i, g + 8 * half) * y_row_pitch;
#pragma unroll
      for (int b = 0; b < blocks_of_warp; b += dealt)
        put(line, sum[i], place.column_warp * blocks_of_warp, b, half, t, g, scalars);
    }
}
