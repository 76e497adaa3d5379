// What specialises the kernels of C = alpha op(A) B + beta C for tall A and B, and their arguments.
#pragma once

#include "tallskinny/gemm/device/arguments.hpp"
#include "tallskinny/gemm/device/tall_policy.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

struct InnerArguments {
  OperandArgument a, b;
  index_t rows, a_columns;
  void* c;
  index_t c_row_stride, c_column_stride;
  void* mirror;  ///< where the (conjugate) transpose of C goes too, or null
  ScalarArgument alpha, beta;
  int adjoint, panel_blocks, group_size;
  double *partials, *mailboxes;
  unsigned* tickets;
  PartsArgument parts;
};

/// Which kernel: tiles of single warps (tsmttsm), of whole warpgroups (tsmttsm_wgmma), or those for a Gram matrix of at
/// most 64 columns (gram_wgmma).
enum class InnerKernel { warps, warpgroups, narrow_gram };

struct InnerPolicy {
  DType type = DType::float64;
  InnerKernel kernel = InnerKernel::warps;
  Arithmetic arithmetic = Arithmetic::float64;
  int p = 1, q = 1;   ///< columns of a panel of A, and of B
  bool gram = false;  ///< B is A, and q is p
  bool swap = false;  ///< the left factor of the tensor instruction is B
  int fold = 1;
  TallMode mode_a = TallMode::flat;  ///< how A lies (device/tall_policy.hpp)
  int pitch_a = 1, vector_a = 1, unit_a = 16;
  bool shift_a = false;
  TallMode mode_b = TallMode::flat;
  int pitch_b = 1, vector_b = 1, unit_b = 16;
  bool shift_b = false;
  bool parts = false;  ///< what is left are the sums of parts of the rows, and C is not touched
  int sub_rows = 4, stages = 2;
  int producers = 1;    ///< warps that only fill; 0: the first consumer warp fills as well
  int residents = 1;    ///< blocks that share a multiprocessor
  int slices = 8;       ///< groups of warps that take different rows of a chunk
  int flush = 0;        ///< steps or batches after which sums in float32 move to float64; 0: they may stay
  bool panels = false;  ///< A has more than one
  int cluster = 1;      ///< blocks whose shares of the product are added first
  int tiles_left = 1, tiles_right = 1;  ///< of a warp: 16 x 8 each; of a warpgroup: 64 x 8
  int warps_left = 1, warps_right = 1;  ///< or warpgroups, that cover the product
  bool three = false;  ///< real products for a complex one, instead of four; columns of tiles are complex ones
  bool pairs = false;  ///< of columns of blocks of a Gram matrix make the work of a warp
  bool give = false;   ///< the warps that load, four, give registers to the others

  /// Sub-blocks of a chunk. Rows follow one another where an operand lies by columns.
  [[nodiscard]] constexpr int subs() const { return by_columns(mode_a) || (!gram && by_columns(mode_b)) ? 1 : 4; }
  [[nodiscard]] constexpr TallChunk a() const {
    return {type, mode_a, p, pitch_a, unit_a, shift_a, subs(), sub_rows, pad(), column_gap_of(type), fold, vector_a};
  }
  [[nodiscard]] constexpr TallChunk b() const {
    if (gram) return a();
    return {type, mode_b, q, pitch_b, unit_b, shift_b, subs(), sub_rows, pad(), column_gap_of(type), fold, vector_b};
  }
  [[nodiscard]] constexpr int stage_bytes() const { return a().bytes() + (gram ? 0 : b().bytes()); }
  /// In a stage.
  [[nodiscard]] constexpr int left_offset() const { return swap ? a().bytes() : 0; }
  [[nodiscard]] constexpr int right_offset() const { return gram || swap ? 0 : a().bytes(); }
  [[nodiscard]] constexpr int chunk_rows() const { return subs() * sub_rows; }  ///< folded ones
  /// Where a sum is not finite, the one by ordinary arithmetic counts.
  [[nodiscard]] constexpr bool repairs() const { return three || arithmetic == Arithmetic::split; }

  // How the work is shared.
  [[nodiscard]] constexpr bool of_warps() const { return kernel == InnerKernel::warps; }
  [[nodiscard]] constexpr int tile_rows() const { return 16 * tiles_left; }
  [[nodiscard]] constexpr int tile_columns() const { return 8 * tiles_right; }
  /// A Gram matrix needs the tiles on and above the diagonal alone.
  [[nodiscard]] constexpr bool tile_needed(int l, int r) const {
    return !gram || (r + 1) * tile_columns() > l * tile_rows();
  }
  [[nodiscard]] constexpr int tiles() const {
    int count = 0;
    for (int l = 0; l < warps_left; ++l)
      for (int r = 0; r < warps_right; ++r) count += tile_needed(l, r);
    return count;
  }
  [[nodiscard]] constexpr int warps() const { return of_warps() ? tiles() * slices : 4 * warps_left * slices; }
  [[nodiscard]] constexpr int consumers() const { return 32 * warps(); }  ///< threads
  [[nodiscard]] constexpr int threads() const { return consumers() + 32 * producers; }
  /// Registers of a thread that fills, where these are given away; the others take what is left.
  [[nodiscard]] constexpr int filler_registers(bool in_bulk) const {
    return in_bulk ? 40 : kernel == InnerKernel::warpgroups ? 56 : 88;
  }

