// What specialises tsmm/kernels/, and the arguments of its kernels: Y = alpha X op(S) + beta Y of tall X and Y.
#pragma once

#include "tallskinny/gemm/device/tall_policy.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// op(S); strides in elements.
struct SmallFactorArgument {
  const void* data;
  index_t row_stride, column_stride;
  int conjugate;
};
/// Y; strides in elements.
struct ResultArgument {
  void* data;
  index_t row_stride, column_stride;
};

struct TsmmArguments {
  OperandArgument x;
  SmallFactorArgument s;
  ResultArgument y;
  index_t rows;
  ScalarArgument alpha, beta;
  unsigned* tickets;  ///< a counter that is 0 between launches
};

/// Who computes a row: a lane alone, a warp with tensor instructions, or a warpgroup with its own (sm_90a).
enum class TsmmWorker { lane = 0, warp = 1, warpgroup = 2 };

/// kernels/tsmm.cuh. Groups of warps work on their own; a group takes chunks of rows, of which each of its teams has
/// some, and each warp of a team some columns. Shared memory: the groups' rings of barriers, S, the slots.
struct TsmmPolicy {
  DType type = DType::float64;
  TsmmWorker worker = TsmmWorker::warp;
  Arithmetic arithmetic = Arithmetic::float64;  ///< or split
  int p = 1, q = 1;                             ///< columns of X and of Y
  bool accumulate = false;                      ///< beta is not 0: Y is read
  TallMode mode_x = TallMode::flat;             ///< this and the next three: see TallChunk
  int pitch_x = 1, unit_x = 16;
  bool shift_x = false;
  int vector_x = 1;        ///< scalars of a row of X that a lane reads at once
  bool columns_y = false;  ///< Y lies by columns
  int unit_y = 16;         ///< bytes of Y moved at once, which divide its addresses and lines
  bool bulk_y = false;     ///< Y is contiguous and aligned to 16 bytes: the copy engine moves whole chunks
  int tiles = 1;           ///< of 16 rows that a warp computes at once; of 32 where lanes work alone
  int column_warps = 1;    ///< that share the rows of a team
  int teams = 1;           ///< that share a chunk
  int groups = 8;
  int slots = 32;  ///< for a chunk each, of all groups
  int lag = 1;     ///< 1: a slot is filled again one chunk later than it could be, so that its store is over

  [[nodiscard]] constexpr int parts() const noexcept { return parts_of(type); }
  [[nodiscard]] constexpr int scalar() const noexcept { return scalar_bytes(type); }
  [[nodiscard]] constexpr int real_bytes() const noexcept { return scalar_bytes(result_type_of(type)); }
  [[nodiscard]] constexpr int result_bytes() const noexcept { return real_bytes() * parts(); }
  [[nodiscard]] constexpr bool split() const noexcept { return arithmetic == Arithmetic::split; }

  [[nodiscard]] constexpr int group_warps() const noexcept { return teams * column_warps; }
  [[nodiscard]] constexpr int warps() const noexcept { return groups * group_warps(); }
  [[nodiscard]] constexpr int threads() const noexcept { return 32 * warps(); }
  [[nodiscard]] constexpr int team_threads() const noexcept { return 32 * column_warps; }
  [[nodiscard]] constexpr int team_rows() const noexcept { return (worker == TsmmWorker::lane ? 32 : 16) * tiles; }
  [[nodiscard]] constexpr int rows() const noexcept { return team_rows() * teams; }  ///< of a chunk

  // X in a slot. Results take the place of the rows: sub-blocks that are shorter than theirs start further apart.
  [[nodiscard]] constexpr int team_subs() const noexcept { return worker == TsmmWorker::lane ? 1 : 2; }
  [[nodiscard]] constexpr TallChunk x() const noexcept {
    TallChunk chunk{type,       mode_x, p, pitch_x, unit_x, shift_x, teams * team_subs(), team_rows() / team_subs(),
                    bank_pad(), 32};
    const int missing = y_team_bytes() - team_subs() * chunk.sub_pitch();
    if (!accumulate && !chunk.by_columns() && missing > 0) chunk.pad += round_up(missing / team_subs(), 128);
    return chunk;
  }
  [[nodiscard]] constexpr int x_bytes() const noexcept {
    return x().by_columns() ? x().bytes() : round_up(x().subs * x().sub_pitch() - x().pad, 128);
  }

