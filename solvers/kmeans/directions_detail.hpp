// Rows by their direction alone, for the cosine metric. Internal to the room.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// The rows of a source on a device divided by their norms, in float64: all of them if that keeps its rows
/// there, otherwise block by block in each pass.
class UnitRows final : public RowSource {
 public:
  /// @throws Error(out_of_memory).
  UnitRows(const Context& ctx, const RowSource& rows);

  [[nodiscard]] index_t rows() const override { return rows_.rows(); }
  [[nodiscard]] index_t cols() const override { return rows_.cols(); }
  [[nodiscard]] DType type() const override { return DType::float64; }
  [[nodiscard]] Space space() const override { return Space::device; }
  [[nodiscard]] bool in_memory() const override { return rows_.in_memory(); }
  void for_each_block(const Use& use) const override;
  void load(index_t i, double* row) const override;
  /// 1 / ||x_i||, or 0 for rows without a direction.
  [[nodiscard]] const std::vector<double>& scale() const noexcept { return scale_; }

 private:
  void each_block_anew(const Use& use) const;

  const Context& ctx_;
  const RowSource& rows_;
  mutable std::vector<double> scale_;
  mutable PerRowArray<double> unit_;  ///< numbers of all rows, or of a block
  std::optional<Rows> all_;           ///< these rows, if they stay
};

/// Rows and weights as passes take them: for cosine divided by their norms.
class Directions {
 public:
  /// all. @throws Error(invalid_argument) for ranks and weights that do not fit, and, for cosine, NaN or Inf.
  Directions(const Context& ctx, const RowSource& source, std::span<const double> weights, KMeansMetric metric);

  /// A problem of k clusters, without moments. This object, and what it was made of, must outlive it.
  [[nodiscard]] KMeansProblem problem(index_t k) const;
  /// Reciprocal norms of rows in host memory, 0 for those without a direction; nothing unless the metric is cosine.
  [[nodiscard]] const std::vector<double>& scale() const noexcept { return scale_; }
  /// Rows without a direction, on all ranks.
  [[nodiscard]] index_t zero_rows() const noexcept { return all_zero_rows_; }

 private:
  const Context& ctx_;
  const RowSource& source_;
  std::span<const double> weights_;
  bool weighted_;  ///< any rank has weights
  std::vector<double> scale_;
  std::unique_ptr<const UnitRows> unit_;  ///< of rows on a device, instead
  std::vector<index_t> zero_rows_;        ///< here
  index_t all_zero_rows_ = 0;
  std::vector<double> weights_or_zero_;  ///< the weights, and 0 for rows without a direction, if any rank has some
};

}  // namespace ts::inline v0::solvers::kmeans_detail
