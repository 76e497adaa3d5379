// What the kernels of tsmttsm/ were measured to cost, as numbers: search.cpp and plan.cpp put them together.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::cuda {

/// Cycles of a scheduler for 16 rows, as far as they tell tilings apart, and from where on other ways pay. As measured
/// on an H100 (docs/notes/inner-products.md); other devices are ranked by the same numbers.
struct InnerCostModel {
  double bytes_per_cycle = 14, cache_bytes_per_cycle = 24;  ///< that a multiprocessor reads

  // A real product of 16 x 8: the tensor instructions, and the issue of what else it takes; fragments of 8 columns that
  // are loaded, widened or split. The tiles of a Gram matrix are small, and its rows are read once.
  double float64_tensor = 64, split_tensor = 36, half_tensor = 8;
  double float64_issue = 1, split_issue = 14, half_issue = 5;
  double float64_columns = 5, half_columns = 6, split_columns = 16, split_gram_columns = 26;
  double three_columns = 7;  ///< of complex ones, with the sums of their parts
  double not_hidden = 0.3;   ///< of the shorter of both
  double fewer_than_8_warps = 1.3, more_than_12_warps = 1.25, side_by_side_above_8 = 0.9;  ///< times as long
  double fills_in_bulk = 1.15, fills_by_threads = 2;  ///< a consumer warp that fills as well
  double long_step = 1.1;                             ///< of slices whose rows together have more than
  int long_step_bytes = 40 * 1024, longest_step_bytes = 66 * 1024;

  // Warpgroups: what each costs, and each block of 64 x 8.
  double narrow_gram = 630, narrow_gram_block = 74, narrow_gram_of_two = 1.25;
  double gram_group = 800, group = 600, block = 75, three_slices = 0.95;
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
  // Where memory wants few requests (H200): KiB of a ring. Numbers that are widened or split keep a chunk longer, and
  // float32 that takes long to multiply is read best by many chunks.
  bool few_requests = false;
  double soon_used = 0.33, late_used = 0.5;  ///< of memory's time
  int soon_kib = 64, soon_kib_of_narrow = 76, kib = 50, late_kib = 58;
};

inline constexpr InnerCostModel inner_on_h100{};
/// Four chunks of 32 KiB a multiprocessor reach 75-80 % of an H200's read roof, two 93-97; float32 that takes long to
/// multiply 75-87 % by few chunks, 88-95 by many (tests/bench/results/requests-2026-11-22-h200.txt).
inline constexpr InnerCostModel inner_on_h200{.few_requests = true};

}  // namespace ts::cuda
