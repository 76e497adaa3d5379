#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/solvers/kmeans/means_detail.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/unit_rows.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

PassStrategy::Shape shape_of(const KMeansProblem& p, const LloydControl& control) {
  const bool host = p.source.space() == Space::host;
  bool dense = p.source.in_memory();
  if (dense) p.for_each_block_here([&](index_t, const Rows& block) { dense = dense && !block.sparse(); });
  // Rows of one column in host memory are labelled in the time that reading their bounds takes.
  return {.rows = p.rows(),
          .all_rows = p.all_rows(),
          .costs = {p.cols(), p.k, GroupBounds::costs(p.ctx)},
          .filter = host && p.cols() == 1 ? KMeansFilter::none : control.filter,
          .host = host,
          .in_memory = dense,
          .bytes = GroupBounds::possible(p.ctx, p.cols())};
}

}  // namespace

Lloyd::Lloyd(const KMeansProblem& problem, Matrix<double> centers, const LloydControl& control)
    : p_(problem),
      control_(control),
      adjust_(adjust_means(control.spherical)),
      clusters_(
          Clusters::make(problem.ctx, problem.source.space(), problem.moments, unit_of(problem), std::move(centers))),
      labels_(problem.filled<std::int32_t>(no_label)),
      directionless_(
          problem.beside_rows(std::vector<index_t>(problem.directionless.begin(), problem.directionless.end()))),
      strategy_(shape_of(problem, control), control.scores) {
  if (control.max_iter == 0) phase_ = Phase::label;
}

Lloyd::Lloyd(const KMeansProblem& problem, const KMeansState& state, const LloydControl& control)
    : Lloyd(problem, Matrix<double>::copy_of(state.centers.cview()), control) {
  labels_ = problem.beside_rows(state.labels);
  run_.n_iter = state.iteration;
  run_.relocated = state.relocated;
  p_.for_each_block([&](index_t first, const Rows& block) {
    clusters_->add_rows(block, labels_.view().part(first, block.rows()), p_.weights_of(first, block.rows()));
  });
}

void Lloyd::begin_pass() {
  since_begin_ = {};
  const index_t changed = std::exchange(stats_, {}).changed;
  device_filters_.prepare(p_, control_, run_.n_iter, *clusters_, strategy_);
  clusters_->begin_pass(strategy_.choose(run_.n_iter, control_.max_iter - run_.n_iter, changed), p_.rows(),
                        [this](const auto& use) { p_.for_each_block_here(use); });
}

void Lloyd::take(index_t first, const Rows& block) {
  stats_ += clusters_->assign(
      block, strategy_.scores(), labels_.view().part(first, block.rows()), p_.weights_of(first, block.rows()),
      phase_ == Phase::iterate ? Clusters::Sums::move : Clusters::Sums::stay, strategy_.stable(), first);
}

void Lloyd::end_pass() {
  const AssignStats here = stats_;
  stats_ = sum_of_ranks(p_.ctx, stats_);
  strategy_.passed(here, stats_, here.filter == PassFilter::rows);
  const index_t changed = changed_labels();
  if (phase_ == Phase::label) {
    phase_ = Phase::done;
    return;
  }
  const bool are_means = move_centers();
  ++run_.n_iter;
  if (!stops_after(changed)) return;
  // Equal labels give equal sums, and those equal centres, bit for bit: only then do they belong together.
  phase_ = run_.stop == KMeansStop::labels_unchanged && are_means ? Phase::done : Phase::label;
}

index_t Lloyd::changed_labels() {
  run_.rescored += stats_.rescored;
  run_.skipped += stats_.skipped;
  // Their labels were 0 before, or -1 in the first iteration, which never ends the run.
  return stats_.changed - sum_of_ranks(p_.ctx, reset_labels(p_.ctx, labels_.view(), directionless_.view()));
}

bool Lloyd::fixed_point_serves() const {
  return !p_.wide_rows && (!p_.wide_weights || !too_coarse(p_, clusters_->unit(), clusters_->sums()));
}

bool Lloyd::move_centers() {
  clusters_->collect();
  Clusters::Moved moved;
  if (fixed_point_serves()) {
    moved = clusters_->move_to_means(adjust_);
  } else {
    Matrix<double> centers = clusters_->centroids();
    const MovedCenters found =
        move_to_means(p_, clusters_->unit(), clusters_->sums(), labels_.to_host(), centers.view(), adjust_);
    moved.squared_shift = found.squared_shift;
    for (index_t m = 0; m < p_.k; ++m)
      if (found.weights[at(m)] == 0) moved.weightless.push_back(m);
    if (moved.weightless.empty()) clusters_->place(std::move(centers));
  }
  squared_shift_ = moved.squared_shift;
  if (moved.weightless.empty()) return true;
  relocate(moved.weightless);
  return false;
}

