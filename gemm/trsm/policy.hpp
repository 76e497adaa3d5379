// What specialises trsm/kernels/trsm.cuh, and its arguments.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// Strides in elements.
struct TrsmArguments {
  void* x;
  index_t rows, row_stride, column_stride;
  const void* r;
  index_t r_row_stride, r_column_stride;
};

/// How X is reached.
enum class TrsmAccess {
  in_place,   ///< where it is, element by element, which suits a column-major X
  staged,     ///< `threads` rows at a time through shared memory: a row-major X is read and written in its own order
  whole_rows  ///< a whole narrow row at once, by one instruction for `vector` elements
};

/// A thread solves a row, `columns` of its columns at a time, in registers.
struct TrsmPolicy {
  DType type = DType::float64;
  int p = 1;  ///< columns of X
  TrsmAccess access = TrsmAccess::in_place;
  bool factor_shared = false;  ///< R lies in shared memory
  int threads = 128;
  int columns = 1;
  int together = 1;                ///< rows that a thread has under way at the same time
  int blocks = 1;                  ///< of a multiprocessor
  int vector = 1, alignment = 16;  ///< of what is moved at once, for whole rows

  [[nodiscard]] constexpr int padded() const { return (p + columns - 1) / columns * columns; }
  /// Elements between rows of the tile: odd, so that lanes that read a column hit different banks.
  [[nodiscard]] constexpr int staged_ld() const { return p | 1; }
  [[nodiscard]] constexpr int tile_rows() const { return together * threads; }
  /// R, and for each column 1 / R(j, j) and its scale.
  [[nodiscard]] constexpr index_t factor_bytes() const {
    const index_t scalar = scalar_bytes(type), element = scalar * parts_of(type);
    return factor_shared ? index_t{padded()} * padded() * element + padded() * (element + scalar) : 0;
  }
  [[nodiscard]] constexpr index_t shared_bytes() const {
    const index_t tile = access == TrsmAccess::staged ? index_t{tile_rows()} * staged_ld() : 0;
    return factor_bytes() + tile * scalar_bytes(type) * parts_of(type);
  }

  TS_POLICY(TrsmPolicy, TrsmArguments, "gemm/trsm/policy.hpp", type, p, access, factor_shared, threads, columns,
            together, blocks, vector, alignment);
};

}  // namespace ts::inline v0::cuda