  // Y in a slot: in the place of X, behind it if Y is read, too. Staged columns start 16 bytes apart modulo the rows.
  [[nodiscard]] constexpr int y_row_pitch() const noexcept { return columns_y ? 1 : q; }  ///< elements
  [[nodiscard]] constexpr int y_column_pitch() const noexcept {
    return columns_y ? team_rows() + 16 / result_bytes() : 1;
  }
  [[nodiscard]] constexpr int y_team_bytes() const noexcept {
    return q * (columns_y ? y_column_pitch() : team_rows()) * result_bytes();
  }
  [[nodiscard]] constexpr int y_offset() const noexcept { return accumulate ? x_bytes() : 0; }
  [[nodiscard]] constexpr int y_pitch() const noexcept {  ///< bytes between the results of two teams
    return accumulate || x().by_columns() ? y_team_bytes() : team_subs() * x().sub_pitch();
  }
  [[nodiscard]] constexpr int slot_bytes() const noexcept {
    const int y_end = y_offset() + (teams - 1) * y_pitch() + y_team_bytes();
    return round_up(y_end > x_bytes() ? y_end : x_bytes(), 128);
  }

  // S: rows of reals for lanes, else fragments for blocks of 16 scalars of K and of 8 columns.
  [[nodiscard]] constexpr int factor_pitch() const noexcept { return round_up(q * parts(), 16 / real_bytes()); }
  [[nodiscard]] constexpr int k_blocks() const noexcept { return (p * parts() + 15) / 16; }
  [[nodiscard]] constexpr int column_blocks() const noexcept { return (q + 7) / 8; }
  [[nodiscard]] constexpr int factor_bytes() const noexcept {
    return worker == TsmmWorker::lane ? round_up(p * factor_pitch() * real_bytes(), 128)
                                      : k_blocks() * column_blocks() * fragment_block_bytes;
  }

  /// Slots of a group; some groups may have one less.
  [[nodiscard]] constexpr int most_stages() const noexcept { return (slots + groups - 1) / groups; }
  /// A group's ring keeps two barriers and two numbers of 32 bits a slot.
  [[nodiscard]] constexpr int factor_offset() const noexcept { return round_up(24 * groups * most_stages(), 128); }
  [[nodiscard]] constexpr int slots_offset() const noexcept { return factor_offset() + factor_bytes(); }
  [[nodiscard]] constexpr int shared_bytes() const noexcept { return slots_offset() + slots * slot_bytes(); }

  /// What a thread will need, as compiled kernels were seen to take: sums, fragments, addresses; more where scalars are
  /// read one by one.
  [[nodiscard]] constexpr int registers_needed() const noexcept {
    const bool by_columns = x().by_columns();
    if (worker == TsmmWorker::warpgroup)
      return 8 * column_blocks() * parts() + 116 + (by_columns ? 20 : vector_x < 4 ? 16 : 0);
    if (worker == TsmmWorker::lane) return 60 + (tiles * (parts() * q + 5) + parts() * q) * (scalar() == 8 ? 2 : 1);
    const int blocks = (column_blocks() + column_warps - 1) / column_warps, sums = tiles * blocks * parts() * 4;
    const bool scattered = by_columns || (vector_x == 1 && scalar() == 4);
    if (parts() == 2)
      return split() ? sums * 7 / 5 + 44 * tiles + 88 + (scattered ? 18 : 0)
                     : sums * 5 / 2 + 36 * tiles + 72 + (vector_x == 1 ? 8 * tiles : 0) + (blocks > 1 ? 16 : 0) +
                           (q % 8 != 0 ? 8 : 0);
    if (!split()) return 2 * sums + tiles * (vector_x == 1 ? 24 : 16) + (warps() > 8 ? 112 : 96);
    return sums + tiles * 24 + (scalar() == 4 ? 146 : 132) + (scattered ? 18 : 0);
  }

  TS_POLICY(TsmmPolicy, TsmmArguments, "gemm/tsmm/policy.hpp", type, worker, arithmetic, p, q, accumulate, mode_x,
            pitch_x, unit_x, shift_x, vector_x, columns_y, unit_y, bulk_y, tiles, column_warps, teams, groups, slots,
            lag);

 private:
  static constexpr int fragment_block_bytes = 1024;  ///< 32 lanes with 32 bytes each
  /// What keeps the two sub-blocks of a team out of each other's banks.
  [[nodiscard]] constexpr int bank_pad() const noexcept {
    if (worker == TsmmWorker::lane || mode_x == TallMode::by_columns) return 0;
    return vector_x * scalar() != 16 ? 32 : scalar() == 8 ? 16 : 64;
  }
};

}  // namespace ts::inline v0::cuda
