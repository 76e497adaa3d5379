// What the kernels of tsmttsm/ were measured to cost, as numbers: search.cpp and plan.cpp put them together.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::inline v0::cuda {

/// Cycles of a scheduler for 16 rows, as far as they tell tilings apart, and from where on other ways pay. As measured
/// on an H100 (docs/notes/inner-products.md); other devices are ranked by the same numbers.
struct InnerCostModel {
  double bytes_per_cycle = 14, cache_bytes_per_cycle = 24;  ///< that a multiprocessor reads

  // A real product of 16 x 8: the tensor instructions, and the issue of what else it takes; fragments of 8 columns that
  // are loaded, widened or split. The tiles of a Gram matrix are small, and its rows are read once.
  double float64_tensor = 64, split_tensor = 36, half_tensor = 8;
  double float64_issue = 1, split_issue = 14, half_issue = 5;
  double float64_columns = 5, half_columns = 6, split_columns = 16, split_gram_columns = 26;
  double widened_full_gram = 320;  ///< 15 or 16 columns of float32 by float64's instructions, by whatever warps
  double three_columns = 7;        ///< of complex ones, with the sums of their parts
  double not_hidden = 0.3;         ///< of the shorter of both
  // Times as long: of fewer or of more warps, of a consumer warp that fills as well, of slices whose rows together have
  // many bytes.
  int few_warps = 8, many_warps = 12, many_side_by_side = 8;
  double fewer_warps = 1.3, more_warps = 1.25, more_side_by_side = 0.9;
  double fills_in_bulk = 1.15, fills_by_threads = 2, long_step = 1.1;
  int long_step_bytes = 40 * 1024, longest_step_bytes = 66 * 1024;

  // Warpgroups: what each costs, and each block of 64 x 8, of which a Gram matrix leaves out some.
  double narrow_gram = 630, narrow_gram_block = 74, narrow_gram_of_two = 1.25;
  double gram_group = 800, group = 600, block = 75, three_slices = 0.95;
  double gram_blocks_left_out = 8;
  double start_of_warpgroups = 1.2;  ///< they pay where other tilings take so much of memory's time
  // With a wide A: each slice splits B for itself, and splitting takes longer than its instructions are counted.
  double panels_of_warpgroups = 0.9, panels_of_slice = 0.3, panels_of_split = 1.5;
  index_t widest_unsplit = 16;  ///< scalars of B up to which that does not show

  // Few rows: cycles by which clusters are done earlier than tickets, and cycles of work up to which that is worth the
  // multiprocessors that they leave idle, where arithmetic and where memory is the limit.
  double cluster_gain = 9e3, brief_arithmetic = 80e3, brief_reading = 250e3;
  /// Fewer rows than this are bound by the start of the kernel whatever the arithmetic, and float64 is exact.
  index_t least_rows_to_split = 4096;

  // Chunks under way: memory gives most when it is asked for little more than it can bring at once. A chunk can be
  // fetched while another is multiplied if that takes little more than half as long.
  double two_chunks = 0.6, three_chunks = 1;  ///< of memory's time that the arithmetic takes at most
  bool few_requests = false;                  ///< what InnerRequests says holds

  // The time of a kernel: reading at this share of the roof and arithmetic, added up as powers.
  double read_share = 0.95, read_share_of_long_rows = 0.95, power = 3;
  double panels_of_half = 1.3;
  int long_row_bytes = 1152, long_row_scalars = 256;
};

inline constexpr InnerCostModel inner_cost{};
/// Four chunks of 32 KiB a multiprocessor reach 75-80 % of an H200's read roof, two 93-97; float32 that takes long to
/// multiply 75-87 % by few chunks, 88-95 by many (tests/bench/results/requests-2026-11-22-h200.txt).
inline constexpr InnerCostModel inner_cost_of_few_requests{
    .few_requests = true, .read_share_of_long_rows = 0.85, .power = 2};

