// What specialises trsm/kernels/trsm.cuh, and its arguments.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

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
  static constexpr char header[] = "tallskinny/gemm/trsm/policy.hpp";
  static constexpr char name[] = "ts::cuda::TrsmPolicy";
  using Arguments = TrsmArguments;

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

  static constexpr void members(auto& p, auto each) {
    each("type", p.type), each("p", p.p), each("access", p.access), each("factor_shared", p.factor_shared);
    each("threads", p.threads), each("columns", p.columns), each("together", p.together), each("blocks", p.blocks);
    each("vector", p.vector), each("alignment", p.alignment);
  }
  friend bool operator==(const TrsmPolicy&, const TrsmPolicy&) = default;
};

}  // namespace ts::inline v0::cuda
