// What specialises project/kernels/project.cuh, what follows from it, and the kernel's arguments.
#pragma once

#include "tallskinny/gemm/device/arguments.hpp"
#include "tallskinny/gemm/device/tall_policy.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// A small matrix; strides in elements.
struct ProjectMatrix {
  void* data = nullptr;
  index_t row_stride = 0, column_stride = 0;
};

/// W = W - V S, S_next = V^H W and G = W^H W, as far as the policy says.
struct ProjectArguments {
  OperandArgument v;
  ProjectMatrix s;
  OperandArgument w;
  ProjectMatrix s_next;
  void* mirror;  ///< where the adjoint of S_next goes too, or null
  ProjectMatrix g;
  index_t rows;
  int group_size;  ///< of blocks whose sums are added first
  double* partials;
  unsigned* tickets;
  PartsArgument sums;
};

struct ProjectPolicy {
  static constexpr Arithmetic arithmetic = Arithmetic::float64;

  DType type = DType::float64;                       ///< one of the four result types
  bool update = false, inner = false, gram = false;  ///< which steps
  int p = 1, q = 1;                                  ///< columns of V and of W
  TallMode mode_v = TallMode::flat;                  ///< how V lies (device/tall_policy.hpp)
  int pitch_v = 1, unit_v = 16;
  bool shift_v = false;
  int vector_v = 1;  ///< scalars of a row of V that a lane reads at once
  TallMode mode_w = TallMode::flat;
  int pitch_w = 1, unit_w = 16;
  bool shift_w = false;
  bool bulk_w = false;                  ///< W is contiguous and 16-byte aligned: whole chunks are stored in bulk
  bool parts = false;                   ///< what is left of the products are the sums of parts of the rows
  int tiles = 1;                        ///< of 16 rows in a chunk
  int stages = 2;                       ///< of a ring
  int group_left = 1, group_right = 1;  ///< warps that share a chunk and the columns of its products
  int groups = 8;                       ///< of such warps in a block

  [[nodiscard]] constexpr bool uses_v() const { return update || inner; }
  [[nodiscard]] constexpr bool has_products() const { return inner || gram; }

  [[nodiscard]] constexpr int group_warps() const { return group_left * group_right; }
  [[nodiscard]] constexpr int warps() const { return group_warps() * groups; }
  [[nodiscard]] constexpr int threads() const { return 32 * warps(); }

  [[nodiscard]] constexpr int chunk_rows() const { return 16 * tiles; }
  [[nodiscard]] constexpr TallChunk v() const { return chunk(mode_v, p, pitch_v, unit_v, shift_v); }
  [[nodiscard]] constexpr TallChunk w() const { return chunk(mode_w, q, pitch_w, unit_w, shift_w); }

  // The update: blocks of 16 scalars of K and of 8 columns of W.
  [[nodiscard]] constexpr int k_blocks() const { return (v().scalars() + 15) / 16; }
  [[nodiscard]] constexpr int column_blocks() const { return (q + 7) / 8; }
  /// Blocks of columns that a warp computes together.
  [[nodiscard]] constexpr int at_once() const {
    const int most = 4 / parts_of(type);
    return column_blocks() < most ? column_blocks() : most;
  }

  // The products: tiles of 16 columns on the left, first of V, then of W; blocks of 8 of W on the right.
  [[nodiscard]] constexpr int v_tiles() const { return inner ? (v().scalars() + 15) / 16 : 0; }
  [[nodiscard]] constexpr int left_tiles() const { return v_tiles() + (gram ? (w().scalars() + 15) / 16 : 0); }
  [[nodiscard]] constexpr int right_blocks() const { return (w().scalars() + 7) / 8; }
  /// Tiles and blocks of those that a warp has.
  [[nodiscard]] constexpr int warp_tiles() const {
    return left_tiles() == 0 ? 1 : (left_tiles() + group_left - 1) / group_left;
  }
  [[nodiscard]] constexpr int warp_blocks() const { return (right_blocks() + group_right - 1) / group_right; }
  [[nodiscard]] constexpr int product_rows() const { return 16 * left_tiles(); }
  /// Numbers from one row of the products to the next, once they lie in shared memory.
  [[nodiscard]] constexpr int product_pitch() const { return 8 * right_blocks() + 2; }

  // Shared memory: barriers (of each group those of its ring and one to meet at), -S as fragments, rings; at the end
  // the products take the place of the rings.
  [[nodiscard]] constexpr int w_offset() const { return uses_v() ? v().bytes() : 0; }  ///< in a slot
  [[nodiscard]] constexpr int slot_bytes() const { return w_offset() + w().bytes(); }
  [[nodiscard]] constexpr int factor_offset() const { return round_up(8 * groups * (stages + 1), 128); }
  [[nodiscard]] constexpr int ring_offset() const {
    return factor_offset() + (update ? k_blocks() * column_blocks() * 32 * 32 : 0);
  }
  [[nodiscard]] constexpr int shared_bytes() const {
    const int rings = groups * stages * slot_bytes(), products = groups * product_rows() * product_pitch() * 8;
    return ring_offset() + (rings > products ? rings : products);
  }

  TS_POLICY(ProjectPolicy, ProjectArguments, "gemm/project/policy.hpp", type, update, inner, gram, p, q, mode_v,
            pitch_v, unit_v, shift_v, vector_v, mode_w, pitch_w, unit_w, shift_w, bulk_w, parts, tiles, stages,
            group_left, group_right, groups);

  /// Sub-blocks of a chunk. Rows follow one another where an operand lies by columns.
  [[nodiscard]] constexpr int subs() const {
    return mode_w == TallMode::by_columns || (uses_v() && mode_v == TallMode::by_columns) ? 1 : 4;
  }

 private:
  [[nodiscard]] constexpr TallChunk chunk(TallMode mode, int width, int pitch, int unit, bool shift) const {
    TallChunk c;
    c.type = type, c.mode = mode, c.width = width, c.pitch = pitch, c.unit = unit, c.shift = shift;
    c.subs = subs(), c.sub_rows = chunk_rows() / subs(), c.pad = subs() == 1 ? 0 : 32;
    c.column_gap = column_gap_of(type);
    return c;
  }
};

}  // namespace ts::inline v0::cuda
