// What kernels of tsmm/ were measured to cost, as numbers: plan.cpp and wide_plan.cpp put them together.
#pragma once

#include <cstddef>

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::inline v0::cuda {

/// Cycles of a multiprocessor for 16 rows, as far as they tell policies of tsmm.cuh apart. Fitted to the times of all
/// policies of 47 problems on an H100, the last group to 6 widths at 2^14 to 2^19 rows, and to the stored times of X S
/// on an H100 and an H200 at once (tests/bench/results/candidates-*.txt).
struct TsmmCostModel {
  // Memory: too little in flight leaves gaps, too much spreads what is read and written.
  double bytes_per_cycle = 12.9;         ///< that one of 132 multiprocessors reads and writes
  double enough_in_flight = 128 * 1024;  ///< bytes, of X and Y together
  double much_in_flight = 80 * 1024;     ///< bytes of X, beyond which each costs
  double spread = 1.5e-7;                ///< that part more
  double lanes_for_columns = 12.8;       ///< warps of lanes alone that keep columns of X coming
  double warps_for_columns = 8;          ///< of tensor instructions
  double short_columns = 24;             ///< bytes of each column lost, a chunk and team
  double ticket_cycles = 10000;          ///< between two tickets of a chunk of a row
  double waiting_stages = 6,
         waiting = 0.0014;  ///< teams wait for the slowest, less where many stages are ahead
  // The same where memory wants few, long requests (H200): a chunk's way to 8 KiB, teams, and less than 8 warps.
  double wanted_chunk_kib = 8, short_chunk = 0, asking_teams = 0, asking_teams_power = 1.5, asking_warps_power = 0;

  // Arithmetic: instructions for 16 scalars of K and 8 columns; fragments of S, which tiles share; what a warp widens
  // or splits of X by itself.
  double warpgroup_instructions = 8.2, split_instructions = 11.3, float64_instructions = 16, instruction = 0.6;
  double factor_load = 15, row_load = 21;
  double splitting = 15, widening = 40, widening_short = 15;  ///< of 16 scalars of K
  double by_columns = 20, scattered = 6;
  double narrow_start = 34;         ///< of what is no float64
  double fewer_warps_power = 0.66;  ///< of (8 / warps)
  double sharing_complex128 = 93;   ///< of each further warp that shares rows, and tile
  double sharing = 0.17;            ///< part more of each for other types
  double teams_of_few_stages = 0.04,
         teams_of_stages = 0.02;  ///< part more of each further team; few: below 4
  // Lanes with rows of their own: up to 8 scalars wide they hide behind memory; else products, S, and rows, whose lanes
  // meet in banks at multiples of 32 bytes.
  double lane_of_memory = 0.3, lane_product = 0.4, lane_factor = 0.35, lane_move = 0.21, lane_conflict = 4;
  double lane_stores = 3;

  // What few rows do not hide: half of the arithmetic of what the slots hold at first, what the busiest multiprocessor
  // has more than others, part of what it may get later than it could be loaded, and each group's start.
  double multiprocessors = 132, most_loaded = 160 * 1024;
  double first_slots = 0.5, late = 0.2, group_cycles = 300;
};

inline constexpr TsmmCostModel tsmm_cost{};
/// An H200 brings 35e9 bytes a second and multiprocessor, an H100 24e9. Chunks of 4, 6 and 8 KiB reach 83, 89 and 96 %
/// of the copy roof, however many are under way; four teams, which wait for each other, a tenth less than one, eight
/// half; four warps a fifth less than eight, two a third (tests/bench/results/requests-2026-11-22-h200.txt).
inline constexpr TsmmCostModel tsmm_cost_of_few_requests{.much_in_flight = 62 * 1024,
                                                         .short_chunk = 0.045,
                                                         .asking_teams = 0.017,
                                                         .asking_teams_power = 3.1,
                                                         .asking_warps_power = 0.3,
                                                         .teams_of_few_stages = 0.083,
                                                         .teams_of_stages = 0.08};

/// Times as long as alone: products that X S is cut into, where rows of X or pieces of Y begin off 16 bytes.
inline constexpr double pieces_in_lines = 1.1, pieces_off_lines = 1.9;

/// Where workers of tsmm.cuh serve at all: scalars of the shape.
struct TsmmLimits {
  // Few terms leave no rounding for split products to hide in, unless X is exact in one part.
  int least_split_float32 = 24, least_split_half = 5;
  int widest_warpgroup = 128;  ///< Y
  int widest_by_lanes = 4;     ///< X and Y, whose tensor instructions would be mostly empty
  int widest_lane_float64 = 8, widest_lane = 32, largest_lane_factor = 640;
  int most_slots = 6;  ///< of a group
  int slots_to_lag = 3,
      slots_to_lag_warpgroup = 4;  ///< of a group, from which on a slot is stored while the next is used
};
inline constexpr TsmmLimits tsmm_limits{};

/// Cycles of a multiprocessor for a tile of tsmm_wide.cuh. Fitted to the times of some policies of 25 problems on an
/// H100, and of 8 on an H200.
struct WideCostModel {
  double bytes_per_cycle = 12.6, enough_in_flight = 48 * 1024;
  double cache_bytes_per_cycle = 19.3, shared_bytes_per_cycle = 108.3;
  double float64_instruction = 64, split_instruction = 39, split_short_instruction = 26;  ///< of 16 x 8 x 16
  double tensor = 1.146, stage = 200, k_block = 90;  ///< cycles of stages and blocks of K beside instructions
};
inline constexpr WideCostModel wide_cost{};

/// Where tsmm_wide.cuh serves TSM2R. As measured on an H100: shorter rows, and elements of fewer bytes, are read as
/// fast by the inner product, which starts faster.
struct WideLimits {
  index_t least_columns = 1024, least_rows_of_multiprocessor = 100;
  std::size_t least_element = 8;
  double share_of_few_requests = 0.958;  ///< that an H200 reaches of what the model gives it
  int widest_exact = 16;  ///< scalars of Y up to which float32 is not split: few columns leave no rounding to hide in
};
inline constexpr WideLimits wide_limits{};

}  // namespace ts::inline v0::cuda
