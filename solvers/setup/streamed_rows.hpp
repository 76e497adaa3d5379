// Rows that pass by in blocks: from memory or from whatever reads them, to the processor or to a GPU.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/solvers/kmeans/row_source.hpp"

namespace ts::inline v0::solvers {

/// Where dense rows come from: memory, or whatever `fill` reads.
struct RowOrigin {
  index_t rows = 0, cols = 0;
  DType type = DType::float64;
  index_t chunk_rows = 0;  ///< rows that are read together; 0: any
  /// Rows first .. first + count - 1, contiguous; looks for NaN and Inf if the last argument says so.
  std::function<void(index_t first, index_t count, void* out, bool check)> fill;

  /// Rows in host memory, dense and by rows, which must outlive this.
  static RowOrigin memory(const Rows& points);
  /// Dense rows in host memory, of any type and layout, as float64. They must outlive this.
  static RowOrigin in_float64(const Context& ctx, const Rows& points);
};

/// n contiguous rows of d numbers, on the device of `where` if it has one.
[[nodiscard]] Rows dense_rows(DType type, const void* data, index_t n, index_t d, const cuda::Stream& where = {});

/// Seconds that passes took so far; sending is 0 unless there is a device.
struct PassTimes {
  index_t passes = 0;
  std::uint64_t bytes = 0;
  double reading = 0, sending = 0, using_them = 0, all = 0;
  double slowest_of_last = 0;  ///< of the three, in the last pass
  /// How much of the time the slowest of the three was at work.
  [[nodiscard]] double share_of_slowest() const;
};

/// Blocks are read by a thread, one or two ahead; those for a device go through page-locked memory, and are
/// copied while the one before is used.
class StreamedRows final : public RowSource {
 public:
  /// The host buffers there are.
  static constexpr index_t host_buffers = 2, pinned_buffers = 3, device_buffers = 2;

  /// Blocks of at most `block_bytes`, but not less than 4096 rows; to the device of `stream` if it has one.
  StreamedRows(RowOrigin origin, std::uint64_t block_bytes, cuda::Stream stream = {});

  [[nodiscard]] index_t rows() const override { return origin_.rows; }
  [[nodiscard]] index_t cols() const override { return origin_.cols; }
  [[nodiscard]] DType type() const override { return origin_.type; }
  [[nodiscard]] Space space() const override { return stream_ ? Space::device : Space::host; }
  [[nodiscard]] bool in_memory() const override { return false; }
  void for_each_block(const Use& use) const override;
  void load(index_t i, double* row) const override;

  [[nodiscard]] index_t block_rows() const noexcept { return block_rows_; }
  [[nodiscard]] const PassTimes& times() const noexcept { return times_; }

 private:
  struct Buffers;
  void get_buffers() const;

  RowOrigin origin_;
  index_t block_rows_;
  std::uint64_t row_bytes_;
  cuda::Stream stream_;
  mutable std::unique_ptr<Buffers> buffers_;
  mutable PassTimes times_;

 public:
  ~StreamedRows() override;
};

/// All rows of `origin` in the memory of a stream's device, sent in blocks of about `block_bytes`.
class DeviceRows {
 public:
  /// @throws Error(out_of_memory).
  DeviceRows(const cuda::Stream& stream, const RowOrigin& origin, std::uint64_t block_bytes);
  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }

 private:
  cuda::Memory memory_;
  Rows rows_;
};

}  // namespace ts::inline v0::solvers
