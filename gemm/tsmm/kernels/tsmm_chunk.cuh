// A chunk of rows on its way through tsmm.cuh: which warps work on what, and where the results take their place.
//
// A group of warps takes a chunk together. It consists of teams of warps: a team has rows of its own, of which each of
// its warps computes some columns. The results of a team replace its rows of X, unless Y is read too (then they have a
// place behind) or X lies by columns (then all teams must have read it first).
#pragma once

#include "tallskinny/gemm/device/operand.cuh"
#include "tallskinny/gemm/tsmm/kernels/scalars.cuh"
#include "tallskinny/gemm/tsmm/kernels/small_factor.cuh"
#include "tallskinny/gemm/tsmm/policy.hpp"

using ts::cuda::TsmmPolicy;
using ts::cuda::TsmmWorker;
using Factor = SmallFactor<Result>;
using X = TallStream<policy.x()>;

/// Where a warp stands.
struct Place {
  int group, team, column_warp, lane;

  __device__ __forceinline__ int thread_of_team() const { return column_warp * 32 + lane; }
  __device__ __forceinline__ int thread_of_group() const { return team * policy.team_threads() + thread_of_team(); }
  __device__ __forceinline__ int first_row() const { return team * policy.team_rows(); }
  /// The results of the team.
  __device__ __forceinline__ Result* results(unsigned char* slot) const {
    return reinterpret_cast<Result*>(slot + policy.y_offset() + team * policy.y_pitch());
  }

  __device__ __forceinline__ void sync_team() const {
    if (policy.column_warps == 1)
      __syncwarp();
    else
      sync(1 + group * policy.teams + team, policy.team_threads());
  }
  /// Until the rows of X are read that the results of this team are going to replace.
  __device__ __forceinline__ void sync_readers() const {
    if (policy.teams == 1 || policy.accumulate || !X::by_columns)
      sync_team();
    else
      sync(1 + (policy.column_warps > 1 ? policy.groups * policy.teams : 0) + group,
           policy.teams * policy.team_threads());
  }

 private:
  static __device__ __forceinline__ void sync(int barrier, int count) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(count) : "memory");
  }
};