  // Sums.
  [[nodiscard]] constexpr bool flushes() const { return arithmetic != Arithmetic::float64 && flush > 0; }
  [[nodiscard]] constexpr int terms() const { return three ? 3 : 1; }
  /// Real products of 16 x 8 of a tile.
  [[nodiscard]] constexpr int products() const { return pairs ? tiles_left + 1 : tiles_left * tiles_right; }
  /// Bytes of a sum in shared memory.
  [[nodiscard]] constexpr int kept_size() const { return flushes() || arithmetic == Arithmetic::float64 ? 8 : 4; }
  [[nodiscard]] constexpr int kept_bytes() const { return consumers() * terms() * products() * 4 * kept_size(); }
  /// Whether blocks of a cluster send their sums as they lie in fragments, or else what is put together of them.
  [[nodiscard]] constexpr bool sends_fragments() const {
    return !gram && parts_of(type) == 1 && fold == 1 && arithmetic != Arithmetic::split;
  }
  /// Numbers that a block sends.
  [[nodiscard]] constexpr int numbers() const {
    return sends_fragments() ? tiles() * tiles_left * tiles_right * 128 : p * q * parts_of(type);
  }

  // Shared memory: barriers; what comes from other blocks of the cluster, if the device has clusters; of single warps
  // the sums that float32 ones are flushed to, of warpgroups the parts of split numbers, by K; the ring. Sums that are
  // not flushed take the place of the ring in the end.
  static constexpr int barrier_bytes = 128;
  [[nodiscard]] constexpr int inbox_bytes() const {
    const int size = sends_fragments() ? kept_size() : 8, each = sends_fragments() ? 1 : parts_of(type);
    const int owned = round_up((numbers() / each + cluster - 1) / cluster, 16 / size);
    return cluster * owned * each * size + 16;
  }
  /// At least as much as the inbox takes, with any arithmetic.
  [[nodiscard]] constexpr int inbox_reserve() const { return round_up(8 * numbers() + 256, 128); }
  [[nodiscard]] constexpr int sums_offset(bool clustered) const {
    return round_up(barrier_bytes + (clustered ? inbox_bytes() : 0), 128);
  }
  /// A Gram matrix has barriers of planes, too.
  [[nodiscard]] constexpr int planes_offset() const {
    return kernel == InnerKernel::narrow_gram ? 2 * barrier_bytes : barrier_bytes;
  }
  /// The high or the low parts of 32 rows.
  [[nodiscard]] constexpr int plane_bytes() const { return 8 * 16 * tile_columns(); }
  /// Both, of two batches of rows.
  [[nodiscard]] constexpr int slice_bytes() const { return 2 * 2 * plane_bytes(); }
  [[nodiscard]] constexpr int ring_offset(bool clustered) const {
    return of_warps() ? sums_offset(clustered) + (flushes() ? kept_bytes() : 0)
                      : planes_offset() + slices * slice_bytes();
  }
  [[nodiscard]] constexpr int shared_bytes() const {
    constexpr int tail = 64;
    const int ring = stages * stage_bytes();
    if (!of_warps()) return (gram ? 2 : 1) * barrier_bytes + slices * slice_bytes() + ring + tail;
    const int all = (flushes() ? kept_bytes() : 0) + ring;
    return barrier_bytes + (cluster > 1 ? inbox_reserve() : 0) + (all > kept_bytes() ? all : kept_bytes()) + tail;
  }

  TS_POLICY(InnerPolicy, InnerArguments, "gemm/tsmttsm/policy.hpp", type, kernel, arithmetic, p, q, gram, swap, fold,
            mode_a, pitch_a, vector_a, unit_a, shift_a, mode_b, pitch_b, vector_b, unit_b, shift_b, parts, sub_rows,
            stages, producers, residents, slices, flush, panels, cluster, tiles_left, tiles_right, warps_left,
            warps_right, three, pairs, give);

 private:
  static constexpr bool by_columns(TallMode mode) {
    return mode == TallMode::by_columns || mode == TallMode::long_columns;
  }
  [[nodiscard]] constexpr int pad() const { return subs() == 1 ? 0 : 32; }
};

}  // namespace ts::inline v0::cuda
