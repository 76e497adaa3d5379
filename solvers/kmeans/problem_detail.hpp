// State that all steps of one k-means run share. Internal to the room.
#pragma once

#include <memory>
#include <vector>

#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/pass/pass.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/means.hpp"
#include "tallskinny/solvers/kmeans/row_source.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// The points of a run with weights and moments. With several ranks, the source and everything with a number for each
/// row are of this rank's rows. Functions marked `all` are called by all ranks, and their row numbers are those of all
/// rows.
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
  bool weighted_elsewhere = false;                                ///< rows have weights, of which none may be here
  bool wide_rows = false, wide_weights = false;  ///< of so many orders that sums in one unit may lose digits

  [[nodiscard]] index_t rows() const { return source.rows(); }
  [[nodiscard]] index_t cols() const { return source.cols(); }
  [[nodiscard]] bool distributed() const noexcept { return ctx.communicator->size() > 1; }
  [[nodiscard]] index_t all_rows() const { return ts::all_rows(ctx, rows()); }
  [[nodiscard]] index_t first_row() const { return ts::first_row(ctx); }
  [[nodiscard]] bool weighted() const noexcept { return !weights.empty() || weighted_elsewhere; }
  /// all: the sum, in the order of rows.
  [[nodiscard]] double total_weight() const;
  /// all: the last row that weighs something, 0 if there is none.
  [[nodiscard]] index_t last_of_weight() const;
  [[nodiscard]] double weight(index_t i) const noexcept { return weights.empty() ? 1.0 : weights[at(i)]; }
  [[nodiscard]] PerRow<const double> weights_of(index_t first, index_t count) const {
    return (weights_there ? weights_there->view() : PerRow<const double>(weights)).part(first, count);
  }
  /// use(first, block) for the rows here, scaled.
  template <class Use>
  void for_each_block_here(Use&& use) const {
    source.for_each_block([&](index_t first, const Rows& block) {
      if (block.rows() > 0) use(first, block.scaled(part(scale, first, block.rows())));
    });
  }
  /// all: for_each_block_here(), after which an exception of one rank is thrown on all.
  template <class Use>
  void for_each_block(Use&& use) const {
    agreed(ctx, [&] { for_each_block_here(use); });
  }
  void load_here(index_t i, double* row) const;
  void load_rows_here(std::span<const index_t> numbers, HostView<double> out) const;
  /// all.
  void load(index_t i, double* row) const;
  /// all: rows in any order. Many that do not lie in host memory are gathered in one pass. Not during a pass.
  void load_rows(std::span<const index_t> numbers, HostView<double> out) const;
  /// all: rows in ascending order, as T, contiguous where the rows are; many at a time. @param storage in host memory
  /// that serves, if it is enough
  template <class T>
  [[nodiscard]] PerRowArray<T> rows_as(std::span<const index_t> numbers, PerRowArray<T> storage = {}) const;
  /// Local numbers of those of these rows that this rank has, in the order given.
  [[nodiscard]] std::vector<index_t> here_of(std::span<const index_t> numbers) const;
  /// all: the weights of these rows.
  [[nodiscard]] std::vector<double> weights_at(std::span<const index_t> numbers) const;
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
  /// all: computes moments, and places the weights; reads all rows twice.
  void find_moments();

  template <class T>
  [[nodiscard]] static std::span<T> part(std::span<T> all, index_t first, index_t count) {
    return all.empty() ? all : all.subspan(at(first), at(count));
  }
};

/// The bytes of a label of -1, and of a distance beyond all others whose product with a weight of 0 is 0.
inline constexpr unsigned char no_label = 0xff, far_away = 0x7f;

/// One pass of assign() over all rows. This and what follows: calls of all ranks.
AssignStats assign_all(const KMeansProblem& problem, HostView<const double> centers, Scores scores,
                       std::span<std::int32_t> labels, RowBounds* bounds = nullptr);
/// The labels of one pass from none, 0 for rows without a direction. Returns how many rows were scored again.
index_t label_all(const KMeansProblem& problem, HostView<const double> centers, Scores scores,
                  std::vector<std::int32_t>& labels);
/// sum_i w_i ||x_i - c_label||^2
double inertia_of(const KMeansProblem& problem, HostView<const double> centers, std::span<const std::int32_t> labels);
/// inertia_of() from the terms of each chunk of this rank's rows.
double sum_of_chunks(const KMeansProblem& problem, std::vector<double> parts);
/// ||x_i - c_label||^2 of each row here.
std::vector<double> own_distances(const KMeansProblem& problem, HostView<const double> centers,
                                  std::span<const std::int32_t> labels);
/// The unit in which sums of these rows are kept.
FixedPoint unit_of(const KMeansProblem& problem);
std::vector<index_t> sizes_of(const Context& ctx, std::span<const std::int32_t> labels, index_t k);
/// Sums of counts over all ranks.
index_t sum_of_ranks(const Context& ctx, index_t here);
AssignStats sum_of_ranks(const Context& ctx, const AssignStats& here);

[[nodiscard]] constexpr Scores scores_of(KMeansPrecision precision) noexcept {
  return precision == KMeansPrecision::exact ? Scores::int8 : Scores::fast;
}

/// Adjusts means of clusters: on the sphere they are normalised, or stay where they were if they have no direction.
AdjustMean adjust_means(bool spherical);

/// Divides every row by its norm; rows of norm 0 stay. Returns how many those are.
index_t normalise(HostView<double> centers);

/// Checks of input. @throws Error(invalid_argument) with a message, on all ranks. check_ranks: slabs begin at multiples
/// of chunk_rows, and ranks have rows of one kind.
void check_ranks(const Context& ctx, const RowSource& source);
void check_finite(const Context& ctx, const RowSource& source);
/// Checks one block in host memory. @param first its first row among those of this rank
void check_finite(const Context& ctx, index_t first, const Rows& block);
/// Checks weights; returns whether there are any.
bool check_weights(const Context& ctx, index_t rows, std::span<const double> weights);
/// Refuses numbers that float64 cannot square.
void check_coordinates(const ColumnMoments& moments);
/// all: checks that weights, and weighted squares of rows with the moments of the problem, have sums in float64.
void check_weight_range(const KMeansProblem& problem);
/// all: checks that each row of this rank, in host memory, has the number of one of k centres.
void check_labels(const Context& ctx, const RowSource& rows, std::span<const std::int32_t> labels, index_t k);
void check_centers(index_t cols, HostView<const double> centers);
/// A copy of checked centres, on the sphere for cosine.
Matrix<double> usable_centers(index_t cols, HostView<const double> centers, KMeansMetric metric);

/// Checks that rows which are read in blocks differ by what float64 can square.
class RowsDiffer {
 public:
  /// @param first row of all; empty: the first that is seen
  explicit RowsDiffer(std::vector<double> first = {}) : first_(std::move(first)) {}
  /// Compares rows with the first until one differs enough.
  void inspect(const Rows& block);
  /// all: @throws KMeansRangeError when some differ, but none by enough.
  void check(const Context& ctx) const;

 private:
  std::vector<double> first_;
  bool enough_ = false, little_ = false;
};

}  // namespace ts::inline v0::solvers::kmeans_detail
