// The chunk of a warp of tsmm.cuh where X and Y are some columns wide: a lane has rows of its own, and S lies
// in shared memory by rows, each on 16 bytes. No width is padded.
#pragma once

#include "tallskinny/gemm/tsmm/kernels/tsmm_chunk.cuh"

template <TsmmPolicy policy>
struct ByLanes {
  static constexpr int reals_p = policy.p * parts, reals_q = policy.q * parts;
  static constexpr int factor_vector = 16 / static_cast<int>(sizeof(Real));  ///< reals of S read at once
  static constexpr int factor_pitch = policy.factor_pitch();

  static __device__ __forceinline__ void prepare_factor(unsigned char* to, const Factor& s, int thread) {
    for (int e = thread; e < policy.p * reals_q; e += policy.threads()) {
      const int k = e / reals_q, j = e % reals_q;
      reinterpret_cast<Real*>(to)[k * factor_pitch + j] = part_of(s.at(k, j / parts), j % parts);
    }
  }

  static constexpr int vector = X::by_columns && policy.vector_x > parts ? parts : policy.vector_x;
  static constexpr int step = vector > parts ? vector : parts;  ///< scalars of a row that are used together

  /// `step` scalars of a row.
  static __device__ __forceinline__ void load_scalars(const X& x, const unsigned char* row, int first,
                                                      Real (&to)[step]) {
    using Piece = Vector<Scalar, vector, vector * X::scalar_size>;
#pragma unroll
    for (int i = 0; i < step; i += vector) {
      const int k = first + i;
      const Piece piece =
          *reinterpret_cast<const Piece*>(row + x.column_offset(k / parts) + k % parts * X::scalar_size);
#pragma unroll
      for (int e = 0; e < vector; ++e) to[i + e] = widen(piece.part[e]);
    }
  }

  /// A row of S.
  static __device__ __forceinline__ void load_factor(const Real* s, int k, Real (&to)[factor_pitch]) {
#pragma unroll
    for (int j = 0; j < factor_pitch; j += factor_vector) {
      const auto piece = *reinterpret_cast<const Vector<Real, factor_vector, 16>*>(s + k * factor_pitch + j);
#pragma unroll
      for (int e = 0; e < factor_vector; ++e) to[j + e] = piece.part[e];
    }
  }

  /// sum += x s for an element x of X and a row s of S
  static __device__ __forceinline__ void multiply_element(const Real* x, const Real (&s)[factor_pitch],
                                                          Real (&sum)[reals_q]) {
#pragma unroll
    for (int j = 0; j < reals_q; j += parts)
      if constexpr (is_complex) {
        sum[j] = madd(x[0], s[j], madd(-x[1], s[j + 1], sum[j]));
        sum[j + 1] = madd(x[0], s[j + 1], madd(x[1], s[j], sum[j + 1]));
      } else {
        sum[j] = madd(x[0], s[j], sum[j]);
      }
  }

  /// Results of a row, as many at a time as stand aligned.
  static __device__ __forceinline__ void put_row(Result* y, const Real (&sum)[reals_q], const Scalars& scalars) {
    constexpr int size = sizeof(Result), even = policy.q * size % 16 == 0 ? 16 : policy.q * size % 8 == 0 ? 8 : 4;
    constexpr int v = policy.columns_y || even < size ? 1 : even / size;
    using Piece = Vector < Result, v, policy.columns_y ? alignof(Result) : v* size<even ? v * size : even>;
#pragma unroll
    for (int j = 0; j < policy.q; j += v) {
      Piece* const at = reinterpret_cast<Piece*>(y + j * policy.y_column_pitch());
      Piece piece{};
      if (policy.accumulate) piece = *at;
#pragma unroll
      for (int e = 0; e < v; ++e)
        piece.part[e] = scalars.apply(static_cast<Sum>(sum[(j + e) * parts]),
                                      static_cast<Sum>(sum[(j + e) * parts + parts - 1]), piece.part[e]);
      *at = piece;
    }
  }

  /// Rows lane, lane + 32, ... of the team's.
  static __device__ __forceinline__ void compute(const X& x, unsigned char* slot, const unsigned char* factor,
                                                 const Factor&, const Place& place, const Scalars& scalars) {
    constexpr int each = policy.tiles;
    Real sum[each][reals_q] = {};
    int row[each];
#pragma unroll
    for (int i = 0; i < each; ++i) row[i] = x.row_offset(place.first_row() + place.lane + 32 * i);
    constexpr int unrolled = reals_p * reals_q * each <= 1024 ? reals_p / step : 2;
#pragma unroll unrolled
    for (int k = 0; k < reals_p; k += step) {
      Real scalars_of_row[each][step];
#pragma unroll
      for (int i = 0; i < each; ++i) load_scalars(x, slot + row[i], k, scalars_of_row[i]);
#pragma unroll
      for (int e = 0; e < step; e += parts) {
        Real s[factor_pitch];
        load_factor(reinterpret_cast<const Real*>(factor), (k + e) / parts, s);
#pragma unroll
        for (int i = 0; i < each; ++i) multiply_element(scalars_of_row[i] + e, s, sum[i]);
      }
    }
    place.sync_readers();
    Result* const y = place.results(slot);
#pragma unroll
    for (int i = 0; i < each; ++i) put_row(y + (place.lane + 32 * i) * policy.y_row_pitch(), sum[i], scalars);
  }
};
