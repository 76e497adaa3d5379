// Sources of the rows of a clustering: memory, or a reader that delivers them block by block.
#pragma once

#include <functional>

#include "tallskinny/solvers/kmeans/pass/pass.hpp"

namespace ts::inline v0::solvers {

/// n rows with d columns. Every pass sees the blocks in the same order.
class RowSource {
 public:
  using Use = std::function<void(index_t first, const Rows& block)>;

  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;

  [[nodiscard]] virtual index_t rows() const = 0;
  [[nodiscard]] virtual index_t cols() const = 0;
  [[nodiscard]] virtual DType type() const = 0;
  /// Memory in which blocks lie: on a device, passes run there.
  [[nodiscard]] virtual Space space() const { return Space::host; }
  /// True if a pass costs no more than reading memory.
  [[nodiscard]] virtual bool in_memory() const = 0;
  /// One pass: use(first row, block) for blocks that cover all rows in order, each but the last a multiple of
  /// chunk_rows long.
  virtual void for_each_block(const Use& use) const = 0;
  /// Row i as cols() numbers. Not during a pass.
  virtual void load(index_t i, double* row) const = 0;
};

/// Rows that lie in memory: one block.
class RowsInMemory final : public RowSource {
 public:
  explicit RowsInMemory(const Rows& rows) : rows_(rows) {}
  [[nodiscard]] const Rows& view() const noexcept { return rows_; }
  [[nodiscard]] index_t rows() const override { return rows_.rows(); }
  [[nodiscard]] index_t cols() const override { return rows_.cols(); }
  [[nodiscard]] DType type() const override { return rows_.type(); }
  [[nodiscard]] Space space() const override { return rows_.space(); }
  [[nodiscard]] bool in_memory() const override { return true; }
  void for_each_block(const Use& use) const override { use(0, rows_); }
  void load(index_t i, double* row) const override { rows_.load(i, row); }

 private:
  Rows rows_;
};

}  // namespace ts::inline v0::solvers
