// A chunk of rows on its way through tsmm.cuh: how the rows of X lie in a slot of shared memory, where the
// results take their place, and which warps work on what.
//
// A group of warps takes a chunk together. It consists of TS_TEAMS teams of TS_COLUMN_WARPS warps: a team has
// rows of its own, of which each of its warps computes some columns. The results of a team replace its rows
// of X, unless Y is read too (then they have a place behind) or X lies by columns (then all teams must have
// read it first).
#pragma once

#include "tallskinny/gemm/device/operand.cuh"
#include "tallskinny/gemm/tsmm/kernels/scalars.cuh"
#include "tallskinny/gemm/tsmm/kernels/small_factor.cuh"

constexpr int group_warps = TS_TEAMS * TS_COLUMN_WARPS, warps = TS_GROUPS * group_warps, threads = 32 * warps;
constexpr int team_threads = 32 * TS_COLUMN_WARPS;
constexpr int team_rows = TS_ROWS / TS_TEAMS;
constexpr int team_subs = TS_NARROW ? 1 : 2;  ///< sub-blocks that hold a team's rows

using X = TallStream<ts::cuda::TallChunk{element_type, static_cast<ts::cuda::TallMode>(TS_MODE_X), TS_P, TS_PITCH_X,
                                         TS_UNIT_X, TS_SHIFT_X, TS_TEAMS * team_subs, team_rows / team_subs,
                                         TS_PAD_X, 32}>;

/// Distances between the staged results of a team, in elements; columns start 16 bytes apart modulo the
/// team's rows.
constexpr int y_row_pitch = TS_COLUMNS_Y ? 1 : TS_Q;
constexpr int y_column_pitch = TS_COLUMNS_Y ? team_rows + 16 / static_cast<int>(sizeof(Result)) : 1;
constexpr int y_team_bytes =
    (TS_COLUMNS_Y ? TS_Q * y_column_pitch : team_rows * TS_Q) * static_cast<int>(sizeof(Result));
constexpr int x_team_bytes = X::by_columns ? y_team_bytes : team_subs * X::sub_pitch;
constexpr int x_bytes =
    X::by_columns ? X::stage_bytes : round_up(TS_TEAMS * team_subs * X::sub_pitch - TS_PAD_X, 128);
constexpr int y_pitch =
    TS_ACCUMULATE ? y_team_bytes : x_team_bytes;  ///< bytes between the results of two teams
constexpr int y_offset = TS_ACCUMULATE ? x_bytes : 0;
constexpr int y_end = y_offset + (TS_TEAMS - 1) * y_pitch + y_team_bytes;
constexpr int slot_bytes = round_up(y_end > x_bytes ? y_end : x_bytes, 128);
static_assert(TS_ACCUMULATE || y_team_bytes <= x_team_bytes,
              "the host pads what is too short for its results");

/// Where a warp stands.
struct Place {
  int group, team, column_warp, lane;

  __device__ __forceinline__ int thread_of_team() const { return column_warp * 32 + lane; }
  __device__ __forceinline__ int thread_of_group() const { return team * team_threads + thread_of_team(); }

  __device__ __forceinline__ void sync_team() const {
    if (TS_COLUMN_WARPS == 1)
      __syncwarp();
    else
      sync(1 + group * TS_TEAMS + team, team_threads);
  }
  /// Until the rows of X are read that the results of this team are going to replace.
  __device__ __forceinline__ void sync_readers() const {
    if (TS_TEAMS == 1 || TS_ACCUMULATE || !X::by_columns)
      sync_team();
    else
      sync(1 + (TS_COLUMN_WARPS > 1 ? TS_GROUPS * TS_TEAMS : 0) + group, TS_TEAMS * team_threads);
  }

 private:
  static __device__ __forceinline__ void sync(int barrier, int count) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(count) : "memory");
  }
};

using Factor = SmallFactor<Result>;
