// What host code and row-streaming kernels both know: how a chunk of rows of a tall operand lies in a stage of shared
// memory, by which arithmetic fragments are multiplied.
#pragma once

#include "tallskinny/gemm/device/arguments.hpp"

namespace ts::inline v0::cuda {

[[nodiscard]] constexpr int round_up(int x, int unit) noexcept { return (x + unit - 1) / unit * unit; }

/// How device/fragment.cuh multiplies.
enum class Arithmetic {
  float64 = 0,  ///< narrower types are widened: their products are exact, their sums have float64's accuracy
  split = 1,    ///< float32 by 3xTF32: x = high + low, both of 11 bits, the product of the low parts left out
  half = 2      ///< elements of 16 bits with sums in float32
};

/// How a chunk of a tall operand gets into shared memory.
enum class TallMode {
  flat = 0,         ///< row-major, ld = pitch: each sub-block is one run of bytes, copied in bulk
  by_rows = 1,      ///< row-major, any ld: units along the rows
  by_columns = 2,   ///< column-major: units along the columns
  long_columns = 3  ///< the same with columns copied in bulk, which pays from about a KiB on
};

/// Bytes that columns start apart, modulo 128, so that the lanes that read them together meet in no bank.
[[nodiscard]] constexpr int column_gap_of(DType type) noexcept {
  return scalar_bytes(type) == 8 ? 16 : scalar_bytes(type) == 4 ? 64 : 32;
}

/// A chunk of rows of a tall operand in a stage of shared memory. A chunk is cut into sub-blocks that start `pad` bytes
/// further apart than they are long. With four of them and 32, lane group t reads rows of sub-block t alone in the
/// K-permutation of the tensor instructions, and the four groups never meet in a bank, whatever the width. With one,
/// rows follow one another, and lane group t reads rows 4t.. of each 16 (column-major operands and their partners).
/// Narrow operands may fold: `fold` neighbouring rows count as one row of that many times the width.
struct TallChunk {
  DType type = DType::float64;
  TallMode mode = TallMode::flat;
  int width = 1;       ///< columns
  int pitch = 1;       ///< scalars between rows
  int unit = 16;       ///< bytes of an asynchronous copy, which divide address, stride and run; 2: through registers
  bool shift = false;  ///< a flat operand may begin off a line of 128 bytes, columns off 16 bytes
  int subs = 1, sub_rows = 16;  ///< sub-blocks, and their folded rows
  int pad = 0;
  int column_gap = 16;  ///< see column_gap_of
  int fold = 1;
  int vector = 1;  ///< columns of row-major operands that a lane reads at once

  /// What a shift may add to a run: its way to a line's end, and the rest of the last unit.
  static constexpr int shift_bytes = 128 + 16;

  [[nodiscard]] constexpr int scalar() const noexcept { return scalar_bytes(type); }
  [[nodiscard]] constexpr int element() const noexcept { return scalar() * parts_of(type); }
  [[nodiscard]] constexpr bool by_columns() const noexcept {
    return mode == TallMode::by_columns || mode == TallMode::long_columns;
  }
  [[nodiscard]] constexpr bool slanted() const noexcept { return by_columns() && shift; }
  [[nodiscard]] constexpr int scalars() const noexcept { return parts_of(type) * width; }  ///< of a row
  [[nodiscard]] constexpr int folded() const noexcept { return (fold - 1) * pitch + scalars(); }
  [[nodiscard]] constexpr int row_bytes() const noexcept { return fold * pitch * scalar(); }
  [[nodiscard]] constexpr int rows() const noexcept { return subs * sub_rows; }  ///< folded ones
  [[nodiscard]] constexpr int sub_bytes() const noexcept { return sub_rows * row_bytes(); }
  [[nodiscard]] constexpr int sub_pitch() const noexcept {
    return round_up(sub_bytes() + (shift ? shift_bytes : 0), 128) + pad;
  }
  [[nodiscard]] constexpr int column_bytes() const noexcept { return rows() * element(); }
  [[nodiscard]] constexpr int column_pitch() const noexcept { return round_up(column_bytes(), 128) + column_gap; }
  [[nodiscard]] constexpr int bytes() const noexcept {
    return round_up(by_columns() ? width * column_pitch() : subs * sub_pitch(), 128);
  }
};

}  // namespace ts::inline v0::cuda
