// The chunk of a warp of tsmm.cuh where X and Y are a few columns wide: a lane has a row, and S lies in
// shared memory as it is. Nothing is padded.
#pragma once

#include "tsmm_chunk.cuh"

constexpr int factor_bytes = round_up(TS_P * TS_Q * static_cast<int>(sizeof(Result)), 128);

__device__ __forceinline__ void prepare_factor(unsigned char* to, const Factor& s, int thread) {
  for (int e = thread; e < TS_P * TS_Q; e += threads)
    reinterpret_cast<Result*>(to)[e] = s.at(e / TS_Q, e % TS_Q);
}

/// The scalars of a row.
__device__ __forceinline__ void load_row(const unsigned char* row, Real (&x)[TS_P * parts]) {
  constexpr int v = X::by_columns ? 1 : TS_VECTOR_X;
  using Piece = Vector<Scalar, v, v * X::scalar_size>;
#pragma unroll
  for (int i = 0; i < TS_P * parts; i += v) {
    const int at =
        X::by_columns ? i / parts * X::column_pitch + i % parts * X::scalar_size : i * X::scalar_size;
    const Piece piece = *reinterpret_cast<const Piece*>(row + at);
#pragma unroll
    for (int e = 0; e < v; ++e) x[i + e] = widen(piece.part[e]);
  }
}

/// sum += x S
__device__ __forceinline__ void multiply_row(const Real (&x)[TS_P * parts], const Result* s,
                                             Real (&sum)[TS_Q * parts]) {
#pragma unroll
  for (int k = 0; k < TS_P; ++k)
#pragma unroll
    for (int j = 0; j < TS_Q; ++j) {
      const Real re = part_of(s[k * TS_Q + j], 0), im = part_of(s[k * TS_Q + j], 1);
      if constexpr (is_complex) {
        sum[2 * j] = madd(x[2 * k], re, madd(-x[2 * k + 1], im, sum[2 * j]));
        sum[2 * j + 1] = madd(x[2 * k], im, madd(x[2 * k + 1], re, sum[2 * j + 1]));
      } else {
        sum[j] = madd(x[k], re, sum[j]);
      }
    }
}

/// Results of a row, as many at a time as stand aligned.
__device__ __forceinline__ void put_row(Result* y, const Real (&sum)[TS_Q * parts], const Scalars& scalars) {
  constexpr int size = sizeof(Result), even = TS_Q * size % 16 == 0 ? 16 : TS_Q * size % 8 == 0 ? 8 : 4;
  constexpr int v = TS_COLUMNS_Y || even < size ? 1 : even / size;
  using Piece = Vector < Result, v, TS_COLUMNS_Y ? alignof(Result) : v* size<even ? v * size : even>;
#pragma unroll
  for (int j = 0; j < TS_Q; j += v) {
    Piece* const at = reinterpret_cast<Piece*>(y + j * y_column_pitch);
    Piece piece{};
    if (TS_ACCUMULATE) piece = *at;
#pragma unroll
    for (int e = 0; e < v; ++e)
      piece.part[e] = scalars.apply(static_cast<Sum>(sum[(j + e) * parts]),
                                    static_cast<Sum>(sum[(j + e) * parts + parts - 1]), piece.part[e]);
    *at = piece;
  }
}

/// Rows lane, lane + 32, ... of the team's.
__device__ __forceinline__ void compute(const X& x, unsigned char* slot, const unsigned char* factor,
                                        const Factor&, const Place& place, const Scalars& scalars) {
  constexpr int each = team_rows / 32;
  const Result* const s = reinterpret_cast<const Result*>(factor);
  Real sum[each][TS_Q * parts] = {};
#pragma unroll
  for (int i = 0; i < each; ++i) {
    Real row[TS_P * parts];
    load_row(slot + x.row_offset(place.team * team_rows + place.lane + 32 * i), row);
    multiply_row(row, s, sum[i]);
  }
  place.sync_readers();
  Result* const y = reinterpret_cast<Result*>(slot + y_offset + place.team * y_pitch);
#pragma unroll
  for (int i = 0; i < each; ++i) put_row(y + (place.lane + 32 * i) * y_row_pitch, sum[i], scalars);
}
