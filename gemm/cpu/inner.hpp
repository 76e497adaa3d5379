// Sums over rows: A^T B and A^H B of blocks of rows, in partial sums that are added in a fixed order.
#pragma once

#include <vector>

#include "tallskinny/gemm/cpu/panel.hpp"
#include "tallskinny/gemm/cpu/rows.hpp"

namespace ts::inline v0::cpu {

/// The product A^T B of two tall operands of p and q columns (or, for `gram`, of one with itself) as the
/// kernels compute it: which kernel, how its sums lie in memory and what they mean. All sums are float64:
/// within a block of rows float32 operands are added in float32 registers, blocks in float64.
template <class T>
class InnerProduct {
 public:
  using R = real_t<T>;
  using E = stored_t<T>;

  InnerProduct(const Kernels& kernels, index_t p, index_t q, bool gram);

  [[nodiscard]] bool narrow() const noexcept { return narrow_; }
  /// Numbers in one set of partial sums.
  [[nodiscard]] index_t size() const noexcept { return size_; }
  /// Rows that are summed before they are added to the partial sums.
  [[nodiscard]] index_t block() const noexcept { return block_; }

  /// Sums of the wider operand lie across, rows of them so far apart; swapped(): that operand is A.
  [[nodiscard]] index_t row_length() const noexcept { return ld_; }
  [[nodiscard]] bool swapped() const noexcept { return swapped_; }

  /// Reals that add() wants as `pack`; 0: it takes null.
  [[nodiscard]] index_t pack_size() const noexcept { return pack_size_; }

  /// sums += A^T B of `rows` rows. Panels of a narrow product must be without gaps.
  void add(Panel<R> a, Panel<R> b, index_t rows, double* sums, R* pack, const Ahead& ahead) const noexcept;
  /// The same, of rows as stored without gaps: narrow products only.
  void add_stored(const E* a, const E* b, index_t rows, double* sums) const noexcept;

  /// C = alpha op(A) B + beta C from finished sums; beta = 0 does not read C.
  void finish(Op op, result_t<T> alpha, const double* sums, result_t<T> beta, Strided<result_t<T>> c) const noexcept;

 private:
  [[nodiscard]] double real_entry(const double* sums, index_t i, index_t j) const noexcept;

  const Kernels* kernels_;
  index_t m_, n_;  ///< reals in a row of A and of B
  bool gram_, narrow_ = false, swapped_ = false;
  index_t size_ = 0, ld_ = 0, block_ = 1, pack_size_ = 0;
  Fold fold_;
};

/// Partial sums of all chunks, and their sum: those of a part in a fixed binary tree, then all parts in their
/// order.
class PartialSums {
 public:
  PartialSums(const RowParts& parts, const Chunks& chunks, index_t size);
  /// The sums of one chunk, cleared.
  [[nodiscard]] double* clear(index_t chunk) noexcept;
  /// The same, as they are.
  [[nodiscard]] double* of(index_t chunk) noexcept { return memory_.data() + chunk * size_; }
  /// Adds up the chunks of every part here; part(0) is the first of them.
  void add_chunks(int threads) noexcept;
  [[nodiscard]] const double* part(index_t number) const noexcept {
    return memory_.data() + number * per_part_ * size_;
  }
  /// Adds up everything. Null when parts of other slabs are still to come.
  [[nodiscard]] const double* total(const Context& ctx, int threads);

 private:
  RowParts parts_;
  index_t per_part_, size_;
  Matrix<double> memory_;
};

/// Chunks for `sums` numbers summed over rows of `width` numbers: enough to keep threads evenly busy, few
/// enough that the sums stay in cache and reading the rows outweighs adding up the sums.
[[nodiscard]] Chunks chunks_for(const RowParts& parts, index_t block, index_t width, index_t sums) noexcept;

TS_FOR_EACH_TYPE(TS_EXTERN_CLASS, InnerProduct)

}  // namespace ts::inline v0::cpu
