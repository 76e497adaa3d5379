// What specialises kernels/tsmm_wide.cuh and kernels/wide_factor.cuh, and their arguments: Y = alpha X op(S) + beta Y
// of an X with so many columns that S does not fit beside it.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/gemm/runtime/gpu/tensor_map_policy.hpp"
#include "tallskinny/gemm/tsmm/policy.hpp"

namespace ts::inline v0::cuda {

/// S (p x q) to fragments for `k_blocks` blocks of 16 scalars of K, zero beyond p.
struct WideFactorArguments {
  SmallFactorArgument s;
  index_t p, k_blocks;
  unsigned char* factor;
};

/// Lays out S as tsmm_wide.cuh reads it.
struct WideFactorPolicy {
  DType type = DType::float64;
  Arithmetic arithmetic = Arithmetic::float64;
  int q = 1;
  bool narrow_s = false;
  int column_warps = 1;
  bool columns_y = false;

  static constexpr int threads = 256;

  TS_POLICY(WideFactorPolicy, WideFactorArguments, "gemm/tsmm/wide_policy.hpp", type, arithmetic, q, narrow_s,
            column_warps, columns_y);
};

/// `panels` of a stage's columns make a row of X. Those of tile i begin at number i turn / tiles: a D whose rows are a
/// large power of two apart is read at different columns at any time. `conjugate`: of the sums.
struct WideArguments {
  TensorMap map;  ///< of X
  OperandArgument x;
  SmallFactorArgument s;
  const unsigned char* factor;  ///< as wide_factor.cuh leaves it
  ResultArgument y;
  index_t rows, p;
  int panels, turn, conjugate;
  ScalarArgument alpha, beta;
};

/// A block takes tiles of rows, whose sums stay in registers while panels of X, in boxes of lines of 128 bytes side by
/// side, and of S pass through a ring of stages.
struct WidePolicy {
  DType type = DType::float64;
  Arithmetic arithmetic = Arithmetic::float64;  ///< or split
  int q = 1;
  bool narrow_s = false;  ///< S is of the type of X, not of the result's
  bool accumulate = false;
  bool columns_y = false;
  bool vector_y = false;  ///< rows of Y are stored in pieces of 16 bytes
  int tiles = 1;          ///< of 16 rows of a warp
  int teams = 8;          ///< of warps that have rows of their own
  int column_warps = 1;   ///< that share them
  int boxes = 1;          ///< of a stage
  int stages = 4;

  static constexpr int line_bytes = 128, most_rows = 256;  ///< of a box
  static constexpr int fragment_block_bytes = 1024;        ///< of S: 16 scalars of K and 8 columns

  [[nodiscard]] constexpr int warps() const noexcept { return teams * column_warps; }
  [[nodiscard]] constexpr int threads() const noexcept { return 32 * warps(); }
  [[nodiscard]] constexpr int team_rows() const noexcept { return 16 * tiles; }
  [[nodiscard]] constexpr int rows() const noexcept { return team_rows() * teams; }
  [[nodiscard]] constexpr int column_blocks() const noexcept { return (q + 7) / 8; }

  [[nodiscard]] constexpr int box_scalars() const noexcept { return line_bytes / scalar_bytes(type); }
  [[nodiscard]] constexpr int box_blocks() const noexcept { return box_scalars() / 16; }  ///< of K
  [[nodiscard]] constexpr int box_bytes() const noexcept { return rows() * line_bytes; }
  [[nodiscard]] constexpr int stage_scalars() const noexcept { return boxes * box_scalars(); }
  [[nodiscard]] constexpr int stage_blocks() const noexcept { return boxes * box_blocks(); }
  /// Of S: what meets a block of K.
  [[nodiscard]] constexpr int block_bytes() const noexcept { return column_blocks() * fragment_block_bytes; }
  [[nodiscard]] constexpr int x_bytes() const noexcept { return boxes * box_bytes(); }
  [[nodiscard]] constexpr int s_bytes() const noexcept { return stage_blocks() * block_bytes(); }
  [[nodiscard]] constexpr int stage_bytes() const noexcept { return x_bytes() + s_bytes(); }
  /// One KiB more, so that stages begin at whole ones.
  [[nodiscard]] constexpr int shared_bytes() const noexcept { return 1024 + stages * stage_bytes(); }

  /// What a thread will need, as compiled kernels were seen to take: sums, fragments, addresses.
  [[nodiscard]] constexpr int registers_needed() const noexcept {
    const int parts = parts_of(type), sums = 4 * tiles * (column_blocks() / column_warps) * parts;
    if (arithmetic == Arithmetic::split) return sums + (parts == 2 ? 124 : 114) + 28 * tiles;
    return 2 * sums + 78 + (parts == 2 ? 26 : 22) * tiles;
  }

  [[nodiscard]] constexpr WideFactorPolicy factor() const noexcept {
    return {type, arithmetic, q, narrow_s, column_warps, columns_y};
  }

  TS_POLICY(WidePolicy, WideArguments, "gemm/tsmm/wide_policy.hpp", type, arithmetic, q, narrow_s, accumulate,
            columns_y, vector_y, tiles, teams, column_warps, boxes, stages);
};

}  // namespace ts::inline v0::cuda
