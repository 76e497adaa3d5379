#include <algorithm>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/directions_detail.hpp"
#include "tallskinny/solvers/kmeans/gathered_detail.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/unit_rows.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding/seeding_detail.hpp"

namespace ts::inline v0::solvers {

using namespace kmeans_detail;

namespace {

std::vector<double> mean_of(HostView<const double> centers) {
  std::vector<double> mean(at(centers.cols()));
  for (index_t m = 0; m < centers.rows(); ++m)
    for (index_t j = 0; j < centers.cols(); ++j) mean[at(j)] += centers(m, j) / static_cast<double>(centers.rows());
  return mean;
}

/// Labels and inertia of rows that pass by once. Scores are taken about the mean of the centres, and of each block by
/// its own range, which changes the rows that they leave undecided, but no label.
class OnePass {
 public:
  /// @param problem without scales and directionless rows, which this finds. @param given centres, to which distances
  /// are taken. @param centers usable ones
  OnePass(KMeansProblem& problem, HostView<const double> given, HostView<const double> centers, KMeansMetric metric,
          Scores scores)
      : p_(problem),
        given_(given),
        centers_(centers),
        cosine_(metric == KMeansMetric::cosine),
        scores_(scores),
        mean_(mean_of(centers)),
        labels_(problem.filled<std::int32_t>(no_label)) {
    p_.moments.shift = p_.moments.max_abs = std::vector<double>(mean_.size());
    p_.place_weights();
  }

  void take(index_t first, const Rows& block) {
    if (cosine_ && !block.on_device()) check_finite(p_.ctx, first, block);
    PerRow<const double> weights = p_.weights_of(first, block.rows());
    const auto labels = labels_.view().part(first, block.rows());
    if (!cosine_) return label(first, block, labels, weights);
    scale_.resize(at(block.rows()));
    const Rows unit = directions(block);
    std::vector<index_t> zero;
    for (index_t i = 0; i < block.rows(); ++i)
      if (scale_[at(i)] == 0) zero.push_back(i);
    if (zero.empty()) return label(first, unit, labels, weights);
    zero_rows_ += std::ssize(zero);
    std::vector<double> all(at(block.rows()), 1.0);
    if (!p_.weights.empty()) all.assign(p_.weights.begin() + first, p_.weights.begin() + first + block.rows());
    for (const index_t i : zero) all[at(i)] = 0;
    const auto some = p_.beside_rows(std::move(all));
    label(first, unit, labels, some.view());
    const auto listed = p_.beside_rows(std::move(zero));
    reset_labels(p_.ctx, labels, listed.view());
  }

  /// All ranks together.
  [[nodiscard]] KMeansPrediction finish() && {
    differ_.check(p_.ctx);
    check_weight_range(p_);
    KMeansPrediction result;
    result.rescored = sum_of_ranks(p_.ctx, rescored_);
    result.zero_rows = sum_of_ranks(p_.ctx, zero_rows_);
    result.inertia = sum_of_chunks(p_, std::move(inertias_));
    result.labels = std::move(labels_).to_host();
    result.sizes = sizes_of(p_.ctx, result.labels, centers_.rows());
    return result;
  }

 private:
  /// The rows divided by their norms, which go into scale_.
  Rows directions(const Rows& block) {
    if (!block.on_device()) {
      reciprocal_norms(p_.ctx, block, scale_);
      return block.scaled(scale_);
    }
    if (unit_.view().size < block.rows() * block.cols())
      unit_ = PerRowArray<double>(p_.ctx, Space::device, block.rows() * block.cols(), 0);
    return unit_rows(p_.ctx, block, unit_.view(), scale_);
  }

  void label(index_t first, const Rows& block, PerRow<std::int32_t> labels, PerRow<const double> weights) {
    ColumnMoments moments = moments_about(p_.ctx, block, mean_, p_.first_row() + first);
    check_coordinates(moments);
    differ_.inspect(block);
    rescored_ += assign(p_.ctx, {block, moments, centers_, scores_, labels}).rescored;
    const std::vector<double> more = chunk_inertias(p_.ctx, block, given_, labels, weights);
    inertias_.insert(inertias_.end(), more.begin(), more.end());
    ColumnMoments& all = p_.moments;
    for (std::size_t j = 0; j < mean_.size(); ++j) all.max_abs[j] = std::max(all.max_abs[j], moments.max_abs[j]);
    all.shift = std::move(moments.shift);
  }

