// What specialises the kernels of norms/kernels, and their arguments.
#pragma once

#include "tallskinny/gemm/device/arguments.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// Numbers that a sum of squares takes: three ranges of float64 (Blue 1978), or one.
[[nodiscard]] constexpr int numbers_of_a_norm(DType type) noexcept {
  return type == DType::float64 || type == DType::complex128 ? 3 : 1;
}

struct ColumnNormsArguments {
  const void* x;
  index_t lines, line_stride, tile_stride;
  int last_rows;  ///< beyond the last line
  void* partial;
  unsigned* counter;
  void* norms;
  index_t norms_stride, rows, row_stride;
  PartsArgument parts;
};

/// norms/kernels/column_norms.cuh: a line is `fold` rows of the `tile` columns of a tile, contiguous in memory.
struct ColumnNormsPolicy {
  DType type = DType::float64;
  int columns = 1;     ///< of X
  int tile = 1;        ///< columns that a block works on
  int fold = 1;        ///< rows in a line
  int vector = 1;      ///< elements read at once
  int alignment = 8;   ///< of these
  bool parts = false;  ///< the sums of parts of the rows are left as they are (device/parts.cuh)

  static constexpr int threads = 256, blocks_at_once = 3, unroll = 4;
  [[nodiscard]] constexpr int line() const { return fold * tile; }              ///< elements
  [[nodiscard]] constexpr int line_threads() const { return line() / vector; }  ///< that read one line together
  [[nodiscard]] constexpr int lines_at_once() const { return threads / line_threads(); }
  [[nodiscard]] constexpr int tiles() const { return (columns + tile - 1) / tile; }
  /// Static.
  [[nodiscard]] constexpr int shared_bytes() const { return threads * vector * numbers_of_a_norm(type) * 8 + 16; }

  TS_POLICY(ColumnNormsPolicy, ColumnNormsArguments, "gemm/norms/policy.hpp", type, columns, tile, fold, vector,
            alignment, parts);
};

struct NormsOfPartsArguments {
  const double* parts;
  index_t size, count, columns;
  void* norms;
  index_t norms_stride;
};

/// norms/kernels/norms_of_parts.cuh
struct NormsOfPartsPolicy {
  DType type = DType::float64;  ///< of the columns

  static constexpr int threads = 256;

  TS_POLICY(NormsOfPartsPolicy, NormsOfPartsArguments, "gemm/norms/policy.hpp", type);
};

}  // namespace ts::inline v0::cuda
