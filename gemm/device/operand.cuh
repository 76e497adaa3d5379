// A tall operand of a row-streaming kernel: how a chunk of its rows lies in a stage of shared memory, and how
// it gets there.
//
// A chunk is cut into Subs sub-blocks of SubRows rows that start Pad bytes apart modulo 128. With four and
// 32, lane group t reads rows of sub-block t alone in the K-permutation of the tensor instructions, and the
// four groups never meet in a bank, whatever the width. Narrow operands may fold: Fold neighbouring rows
// count as one row of Fold times the width.
#pragma once

#include "tallskinny/gemm/device/fragment.cuh"
#include "tallskinny/gemm/device/pipeline.cuh"

enum LoadMode {
  load_flat = 0,         ///< row-major, ld = pitch: each sub-block is one run of bytes, copied in bulk
  load_rows = 1,         ///< row-major, any ld: units of Unit bytes along the rows
  load_columns = 2,      ///< column-major: units of Unit bytes along the columns
  load_long_columns = 3  ///< the same with columns copied in bulk, which pays from about a KiB on
};

/// What a kernel is told of an operand at run time; strides in elements.
struct OperandArgument {
  const void* data;
  int64 row_stride, column_stride;
};

/// Width: columns; Pitch: scalars between rows in shared memory; Vector: columns that a lane reads at once;
/// Unit: bytes of an asynchronous copy, which divide the address, the stride and the run (2: through
/// registers); Shift: whether a flat operand may be off a 128-byte boundary, and columns off 16 bytes; ColumnGap:
/// how far apart columns start, modulo 128, so that the lanes that read together meet in no bank; Subs 1: rows follow one another,
/// and lane group t reads rows 4t.. of each 16 (column-major operands and their partners).
template <int Mode, int Width, int Pitch, int Fold, int Vector, int Unit, int Subs, int SubRows, int Pad,
          bool Shift,
          int ColumnGap = sizeof(Scalar) == 8   ? 16
                          : sizeof(Scalar) == 4 ? 64
                                                : 32>
struct Operand {
  static constexpr int scalar_size = sizeof(Scalar), element_size = sizeof(Element);
  static constexpr bool by_columns = Mode == load_columns || Mode == load_long_columns;
  static constexpr int vector = by_columns ? parts : Vector;
  static constexpr int scalars = parts * Width;                ///< of a row
  static constexpr int folded = (Fold - 1) * Pitch + scalars;  ///< of a folded row
  static constexpr int row_bytes = Fold * Pitch * scalar_size;
  static constexpr int chunk_rows = Subs * SubRows;  ///< folded rows
  static constexpr int sub_bytes = SubRows * row_bytes;
  static constexpr int sub_pitch = round_up(sub_bytes + (Shift ? 144 : 0), 128) + Pad;
  static constexpr int column_bytes = chunk_rows * element_size;
  static constexpr bool slanted = by_columns && Shift;
  static constexpr int column_pitch = round_up(column_bytes, 128) + ColumnGap;
  static_assert(!slanted || ColumnGap >= 16, "room for what is before a slanted column");
  static constexpr int stage_bytes = round_up(by_columns ? Width * column_pitch : Subs * sub_pitch, 128);
#if __CUDA_ARCH__ >= 900
  static constexpr bool in_bulk = Mode == load_flat || Mode == load_long_columns;
#else
  static constexpr bool in_bulk = false;
#endif
  /// Threads that arrive at a stage's barrier.
  __host__ __device__ static constexpr int arrivals(int threads) {
    return in_bulk ? 32 : threads;
  }

  const unsigned char* base;
  int64 row_stride, column_stride;  ///< bytes
  int64 rows;
  int shift;  ///< bytes between the boundary before the base and the base

  __device__ __forceinline__ Operand(const OperandArgument& argument, int64 row_count)
      : base(static_cast<const unsigned char*>(argument.data)),
        row_stride(argument.row_stride * element_size),
        column_stride(argument.column_stride * element_size),
        rows(row_count),
        shift(Shift ? static_cast<int>(reinterpret_cast<uint64>(argument.data) & 127) : 0) {}

