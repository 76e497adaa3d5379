// Rows by their direction alone, for the cosine metric. Internal to the room.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/per_row.hpp"
#include "tallskinny/solvers/kmeans/row_source.hpp"

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

/// How the rows are to be divided by their norms; nothing at all unless the metric is cosine.
struct Directions {
  std::vector<double> scale;             ///< reciprocal norms of rows in host memory, 0 for those without a direction
  std::unique_ptr<const UnitRows> unit;  ///< of rows on a device, instead
  std::vector<index_t> zero_rows;        ///< here
  index_t all_zero_rows = 0;             ///< how many there are on all ranks
  std::vector<double> weights;           ///< the given ones, and 0 for rows without a direction, if any rank has some

  Directions(const Context& ctx, const RowSource& source, std::span<const double> given, KMeansMetric metric);
  [[nodiscard]] std::span<const double> weights_or(std::span<const double> given) const {
    return all_zero_rows == 0 ? given : std::span<const double>(weights);
  }
  [[nodiscard]] const RowSource& rows_or(const RowSource& given) const { return unit ? *unit : given; }
};

}  // namespace ts::inline v0::solvers::kmeans_detail
