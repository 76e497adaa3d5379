// A tall operand of a row-streaming kernel: how the chunks of its rows, which lie in a stage of shared memory as
// tall_policy.hpp says, get there.
#pragma once

#include "tallskinny/gemm/device/fragment.cuh"
#include "tallskinny/gemm/device/pipeline.cuh"
#include "tallskinny/gemm/device/tall_policy.hpp"

using ts::cuda::OperandArgument;

template <ts::cuda::TallChunk chunk>
struct TallStream {
  static constexpr int scalar_size = chunk.scalar(), element_size = chunk.element();
  static constexpr bool by_columns = chunk.by_columns(), slanted = chunk.slanted();
  static constexpr int vector = by_columns ? parts : chunk.vector;
  static constexpr int scalars = chunk.scalars(), folded = chunk.folded();  ///< of a row, and of a folded one
  static constexpr int row_bytes = chunk.row_bytes(), chunk_rows = chunk.rows();
  static constexpr int sub_bytes = chunk.sub_bytes(), sub_pitch = chunk.sub_pitch();
  static constexpr int column_bytes = chunk.column_bytes(), column_pitch = chunk.column_pitch();
  static constexpr int stage_bytes = chunk.bytes();
  static_assert(scalar_size == sizeof(Scalar) && element_size == sizeof(Element));
  static_assert(!slanted || chunk.column_gap >= 16, "room for what is before a slanted column");
#if __CUDA_ARCH__ >= 900
  static constexpr bool in_bulk =
      chunk.mode == ts::cuda::TallMode::flat || chunk.mode == ts::cuda::TallMode::long_columns;
#else
  static constexpr bool in_bulk = false;
#endif
  /// Threads that arrive at a stage's barrier.
  __host__ __device__ static constexpr int arrivals(int threads) { return in_bulk ? 32 : threads; }

  const unsigned char* base;
  int64 row_stride, column_stride;  ///< bytes
  int64 rows;
  int shift;  ///< bytes between the boundary before the base and the base

  __device__ __forceinline__ TallStream(const OperandArgument& argument, int64 row_count)
      : base(static_cast<const unsigned char*>(argument.data)),
        row_stride(argument.row_stride * element_size),
        column_stride(argument.column_stride * element_size),
        rows(row_count),
        shift(chunk.shift ? static_cast<int>(reinterpret_cast<uint64>(argument.data) & 127) : 0) {}

  /// The producers' part: `thread` of `threads` fills a stage with chunk `number`.
  __device__ __forceinline__ void fill(int64 number, unsigned char* stage, uint64* full, int thread,
                                       int threads) const {
    if constexpr (in_bulk && by_columns) {
      if (thread < 32) fill_columns_in_bulk(number, stage, full, thread);
    } else if constexpr (in_bulk) {
      if (thread < 32) fill_in_bulk(number, stage, full, thread);
    } else {
      if constexpr (chunk.mode == Mode::flat) {
        const int64 total = flat_bytes(), first = number * subs * sub_bytes;
        copy_runs<subs, sub_bytes>(base + first, sub_bytes, stage + shift, sub_pitch, total - first, sub_bytes, thread,
                                   threads);
      } else if constexpr (chunk.mode == Mode::by_rows) {
        const int64 first = number * chunk_rows * fold;
        fill_rows(first, stage, thread, threads);
      } else {
        fill_columns(number, stage, thread, threads);
      }
      arrive(full, (number + 1) * chunk_rows > rows);
    }
  }

  /// Byte offset in a stage of folded row `row`.
  __device__ __forceinline__ int row_offset(int row) const {
    if constexpr (by_columns) return row * element_size;
    return shift + row / sub_rows * sub_pitch + row % sub_rows * row_bytes;
  }
  /// Byte offset in a stage of scalar `column` of lane group t's rows of the first step.
  __device__ __forceinline__ int offset(int t, int column) const {
    if constexpr (by_columns) return column / parts * column_pitch + t * 4 * element_size;
    return shift + column * scalar_size + t * (subs == 1 ? 4 * row_bytes : sub_pitch);
  }
  /// Byte offset in a row of its element of a column. A slanted column lies as far behind 16 bytes as in memory.
  __device__ __forceinline__ int column_offset(int column) const {
    if constexpr (!by_columns) return column * element_size;
    return column * column_pitch + (slanted ? (shift + column * static_cast<int>(column_stride)) & 15 : 0);
  }
  /// Bytes from one step of 16 rows to the next.
  static constexpr int step_bytes = by_columns ? 16 * element_size : (chunk.subs == 1 ? 16 : 4) * row_bytes;

 private:
  using Mode = ts::cuda::TallMode;
  static constexpr int width = chunk.width, pitch = chunk.pitch, fold = chunk.fold, unit = chunk.unit;
  static constexpr int subs = chunk.subs, sub_rows = chunk.sub_rows;

  __device__ __forceinline__ int64 flat_bytes() const {
    return rows > 0 ? ((rows - 1) * pitch + scalars) * scalar_size : 0;
  }

  /// `valid` bytes (<= unit, may be negative) and zeros behind them.
  static __device__ __forceinline__ void copy_unit(unsigned char* to, const unsigned char* from, int64 valid) {
    const int bytes = valid >= unit ? unit : valid > 0 ? static_cast<int>(valid) : 0;
    if constexpr (unit >= 4)
      copy_async<unit>(to, from, bytes);
    else
      *reinterpret_cast<unsigned short*>(to) = bytes ? *reinterpret_cast<const unsigned short*>(from) : 0;
  }