  /// The producers' part: `thread` of `threads` fills a stage with chunk number `chunk`.
  __device__ __forceinline__ void fill(int64 chunk, unsigned char* stage, uint64* full, int thread,
                                       int threads) const {
    if constexpr (in_bulk && by_columns) {
      if (thread < 32) fill_columns_in_bulk(chunk, stage, full, thread);
    } else if constexpr (in_bulk) {
      if (thread < 32) fill_in_bulk(chunk, stage, full, thread);
    } else {
      if constexpr (Mode == load_flat) {
        const int64 total = flat_bytes(), first = chunk * Subs * sub_bytes;
        copy_runs<Subs, sub_bytes>(base + first, sub_bytes, stage + shift, sub_pitch, total - first,
                                   sub_bytes, thread, threads);
      } else if constexpr (Mode == load_rows) {
        const int64 first = chunk * chunk_rows * Fold;
        fill_rows(first, stage, thread, threads);
      } else {
        fill_columns(chunk, stage, thread, threads);
      }
      arrive(full, (chunk + 1) * chunk_rows > rows);
    }
  }

  /// Byte offset in a stage of folded row `row`.
  __device__ __forceinline__ int row_offset(int row) const {
    if constexpr (by_columns) return row * element_size;
    return shift + row / SubRows * sub_pitch + row % SubRows * row_bytes;
  }
  /// Byte offset in a stage of scalar `column` of lane group t's rows of the first step.
  __device__ __forceinline__ int offset(int t, int column) const {
    if constexpr (by_columns) return column / parts * column_pitch + t * 4 * element_size;
    return shift + column * scalar_size + t * (Subs == 1 ? 4 * row_bytes : sub_pitch);
  }
  /// Byte offset in a row of its element of a column. A slanted column lies as far behind 16 bytes as in memory.
  __device__ __forceinline__ int column_offset(int column) const {
    if constexpr (!by_columns) return column * element_size;
    return column * column_pitch + (slanted ? (shift + column * static_cast<int>(column_stride)) & 15 : 0);
  }
  /// Bytes from one step of 16 rows to the next.
  static constexpr int step_bytes = by_columns ? 16 * element_size : (Subs == 1 ? 16 : 4) * row_bytes;

 private:
  __device__ __forceinline__ int64 flat_bytes() const {
    return rows > 0 ? ((rows - 1) * Pitch + scalars) * scalar_size : 0;
  }

  /// `valid` bytes (<= Unit, may be negative) and zeros behind them.
  static __device__ __forceinline__ void copy_unit(unsigned char* to, const unsigned char* from,
                                                   int64 valid) {
    const int bytes = valid >= Unit ? Unit : valid > 0 ? static_cast<int>(valid) : 0;
    if constexpr (Unit >= 4)
      copy_async<Unit>(to, from, bytes);
    else
      *reinterpret_cast<unsigned short*>(to) = bytes ? *reinterpret_cast<const unsigned short*>(from) : 0;
  }

  /// Arrives once all that this thread has brought is there. The last slanted chunk comes in part through
  /// registers.
  static __device__ __forceinline__ void arrive(uint64* full, bool last) {
    if constexpr (Unit < 4) {
      barrier_arrive(full);
    } else if (slanted && last) {
      wait_for_copies();
      barrier_arrive(full);
    } else {
      barrier_arrive_after_copies(full);
    }
  }

  /// Runs of Bytes bytes, run i of which has `valid` - i `used` of them.
  template <int Runs, int Bytes>
  static __device__ __forceinline__ void copy_runs(const unsigned char* from, int64 from_pitch,
                                                   unsigned char* to, int to_pitch, int64 valid, int used,
                                                   int thread, int threads) {
    constexpr int units = Bytes / Unit;
#pragma unroll 4
    for (int i = thread; i < Runs * units; i += threads) {
      const int run = i / units, at = i % units * Unit;
      const int64 left = valid - static_cast<int64>(run) * used - at;
      copy_unit(to + run * to_pitch + at, left > 0 ? from + run * from_pitch + at : from, left);
    }
  }

  __device__ __forceinline__ void fill_rows(int64 first, unsigned char* stage, int thread,
                                            int threads) const {
    constexpr int sub = SubRows * Fold, count = Subs * sub, units = scalars * scalar_size / Unit;
    const unsigned char* from = base + first * row_stride;
    const int64 left = rows - first;
#pragma unroll 4
    for (int i = thread; i < count * units; i += threads) {
      const int row = i / units, at = i % units * Unit;
      copy_unit(stage + row / sub * sub_pitch + row % sub * (Pitch * scalar_size) + at,
                row < left ? from + row * row_stride + at : base, row < left ? Unit : 0);
    }
  }