  KMeansProblem& p_;
  HostView<const double> given_, centers_;
  bool cosine_;
  Scores scores_;
  std::vector<double> mean_;
  PerRowArray<std::int32_t> labels_;
  std::vector<double> scale_, inertias_;
  PerRowArray<double> unit_;  ///< rows of a block on a device
  RowsDiffer differ_;
  index_t rescored_ = 0, zero_rows_ = 0;
};

}  // namespace

KMeansPrediction predict(const Context& ctx, const RowSource& rows, HostView<const double> centers, KMeansMetric metric,
                         std::span<const double> weights, KMeansPrecision precision) {
  const UseHostMemory use(ctx.host_memory);
  expects(centers.rows() >= 1, "there are no centres to predict with");
  const Matrix<double> usable = usable_centers(rows.cols(), centers, metric);
  const Directions as_given(ctx, rows, weights, KMeansMetric::euclidean);  // OnePass finds directions block by block
  KMeansProblem problem = as_given.problem(centers.rows());
  OnePass pass(problem, centers, usable.cview(), metric, scores_of(precision));
  problem.for_each_block([&pass](index_t first, const Rows& block) { pass.take(first, block); });
  return std::move(pass).finish();
}

index_t verify(const Context& ctx, const RowSource& rows, HostView<const double> centers,
               std::span<const std::int32_t> labels, KMeansMetric metric, index_t sample) {
  const UseHostMemory use(ctx.host_memory);
  const Matrix<double> usable = usable_centers(rows.cols(), centers, metric);
  const Directions normal(ctx, rows, {}, metric);
  const KMeansProblem problem = normal.problem(centers.rows());
  if (const index_t n = problem.all_rows(); sample > 0 && sample < n) {
    constexpr std::uint64_t checked = 97;  // a stream of its own
    std::vector<index_t> numbers = some_rows(n, sample, Random(0, checked));
    std::sort(numbers.begin(), numbers.end());
    std::vector<std::int32_t> theirs;
    for (const index_t i : problem.here_of(numbers)) theirs.push_back(labels[at(i)]);
    theirs = gather_from_owners(problem.ctx, numbers, std::move(theirs));
    return count_misassigned(ctx, Gathered(problem, numbers).rows(), usable.cview(),
                             PerRow<const std::int32_t>(theirs));
  }
  const auto there = problem.beside_rows(std::vector<std::int32_t>(labels.begin(), labels.end()));
  index_t wrong = 0;
  problem.for_each_block([&](index_t first, const Rows& block) {
    wrong += count_misassigned(ctx, block, usable.cview(), there.view().part(first, block.rows()));
  });
  return sum_of_ranks(ctx, wrong);
}

Matrix<double> transform(const Context& ctx, const Rows& rows, HostView<const double> centers, KMeansMetric metric) {
  const UseHostMemory use(ctx.host_memory);
  const Matrix<double> usable = usable_centers(rows.cols(), centers, metric);
  const RowsInMemory source(rows);
  const Directions normal(ctx, source, {}, metric);
  normal.problem(0).find_moments();  // refuses what cannot be squared
  Matrix<double> out(rows.rows(), centers.rows());
  distances(ctx, rows.scaled(normal.scale()), usable.cview(), out.view());
  return out;
}

KMeansPrediction predict(const Context& ctx, const Rows& rows, HostView<const double> centers, KMeansMetric metric,
                         std::span<const double> weights, KMeansPrecision precision) {
  return predict(ctx, RowsInMemory(rows), centers, metric, weights, precision);
}

index_t verify(const Context& ctx, const Rows& rows, HostView<const double> centers,
               std::span<const std::int32_t> labels, KMeansMetric metric, index_t sample) {
  return verify(ctx, RowsInMemory(rows), centers, labels, metric, sample);
}

}  // namespace ts::inline v0::solvers
