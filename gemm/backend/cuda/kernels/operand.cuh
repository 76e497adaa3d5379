// A tall operand of a row-streaming kernel: how a chunk of its rows lies in a stage of shared memory, and how
// it gets there.
//
// A chunk is cut into four sub-blocks of SubRows rows. In the K-permutation of the tensor instructions lane
// group t reads rows of sub-block t alone; sub-blocks start 32 bytes apart modulo 128, so the four groups
// never meet in a bank, whatever the width. Narrow operands fold: Fold neighbouring rows count as one row of
// Fold times the width, and the diagonal blocks of the wider product are added in the end.
#pragma once

#include "fragment.cuh"
#include "pipeline.cuh"

enum LoadMode {
  load_flat = 0,     ///< row-major, ld = pitch: each sub-block is one run of bytes
  load_lines = 1,    ///< row-major, rows 16-byte aligned and whole: one bulk copy a row
  load_elements = 2, ///< anything: scalars one by one
  load_columns_bulk = 3  ///< column-major, columns 16-byte aligned: one bulk copy a column
};

/// What a kernel is told of an operand at run time; strides in elements.
struct OperandArgument {
  const void* data;
  int64 row_stride, column_stride;
};

/// Width: columns; Pitch: scalars between rows in shared memory; Shift: whether the base may be off a 16-byte
/// (row-major: 128-byte) boundary; Natural: lane group t reads rows 4t.. of each 16 instead of sub-block t.
template <int Mode, int Width, int Pitch, int Fold, int Vector, int SubRows, bool Shift, bool Natural>
struct Operand {
  static constexpr int scalar_size = sizeof(Scalar);
  static constexpr bool by_columns = Mode == load_columns_bulk;
  static constexpr int vector = by_columns ? parts : Vector;
  static constexpr int scalars = parts * Width;                     ///< of a row
  static constexpr int folded = (Fold - 1) * Pitch + scalars;       ///< of a folded row
  static constexpr int row_bytes = Fold * Pitch * scalar_size;      ///< of a folded row
  static constexpr int chunk_rows = 4 * SubRows;                    ///< folded rows
  static constexpr int sub_bytes = SubRows * row_bytes;
  static constexpr int sub_pitch = Natural ? sub_bytes : round_up(sub_bytes + (Shift ? 144 : 0), 128) + 32;
  /// Columns of a column-major chunk start 16 (float64), 64 (float32) or 32 bytes apart modulo 128.
  static constexpr int column_bytes = chunk_rows * parts * scalar_size;
  static constexpr int column_pitch = round_up(column_bytes, 128) + (TS_TYPE <= 1 ? 16 : TS_TYPE <= 3 ? 64 : 32);
  static constexpr int stage_bytes =
      round_up(by_columns ? Width * column_pitch : 4 * sub_pitch + (Natural && Shift ? 144 : 0), 128);
#if __CUDA_ARCH__ >= 900
  static constexpr bool async = Mode != load_elements;
  __host__ __device__ static constexpr int arrivals(int threads) { return Mode == load_elements ? threads : Mode == load_flat ? 4 : 32; }
#else
  static constexpr bool async = false;
  __host__ __device__ static constexpr int arrivals(int threads) { return threads; }
#endif

  const unsigned char* base;
  int64 row_stride, column_stride;  ///< elements
  int64 rows;
  int shift;  ///< bytes between the boundary before the base and the base

  __device__ __forceinline__ Operand(const OperandArgument& argument, int64 row_count)
      : base(static_cast<const unsigned char*>(argument.data)),
        row_stride(argument.row_stride),
        column_stride(argument.column_stride),
        rows(row_count),
        shift(Shift ? static_cast<int>(reinterpret_cast<uint64>(argument.data) & 127) : 0) {}

  /// The producers' part: `thread` of `threads` fills a stage with chunk number `chunk`.
  __device__ __forceinline__ void fill(int64 chunk, unsigned char* stage, uint64* full, int thread, int threads) const {
#if __CUDA_ARCH__ >= 900
    if constexpr (Mode == load_flat) {
      if (thread < 32) fill_flat(chunk, stage, full, thread);
      return;
    } else if constexpr (Mode == load_lines) {
      if (thread < 32) fill_lines(chunk, stage, full, thread);
      return;
    } else if constexpr (Mode == load_columns_bulk) {
      if (thread < 32) fill_columns(chunk, stage, full, thread);
      return;
    }
#endif
    fill_elements(chunk, stage, full, thread, threads);
  }

  /// Byte offset in a stage of scalar `column` of lane group t's rows of step `step` (16 rows a step).
  __device__ __forceinline__ int offset(int t, int column) const {
    if constexpr (by_columns) return (column / parts) * column_pitch + t * 4 * parts * scalar_size;
    return shift + column * scalar_size + (Natural ? 4 * t * row_bytes : t * sub_pitch);
  }
  static constexpr int step_bytes =
      by_columns ? 16 * parts * scalar_size : (Natural ? 16 : 4) * row_bytes;

  /// `vector` columns of this lane's four rows of a step.
  static __device__ __forceinline__ void load(const unsigned char* from, Fragment (&x)[vector]) {
    if constexpr (by_columns)
      load_rows(from, x);
    else
      load_columns<vector, row_bytes>(from, x);
  }

