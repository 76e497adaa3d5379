// Points that stay in their file: read block by block, one block ahead of the computation.
#pragma once

#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/solvers/kmeans/row_source.hpp"

namespace ts::tskmeans {

/// Whether the points of this file can be read in blocks: dense, in HDF5, stored by rows.
[[nodiscard]] bool can_stream(const io::Description& points, const io::ReadOptions& read);

class FileRows final : public solvers::RowSource {
 public:
  /// `points` as described, `rows` of them from read.row_begin on, in blocks of at most `block_bytes` (but
  /// not less than 4096 rows). Two blocks and what is being read live at a time.
  FileRows(const io::Description& points, const io::ReadOptions& read, std::uint64_t block_bytes);

  [[nodiscard]] index_t rows() const override { return rows_; }
  [[nodiscard]] index_t cols() const override { return cols_; }
  [[nodiscard]] DType type() const override { return type_; }
  [[nodiscard]] bool in_memory() const override { return false; }
  void for_each_block(const Use& use) const override;
  void load(index_t i, double* row) const override;

  [[nodiscard]] index_t block_rows() const noexcept { return block_rows_; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_; }
  [[nodiscard]] index_t passes() const noexcept { return passes_; }
  /// Seconds in which a block was being read.
  [[nodiscard]] double reading_seconds() const noexcept { return reading_; }
  /// Seconds that all passes took.
  [[nodiscard]] double pass_seconds() const noexcept { return passing_; }

 private:
  [[nodiscard]] io::MatrixFile read(index_t first, index_t count) const;

  io::Location where_;
  io::ReadOptions options_;
  index_t rows_, cols_, block_rows_;
  DType type_;
  mutable std::uint64_t bytes_ = 0;
  mutable index_t passes_ = 0;
  mutable double reading_ = 0, passing_ = 0;
};

}  // namespace ts::tskmeans