/// Rings where memory wants few requests, as measured on an H200 (docs/notes/inner-products.md, "How much to ask for";
/// tests/bench/results/requests-2026-11-22-h200.txt).
struct InnerRequests {
  // KiB of a ring of three chunks. Numbers that are widened or split keep a chunk longer, and float32 that takes long
  // to multiply is read best by many chunks.
  double soon_used = 0.33, late_used = 0.5, never_limits = 1;  ///< of memory's time that the arithmetic takes
  int soon_kib = 64, soon_kib_of_narrow = 76, kib = 50, late_kib = 58;
  int slices_of_one_warp = 8;  ///< those that use a chunk soon, whatever the arithmetic
  // Two chunks wait for each other. Where a chunk is used soon both count and may have more KiB than three, but a byte
  // is worth less; else one counts, may have fewer KiB, and some bytes are lost.
  int two_soon_more_kib = 10, two_less_kib = 4;
  double two_soon = 0.76, two_lose = 10 * 1024;
  // Chunks of 32 KiB are read more slowly than their neighbours, for a reason that is not known.
  int slow_chunk = 32 * 1024, slow_within = 1024;
  double slow = 0.85;
  // Fewer slices, which are warps, rather than much too little: KiB that half of them lose, and how many more where
  // arithmetic takes as long as memory.
  double fewer_slices_kib = 4, fewer_slices_busy_kib = 20;
  int least_warps = 4;
};
inline constexpr InnerRequests inner_requests{};

/// Chunks and rings of other devices, as measured on an H100 (docs/notes/inner-products.md, "How much to ask for";
/// docs/notes/few-rows.md).
struct InnerRings {
  int chunk_kib = 34, chunk_kib_of_columns = 64;  ///< of long operands; of column-major ones, whose runs are short
  // Copies of less than 4 KiB are read more slowly: a chunk becomes longer than wanted if it has fewer bytes than that.
  // Of blocks that share a multiprocessor one copies while the other multiplies.
  int shortest_chunk = 30 * 1024, shortest_shared = 32 * 1024, shortest_shared_gram = 16 * 1024;
  int long_columns_bytes = 1024;  ///< of a column, from which on it is copied in bulk
  int short_operand_chunks = 4;   ///< a multiprocessor; an operand that has fewer is cut as finely as it can be
  // Few rows: more in flight makes blocks finish at different times; so many chunks where the rows suffice.
  int brief_kib = 96;
  index_t brief_chunks = 64;
  int side_by_side_kib = 80, side_by_side_chunk_kib = 28;  ///< panels of the same rows stay close together
  int pairs_kib = 128;
};
inline constexpr InnerRings inner_rings{};

/// Steps of 16 rows after which sums in float32 move to float64, batches of warpgroups, and up to how many steps they
/// need not (docs/notes/inner-products.md, "Truncation"). Split tiles as large spill where no flush parts their steps.
struct InnerFlushes {
  int steps = 64, batches = 512, longest_float_sum = 96, split_tiles = 8;
};
inline constexpr InnerFlushes inner_flushes{};

/// Registers that a thread needs: for each tile, for each fragment of a step, and for addresses. As compiled by NVRTC
/// without spills (baseline_kernels of tests/bench/baseline).
struct InnerRegisters {
  struct Need {
    int tile, right, left, beside;
    [[nodiscard]] constexpr int of(int tiles_l, int tiles_r) const {
      return tile * tiles_l * tiles_r + right * tiles_r + left * tiles_l + beside;
    }
  };
  Need float64{8, 8, 0, 64}, split{4, 8, 0, 100}, half{4, 2, 0, 48}, three{24, 24, 4, 56};
  int half_few_tiles = 4, half_of_more = 44;            ///< more tiles take more beside
  int fetching = 8, fetching_two_ways = 32;             ///< where columns are fetched
  int loading = 16;                                     ///< of a warp that loads as well
  int warpgroup_block = 8, warpgroup_beside = 88;       ///< two sets of sums, both parts of the left factor
  int of_12_warps = 152, of_8_warps = 224, most = 255;  ///< that a thread of a warpgroup can have
  [[nodiscard]] constexpr int left_to_warpgroups(int warps) const {
    return warps > 8 ? of_12_warps : warps > 4 ? of_8_warps : most;
  }
};
inline constexpr InnerRegisters inner_registers{};

/// Widths in scalars of panels of an A of many columns; the widest operands of warpgroups, in their tiles.
struct InnerPanels {
  index_t unit = 16;                     ///< panels of a row-major A begin where whole units can be copied
  index_t widest = 256, narrowest = 64;  ///< that are tried
  int side_by_side = 32;                 ///< columns of the right factor of panels that are read side by side
  int group_blocks = 16, groups = 3, gram_groups = 2;
};
inline constexpr InnerPanels inner_panels_of_a{};

}  // namespace ts::inline v0::cuda
