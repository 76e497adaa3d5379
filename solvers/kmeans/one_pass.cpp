#include "tallskinny/solvers/kmeans/one_pass_detail.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/kmeans/axes.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t least_centers = 512, rows_of_trial = 64;
constexpr index_t most_rows_of_part = 1 << 18;  ///< whose heads are there at a time
constexpr double most_of_without = 0.8;         ///< a pass must cost less than this share of one without

/// As column moments of the centres would have it.
std::vector<double> reach_about(HostView<const double> centers, std::span<const double> shift) {
  std::vector<double> reach(shift.size());
  for (index_t m = 0; m < centers.rows(); ++m)
    for (index_t j = 0; j < centers.cols(); ++j)
      reach[at(j)] = std::max(reach[at(j)], std::abs(centers(m, j) - shift[at(j)]));
  return reach;
}

double largest(const std::vector<double>& reach) { return *std::max_element(reach.begin(), reach.end()); }

}  // namespace

OnePassLabels::OnePassLabels(const Context& ctx, HostView<const double> centers, Scores scores, index_t rows)
    : ctx_(alone(ctx)),
      centers_(centers),
      scores_(scores),
      rows_(rows),
      tries_(scores == Scores::int8 && centers.rows() >= least_centers &&
             prunes_by_heads(rows, centers.cols(), centers.rows()) && Pruning::possible(ctx) &&
             once() < 0.5 * unpruned_cost(ctx_, centers.cols(), centers.rows())) {
  ctx_.stream = {};
}

double OnePassLabels::once() const noexcept {
  // Axes by two steps of subspace iteration, and heads of centres, in float32.
  const auto d = static_cast<double>(centers_.cols()), k = static_cast<double>(centers_.rows());
  return 2 * d * 272 * (5 * 2048 + k) / static_cast<double>(std::max<index_t>(1, rows_));
}

double OnePassLabels::guessing(index_t columns) const noexcept {
  const double groups = static_cast<double>(centers_.rows()) / assign_cpu::head_group;
  return (groups + Pruning::guessed_groups * assign_cpu::head_group) * (static_cast<double>(columns) / 2 + 60);
}

AssignStats OnePassLabels::label(const Rows& block, const ColumnMoments& moments, PerRow<std::int32_t> labels) {
  if (!tries_ || block.on_device() || block.sparse() || !ready(block, moments))
    return assign(ctx_, {block, moments, centers_, scores_, labels});
  AssignStats all;
  for (index_t i = 0; i < block.rows(); i += part_rows_) {
    const index_t count = std::min(part_rows_, block.rows() - i);
    const Rows part = block.block(i, count);
    if (i > 0) pruning_->forget_rows(), pruning_->put(ctx_, 0, part);
    pruning_->guess(ctx_, labels.part(i, count).span());
    AssignArguments of{part, moments_, centers_, scores_, labels.part(i, count)};
    of.pruning = {pruning_.get(), 0};
    all += assign(ctx_, of);
  }
  all.changed = block.rows();
  seen_ += all, pruned_rows_ += block.rows();
  judge();
  return all;
}

bool OnePassLabels::ready(const Rows& block, const ColumnMoments& moments) {
  if (block.rows() < 1 || centers_.cols() != block.cols()) return false;
  if (!pruning_) part_rows_ = std::min(most_rows_of_part, (block.rows() + chunk_rows - 1) / chunk_rows * chunk_rows);
  const index_t first_rows = std::min(part_rows_, block.rows());
  if (moments_.shift != moments.shift) {
    pruning_.reset();
    moments_ = moments, moments_.reach = reach_about(centers_, moments.shift);
  }
  const double before = largest(moments_.reach);
  for (std::size_t j = 0; j < moments.reach.size(); ++j)
    moments_.reach[j] = std::max(moments_.reach[j], moments.reach[j]);
  if (pruning_ && inverse_power_of_two(before) == inverse_power_of_two(largest(moments_.reach))) {
    pruning_->forget_rows(), pruning_->put(ctx_, 0, block.block(0, first_rows));
    return true;
  }
  pruning_.reset();
  if (axes_.cols() == 0) {
    const Rows centers(centers_);
    const RowsInMemory source(centers);
    const KMeansProblem of_centers{ctx_, source, {}, {}, centers_.rows(), {}, moments_};
    const Matrix<double> axes = leading_axes(of_centers, most_width(centers_.cols()));
    const index_t columns = axes.cols() < Pruning::columns_step ? 0 : trial(block, axes.cview());
    tries_ = columns > 0;
    if (!tries_) return false;
    axes_ = leading_columns(axes.cview(), columns);
  }
  pruning_ =
      std::make_unique<Pruning>(ctx_, part_rows_, axes_.cview(), centers_.rows(), moments_, Pruning::Passes::once);
  pruning_->put(ctx_, 0, block.block(0, first_rows));
  pruning_->begin_pass(ctx_, centers_);
  tries_ = pruning_->serves();
  return tries_;
}

index_t OnePassLabels::trial(const Rows& block, HostView<const double> axes) const {
  const index_t n = block.rows(), count = std::min(n, rows_of_trial), d = block.cols();
  const RowsInMemory source(block);
  const KMeansProblem problem{ctx_, source, {}, {}, centers_.rows(), {}, moments_};
  Matrix<double> rows(count, d);
  for (index_t i = 0; i < count; ++i) problem.load_here(i * n / count, &rows(i, 0));
  std::vector<std::int32_t> found(at(count), -1), labels(at(n));
  assign(ctx_, {Rows(rows.cview()), moments_, centers_, Scores::float32, PerRow<std::int32_t>(std::span(found))});
  for (index_t i = 0; i < count; ++i) labels[at(i * n / count)] = found[at(i)];
  const PruningPlan plan = plan_pruning(problem, axes, centers_, labels, 1);
  return plan.columns > 0 && plan.cost + guessing(plan.columns) + once() < most_of_without * plan.without ? plan.columns
                                                                                                          : 0;
}

void OnePassLabels::judge() {
  const double pairs = static_cast<double>(pruned_rows_) * static_cast<double>(centers_.rows());
  const index_t d = centers_.cols(), k = centers_.rows(), columns = pruning_->columns();
  const double cost = pruned_cost(ctx_, d, k, columns, static_cast<double>(seen_.headed) / pairs,
                                  static_cast<double>(seen_.shortened + seen_.met) / pairs);
  tries_ = cost + cost_of_making(d, columns, 1) + guessing(columns) < unpruned_cost(ctx_, d, k);
}

}  // namespace ts::inline v0::solvers::kmeans_detail