 private:
  /// [from, to) of a stage becomes zero; the threads of a warp.
  static __device__ __forceinline__ void zero(unsigned char* stage, int from, int to, int lane) {
    for (int i = from + 2 * lane; i < to; i += 64) *reinterpret_cast<unsigned short*>(stage + i) = 0;
  }

#if __CUDA_ARCH__ >= 900
  __device__ __forceinline__ void fill_flat(int64 chunk, unsigned char* stage, uint64* full, int lane) const {
    const int64 total = rows > 0 ? ((rows - 1) * Pitch + scalars) * scalar_size : 0;
    const int64 first = chunk * 4 * sub_bytes;
    const bool whole = first + 4 * sub_bytes + (Shift ? 16 : 0) <= total;
    if (whole) {
      if (lane < 4) {
        const uint32 bytes = Shift ? round_up(shift + sub_bytes, 16) : sub_bytes;
        barrier_arrive_expecting(full, bytes);
        bulk_load(stage + lane * sub_pitch, base - shift + first + lane * sub_bytes, bytes, full);
      }
      return;
    }
    // The last chunk: what the copy engine cannot bring, the warp does; the rest is zero.
    int mine = 0;
    for (int t = 0; t < 4; ++t) {
      const int64 start = first + t * sub_bytes, left = total - start;
      const int valid = left <= 0 ? 0 : left < sub_bytes ? static_cast<int>(left) : sub_bytes;
      const int bulk = valid == 0 ? 0 : (shift + valid) / 16 * 16;
      unsigned char* to = stage + t * sub_pitch;
      for (int i = (bulk > shift ? bulk : shift) + 2 * lane; i < shift + sub_bytes; i += 64)
        *reinterpret_cast<unsigned short*>(to + i) =
            i < shift + valid ? *reinterpret_cast<const unsigned short*>(base - shift + start + i) : 0;
      if (lane == t) mine = bulk;
    }
    __syncwarp();
    if (lane < 4) {
      barrier_arrive_expecting(full, mine);
      if (mine > 0) bulk_load(stage + lane * sub_pitch, base - shift + first + lane * sub_bytes, mine, full);
    }
  }

  static __device__ __forceinline__ int place(int row) {
    constexpr int sub = SubRows * Fold;
    return (row / sub) * sub_pitch + (row % sub) * (Pitch * scalar_size);
  }

  __device__ __forceinline__ void fill_lines(int64 chunk, unsigned char* stage, uint64* full, int lane) const {
    constexpr int count = chunk_rows * Fold, bytes = scalars * scalar_size;
    const int64 first = chunk * count, left = rows - first;
    const int valid = left < count ? static_cast<int>(left) : count;
    for (int row = valid; row < count; ++row) zero(stage, place(row), place(row) + bytes, lane);
    __syncwarp();
    barrier_arrive_expecting(full, lane < valid ? (valid - lane + 31) / 32 * bytes : 0);
    const unsigned char* from = base + (first + lane) * row_stride * static_cast<int>(sizeof(Element));
    for (int row = lane; row < valid; row += 32) {
      bulk_load(stage + place(row), from, bytes, full);
      from += 32 * row_stride * static_cast<int>(sizeof(Element));
    }
  }

  __device__ __forceinline__ void fill_columns(int64 chunk, unsigned char* stage, uint64* full, int lane) const {
    constexpr int element = sizeof(Element);
    const int64 first = chunk * chunk_rows, left = rows - first;
    const int valid = left < chunk_rows ? static_cast<int>(left) : chunk_rows, bulk = valid * element / 16 * 16;
    if (valid < chunk_rows) {
      for (int j = 0; j < Width; ++j) {
        const unsigned char* from = base + (first + j * column_stride) * element;
        for (int i = bulk + 2 * lane; i < column_bytes; i += 64)
          *reinterpret_cast<unsigned short*>(stage + j * column_pitch + i) =
              i < valid * element ? *reinterpret_cast<const unsigned short*>(from + i) : 0;
      }
      __syncwarp();
    }
    barrier_arrive_expecting(full, lane < Width ? (Width - lane + 31) / 32 * bulk : 0);
    if (bulk > 0)
      for (int j = lane; j < Width; j += 32)
        bulk_load(stage + j * column_pitch, base + (first + j * column_stride) * element, bulk, full);
  }
#else
  static __device__ __forceinline__ int place(int row) {
    constexpr int sub = SubRows * Fold;
    return (row / sub) * sub_pitch + (row % sub) * (Pitch * scalar_size);
  }
#endif

  __device__ __forceinline__ void fill_elements(int64 chunk, unsigned char* stage, uint64* full, int thread,
                                                int threads) const {
    constexpr int count = chunk_rows * (by_columns ? 1 : Fold);
    const int64 first = chunk * count;
    const bool along_rows = column_stride == 1;  // neighbours in memory go to neighbouring threads
#pragma unroll 4
    for (int i = thread; i < count * scalars; i += threads) {
      const int row = along_rows ? i / scalars : i / parts % count;
      const int scalar = along_rows ? i % scalars : i / (parts * count) * parts + i % parts;
      const bool valid = first + row < rows;
      const int64 element = (first + row) * row_stride + scalar / parts * column_stride;
      const Scalar* from = reinterpret_cast<const Scalar*>(base) + (valid ? element * parts + scalar % parts : 0);
      unsigned char* to =
          by_columns ? stage + scalar / parts * column_pitch + (row * parts + scalar % parts) * scalar_size
                     : stage + shift + place(row) + scalar * scalar_size;
#if TS_TYPE <= 3
      copy_async<scalar_size>(to, from, valid);
#else
      reinterpret_cast<Scalar*>(to)->bits = valid ? from->bits : 0;
#endif
    }
#if TS_TYPE <= 3
    barrier_arrive_after_copies(full);
#else
    barrier_arrive(full);
#endif
  }
};