  __device__ __forceinline__ void fill_columns(int64 chunk, unsigned char* stage, int thread,
                                               int threads) const {
    const int64 first = chunk * chunk_rows;
    if constexpr (slanted) return fill_slanted(first, stage, thread, threads);
    copy_runs<Width, column_bytes>(base + first * element_size, column_stride, stage, column_pitch,
                                   (rows - first) * element_size, 0, thread, threads);
  }

  /// Columns that begin anywhere: from the 16 bytes on in which they begin.
  __device__ __forceinline__ void fill_slanted(int64 first, unsigned char* stage, int thread,
                                               int threads) const {
    constexpr int units = column_bytes / Unit + 1;
    const int64 left = (rows - first) * element_size;
    const int valid = left < column_bytes ? static_cast<int>(left) : column_bytes;
#pragma unroll 4
    for (int i = thread; i < Width * units; i += threads) {
      const int column = i / units, at = i % units * Unit;
      const unsigned char* const from = base + first * element_size + column * column_stride;
      const int lead = static_cast<int>(reinterpret_cast<uint64>(from) & 15);
      const int bytes = lead + valid - at;
      unsigned char* const to = stage + column * column_pitch + at;
      if (bytes >= Unit || bytes <= 0)
        copy_unit(to, bytes > 0 ? from - lead + at : base, bytes);
      else  // no byte behind the column is touched: it may be the last of its allocation
        for (int b = 0; b < Unit; b += scalar_size)
          *reinterpret_cast<Scalar*>(to + b) =
              b < bytes ? *reinterpret_cast<const Scalar*>(from - lead + at + b) : Scalar{};
    }
  }

  __device__ __forceinline__ void fill_columns_in_bulk(int64 chunk, unsigned char* stage, uint64* full,
                                                       int lane) const {
    const int64 first = chunk * chunk_rows;
    if (first + chunk_rows > rows) {
      fill_columns(chunk, stage, lane, 32);
      return arrive(full, true);
    }
    if (lane == 0) barrier_arrive_expecting(full, Width * column_bytes);
    if (lane == 1) barrier_arrive_for(full, 31);
    for (int column = lane; column < Width; column += 32)
      bulk_load(stage + column * column_pitch, base + first * element_size + column * column_stride,
                column_bytes, full);
  }

  __device__ __forceinline__ void fill_in_bulk(int64 chunk, unsigned char* stage, uint64* full,
                                               int lane) const {
    const int64 total = flat_bytes(), first = chunk * Subs * sub_bytes;
    const unsigned char* from = base - shift + first;
    if (first + Subs * sub_bytes + (Shift ? 16 : 0) <= total) {
      if (lane < Subs) {
        const uint32 bytes = Shift ? round_up(shift + sub_bytes, 16) : sub_bytes;
        barrier_arrive_expecting(full, bytes);
        bulk_load(stage + lane * sub_pitch, from + lane * sub_bytes, bytes, full);
      } else if (lane == Subs) {
        barrier_arrive_for(full, 32 - Subs);
      }
      return;
    }
    // The last chunk: what the copy engine cannot bring, the warp does; the rest is zero. Every lane arrives
    // for what it wrote.
    int mine = 0;
    for (int t = 0; t < Subs; ++t) {
      const int64 left = total - first - t * sub_bytes;
      const int valid = left <= 0 ? 0 : left < sub_bytes ? static_cast<int>(left) : sub_bytes;
      const int bulk = valid == 0 ? 0 : (shift + valid) / 16 * 16;
      unsigned char* to = stage + t * sub_pitch;
      for (int i = (bulk > shift ? bulk : shift) + 2 * lane; i < shift + sub_bytes; i += 64)
        *reinterpret_cast<unsigned short*>(to + i) =
            i < shift + valid ? *reinterpret_cast<const unsigned short*>(from + t * sub_bytes + i) : 0;
      if (lane == t) mine = bulk;
    }
    if (lane >= Subs) return barrier_arrive(full);
    barrier_arrive_expecting(full, mine);
    if (mine > 0) bulk_load(stage + lane * sub_pitch, from + lane * sub_bytes, mine, full);
  }
};