  /// Arrives once all that this thread has brought is there. The last slanted chunk comes in part through
  /// registers.
  static __device__ __forceinline__ void arrive(uint64* full, bool last) {
    if constexpr (unit < 4) {
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
  static __device__ __forceinline__ void copy_runs(const unsigned char* from, int64 from_pitch, unsigned char* to,
                                                   int to_pitch, int64 valid, int used, int thread, int threads) {
    constexpr int units = Bytes / unit;
#pragma unroll 4
    for (int i = thread; i < Runs * units; i += threads) {
      const int run = i / units, at = i % units * unit;
      const int64 left = valid - static_cast<int64>(run) * used - at;
      copy_unit(to + run * to_pitch + at, left > 0 ? from + run * from_pitch + at : from, left);
    }
  }

  __device__ __forceinline__ void fill_rows(int64 first, unsigned char* stage, int thread, int threads) const {
    constexpr int sub = sub_rows * fold, count = subs * sub, units = scalars * scalar_size / unit;
    const unsigned char* from = base + first * row_stride;
    const int64 left = rows - first;
#pragma unroll 4
    for (int i = thread; i < count * units; i += threads) {
      const int row = i / units, at = i % units * unit;
      copy_unit(stage + row / sub * sub_pitch + row % sub * (pitch * scalar_size) + at,
                row < left ? from + row * row_stride + at : base, row < left ? unit : 0);
    }
  }

  __device__ __forceinline__ void fill_columns(int64 number, unsigned char* stage, int thread, int threads) const {
    const int64 first = number * chunk_rows;
    if constexpr (slanted) return fill_slanted(first, stage, thread, threads);
    copy_runs<width, column_bytes>(base + first * element_size, column_stride, stage, column_pitch,
                                   (rows - first) * element_size, 0, thread, threads);
  }

  /// Columns that begin anywhere: from the 16 bytes on in which they begin.
  __device__ __forceinline__ void fill_slanted(int64 first, unsigned char* stage, int thread, int threads) const {
    constexpr int units = column_bytes / unit + 1;
    const int64 left = (rows - first) * element_size;
    const int valid = left < column_bytes ? static_cast<int>(left) : column_bytes;
#pragma unroll 4
    for (int i = thread; i < width * units; i += threads) {
      const int column = i / units, at = i % units * unit;
      const unsigned char* const from = base + first * element_size + column * column_stride;
      const int lead = static_cast<int>(reinterpret_cast<uint64>(from) & 15);
      const int bytes = lead + valid - at;
      unsigned char* const to = stage + column * column_pitch + at;
      if (bytes >= unit || bytes <= 0)
        copy_unit(to, bytes > 0 ? from - lead + at : base, bytes);
      else  // no byte behind the column is touched: it may be the last of its allocation
        for (int b = 0; b < unit; b += scalar_size)
          *reinterpret_cast<Scalar*>(to + b) =
              b < bytes ? *reinterpret_cast<const Scalar*>(from - lead + at + b) : Scalar{};
    }
  }

  __device__ __forceinline__ void fill_columns_in_bulk(int64 number, unsigned char* stage, uint64* full,
                                                       int lane) const {
    const int64 first = number * chunk_rows;
    if (first + chunk_rows > rows) {
      fill_columns(number, stage, lane, 32);
      return arrive(full, true);
    }
    if (lane == 0) barrier_arrive_expecting(full, width * column_bytes);
    if (lane == 1) barrier_arrive_for(full, 31);
    for (int column = lane; column < width; column += 32)
      bulk_load(stage + column * column_pitch, base + first * element_size + column * column_stride, column_bytes,
                full);
  }

  __device__ __forceinline__ void fill_in_bulk(int64 number, unsigned char* stage, uint64* full, int lane) const {
    const int64 total = flat_bytes(), first = number * subs * sub_bytes;
    const unsigned char* from = base - shift + first;
    if (first + subs * sub_bytes + (chunk.shift ? 16 : 0) <= total) {
      if (lane < subs) {
        const uint32 bytes = chunk.shift ? round_up(shift + sub_bytes, 16) : sub_bytes;
        barrier_arrive_expecting(full, bytes);
        bulk_load(stage + lane * sub_pitch, from + lane * sub_bytes, bytes, full);
      } else if (lane == subs) {
        barrier_arrive_for(full, 32 - subs);
      }
      return;
    }
    // The last chunk: what the copy engine cannot bring, the warp does; the rest is zero. Every lane arrives
    // for what it wrote.
    int mine = 0;
    for (int t = 0; t < subs; ++t) {
      const int64 left = total - first - t * sub_bytes;
      const int valid = left <= 0 ? 0 : left < sub_bytes ? static_cast<int>(left) : sub_bytes;
      const int bulk = valid == 0 ? 0 : (shift + valid) / 16 * 16;
      unsigned char* to = stage + t * sub_pitch;
      for (int i = (bulk > shift ? bulk : shift) + 2 * lane; i < shift + sub_bytes; i += 64)
        *reinterpret_cast<unsigned short*>(to + i) =
            i < shift + valid ? *reinterpret_cast<const unsigned short*>(from + t * sub_bytes + i) : 0;
      if (lane == t) mine = bulk;
    }
    if (lane >= subs) return barrier_arrive(full);
    barrier_arrive_expecting(full, mine);
    if (mine > 0) bulk_load(stage + lane * sub_pitch, from + lane * sub_bytes, mine, full);
  }
};

/// The same for kernels that have no policy.
template <int Mode, int Width, int Pitch, int Fold, int Vector, int Unit, int Subs, int SubRows, int Pad, bool Shift>
using Operand =
    TallStream<ts::cuda::TallChunk{element_type, static_cast<ts::cuda::TallMode>(Mode), Width, Pitch, Unit, Shift, Subs,
                                   SubRows, Pad, ts::cuda::column_gap_of(element_type), Fold, Vector}>;
