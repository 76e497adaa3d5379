// What all steps of one k-means run share. Internal to the room.
#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/assign/sums/means.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/row_source.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers::kmeans_detail {

struct KMeansProblem {
  const Context& ctx;
  const RowSource& source;
  std::span<const double> scale;  ///< of each row in host memory, for cosine
  std::span<const double> weights;
  index_t k = 0;
  /// Rows without a direction, for cosine: they weigh nothing and are put into cluster 0.
  std::span<const index_t> directionless = {};
  ColumnMoments moments = {};
  std::shared_ptr<const PerRowArray<double>> weights_there = {};  ///< where the rows are, if that is a device

  [[nodiscard]] index_t rows() const { return source.rows(); }
  [[nodiscard]] index_t cols() const { return source.cols(); }
  [[nodiscard]] double total_weight() const {
    return weights.empty() ? static_cast<double>(rows()) : std::accumulate(weights.begin(), weights.end(), 0.0);
  }
  [[nodiscard]] double weight(index_t i) const noexcept { return weights.empty() ? 1.0 : weights[at(i)]; }
  [[nodiscard]] PerRow<const double> weights_of(index_t first, index_t count) const {
    return (weights_there ? weights_there->view() : PerRow<const double>(weights)).part(first, count);
  }
  /// use(first, block) for all rows, scaled.
  template <class Use>
  void for_each_block(Use&& use) const {
    source.for_each_block(
        [&](index_t first, const Rows& block) { use(first, block.scaled(part(scale, first, block.rows()))); });
  }
  void load(index_t i, double* row) const;
  /// Rows in any order. Many that do not lie in host memory are gathered in one pass. Not during a pass.
  void load_rows(std::span<const index_t> numbers, HostView<double> out) const;
  /// Rows in ascending order, as T, contiguous where the rows are; many at a time.
  template <class T>
  [[nodiscard]] PerRowArray<T> rows_as(std::span<const index_t> numbers) const;
  /// `values`, where the rows are.
  template <class T>
  [[nodiscard]] PerRowArray<T> beside_rows(std::vector<T> values) const {
    return {ctx, source.space(), std::move(values)};
  }
  /// A number for each row, where the rows are, every byte of which is `byte`.
  template <class T>
  [[nodiscard]] PerRowArray<T> filled(unsigned char byte) const {
    return {ctx, source.space(), rows(), byte};
  }
  /// Puts the weights where the rows are.
  void place_weights();
  /// The same, and reads all rows twice.
  void find_moments();

  template <class T>
  [[nodiscard]] static std::span<T> part(std::span<T> all, index_t first, index_t count) {
    return all.empty() ? all : all.subspan(at(first), at(count));
  }
};

/// The bytes of a label of -1, and of a distance beyond all others whose product with a weight of 0 is 0.
inline constexpr unsigned char no_label = 0xff, far_away = 0x7f;

/// One pass of assign() over all rows.
AssignStats assign_all(const KMeansProblem& problem, HostView<const double> centers, Scores scores,
                       std::span<std::int32_t> labels, const FixedPoint* unit = nullptr, ClusterSums* sums = nullptr,
                       RowBounds* bounds = nullptr);
/// The labels of one pass from none, 0 for rows without a direction. Returns how many rows were scored again.
index_t label_all(const KMeansProblem& problem, HostView<const double> centers, Scores scores,
                  std::vector<std::int32_t>& labels);
/// sum_i w_i ||x_i - c_label||^2
double inertia_of(const KMeansProblem& problem, HostView<const double> centers, std::span<const std::int32_t> labels);
/// ||x_i - c_label||^2 of each row.
std::vector<double> own_distances(const KMeansProblem& problem, HostView<const double> centers,
                                  std::span<const std::int32_t> labels);
/// The unit in which sums of these rows are kept.
FixedPoint unit_of(const KMeansProblem& problem);
std::vector<index_t> sizes_of(std::span<const std::int32_t> labels, index_t k);

[[nodiscard]] constexpr Scores scores_of(KMeansPrecision precision) noexcept {
  return precision == KMeansPrecision::exact ? Scores::int16 : Scores::fast;
}

/// What becomes of means: on the sphere they keep their direction, or stay where they were if they have none.
AdjustMean adjust_means(bool spherical);

/// Divides every row by its norm; rows of norm 0 stay. Returns how many those are.
index_t normalise(HostView<double> centers);

/// @throws Error(invalid_argument) in a sentence, all of them.
void check_finite(const RowSource& source);
void check_weights(index_t rows, std::span<const double> weights);
void check_centers(index_t cols, HostView<const double> centers);
/// A copy of checked centres, on the sphere for cosine.
Matrix<double> usable_centers(index_t cols, HostView<const double> centers, KMeansMetric metric);

}  // namespace ts::solvers::kmeans_detail