void Lloyd::relocate(const std::vector<index_t>& empty) {
  const Relocation r = relocation_to(empty, p_, *clusters_, labels_.view());
  run_.relocated += std::ssize(r.to);
  clusters_->move_rows(r.rows.cview(), r.from, r.to, r.weights);
  Clusters::Moved moved{.squared_shift = 0, .weightless = empty};
  if (r.to.size() == empty.size() && fixed_point_serves()) moved = clusters_->move_to_means(adjust_);
  squared_shift_ =
      moved.weightless.empty() ? moved.squared_shift : place_means(r, p_, *clusters_, labels_.to_host(), adjust_);
  clusters_->move_rows(r.rows.cview(), r.to, r.from, r.weights);
}

bool Lloyd::stops_after(index_t changed) {
  const bool wanted = control_.is_watched();
  const KMeansProgress now = wanted ? progress(changed) : KMeansProgress{};
  bool ends = true;
  if (changed == 0)
    run_.stop = KMeansStop::labels_unchanged;
  else if (control_.is_enough(squared_shift_, changed))
    run_.stop = KMeansStop::tolerance;
  else
    run_.stop = KMeansStop::max_iterations, ends = run_.n_iter >= control_.max_iter;
  const bool asked = wanted && !(*control_.on_progress)(now);
  if (ends) return true;
  if (control_.on_state != nullptr && *control_.on_state) (*control_.on_state)([this] { return state(); });
  if (asked) run_.stop = KMeansStop::interrupted;
  return asked;
}

KMeansProgress Lloyd::progress(index_t changed) {
  if (second_moment_ < 0) second_moment_ = second_moment_of(p_);
  // Large numbers are subtracted: sums of squares about the shift and what the sums make of them.
  const double inertia = fixed_point_serves() ? (clusters_->inertia_terms() + second_moment_).hi
                                              : inertia_of(p_, clusters_->centroids().cview(), labels_.to_host());
  KMeansProgress now = control_.progress(p_.k, run_.n_iter);
  now.changed = changed, now.squared_shift = squared_shift_;
  now.inertia = std::isnan(inertia) ? inf : std::max(0.0, inertia);
  now.relocated = run_.relocated, now.rescored = stats_.rescored, now.skipped = stats_.skipped;
  now.coarse = stats_.coarse, now.scored = stats_.scored;
  now.filter = stats_.filter, now.scorer = stats_.scorer;
  now.seconds = since_begin_.seconds();
  return now;
}

KMeansState Lloyd::state() const {
  KMeansState s;
  s.run = control_.run, s.iteration = run_.n_iter, s.relocated = run_.relocated;
  s.labels = labels_.to_host();
  s.centers = clusters_->centroids();
  return s;
}

void run_together(const KMeansProblem& problem, std::span<Lloyd> runs) {
  std::vector<Lloyd*> in_pass;
  for (Lloyd& run : runs) in_pass.push_back(&run);
  while (std::erase_if(in_pass, [](const Lloyd* run) { return run->done(); }), !in_pass.empty()) {
    for (Lloyd* run : in_pass) run->begin_pass();
    problem.for_each_block([&](index_t first, const Rows& block) {
      for (Lloyd* run : in_pass) run->take(first, block);
    });
    for (Lloyd* run : in_pass) run->end_pass();
  }
}

void DeviceFilters::prepare(const KMeansProblem& p, const LloydControl& control, int done, Clusters& clusters,
                            PassStrategy& strategy) {
  if (decided_ || done < from) return;
  decided_ = true;  // unless they are to begin later
  const bool projects = control.filter == KMeansFilter::projection, bounds = control.filter == KMeansFilter::bounds;
  const int left = control.max_iter - done;
  const index_t passes = projects || bounds ? left : passes_with_projections(left);
  if (control.filter == KMeansFilter::none || control.spherical || passes == 0) return;
  if (p.source.space() != Space::device || !p.source.in_memory()) return;
  p.for_each_block_here([&](index_t, const Rows& block) {
    if (block.rows() != p.rows()) return;
    const ProjectionForm form = bounds ? ProjectionForm{} : clusters.projection_form(block, passes, projects);
    decided_ = form.columns == 0 || projects || form.from <= done;
    if (!decided_) return;
    if (form.columns > 0) {
      const DeviceMatrix<double> axes = leading_space(alone(p.ctx), block, p.moments, form.columns);
      const ProjectionForm found = form.within(axes.cols());  // fewer where rows have no more dimensions
      const DeviceView<const double> along(axes.data(), axes.rows(), found.columns, axes.cols());
      if (found.columns > 0) clusters.use_projections(block, along, found.numbers);
    }
    if (!projects && !p.distributed() && clusters.tile_bounds_may_pay(block, bounds)) clusters.use_tile_bounds(block);
    strategy.offer(clusters.filter_costs(block));
  });
}

}  // namespace ts::inline v0::solvers::kmeans_detail
