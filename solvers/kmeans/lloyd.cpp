#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/axes.hpp"
#include "tallskinny/solvers/kmeans/means_detail.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/unit_rows.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

PassStrategy::Shape shape_of(const KMeansProblem& p, const LloydControl& control) {
  const bool host = p.source.space() == Space::host;
  // Rows of one column in host memory are labelled in the time that reading their bounds takes.
  return {.rows = p.rows(),
          .all_rows = p.all_rows(),
          .costs = {p.cols(), p.k, GroupBounds::costs(p.ctx)},
          .filter = host && p.cols() == 1 ? KMeansFilter::none : control.filter,
          .host = host,
          .in_memory = p.source.in_memory(),
          .bytes = GroupBounds::possible(p.ctx, p.cols())};
}

/// Ready for passes over dense rows in host memory; none where rows are sparse.
std::unique_ptr<GroupBounds> group_bounds_for(const KMeansProblem& p) {
  bool sparse = false;
  p.for_each_block_here([&](index_t, const Rows& block) { sparse = sparse || block.sparse(); });
  if (sparse) return nullptr;
  const index_t group = GroupBounds::group_for(p.cols(), p.k);
  auto bounds = std::make_unique<GroupBounds>(p.ctx, p.rows(), p.k, group, p.moments);
  p.for_each_block_here([&](index_t first, const Rows& block) { bounds->put(p.ctx, first, block); });
  return bounds;
}

}  // namespace

Lloyd::Lloyd(const KMeansProblem& problem, Matrix<double> centers, const LloydControl& control)
    : p_(problem),
      control_(control),
      clusters_(problem.ctx, problem.source.space(), problem.moments, unit_of(problem), std::move(centers)),
      labels_(problem.filled<std::int32_t>(no_label)),
      directionless_(
          problem.beside_rows(std::vector<index_t>(problem.directionless.begin(), problem.directionless.end()))),
      bounds_(problem.source.space() == Space::host && control.filter != KMeansFilter::none ? problem.rows() : 0),
      strategy_(shape_of(problem, control), control.scores) {
  if (control.max_iter == 0) phase_ = Phase::label;
}

Lloyd::Lloyd(const KMeansProblem& problem, const KMeansState& state, const LloydControl& control)
    : Lloyd(problem, Matrix<double>::copy_of(state.centers.cview()), control) {
  labels_ = problem.beside_rows(state.labels);
  run_.n_iter = state.iteration;
  run_.relocated = state.relocated;
  p_.for_each_block([&](index_t first, const Rows& block) {
    clusters_.add_rows(block, labels_.view().part(first, block.rows()), p_.weights_of(first, block.rows()));
  });
}

void Lloyd::begin_pass() {
  pass_began_ = Clock::now();
  const index_t changed = stats_.changed;
  stats_ = {};
  if (run_.n_iter >= heads_from && !asked_for_heads_) use_heads();
  const PassFilter filter = strategy_.choose(run_.n_iter, control_.max_iter - run_.n_iter, changed);
  if (filter == PassFilter::groups && !group_bounds_) group_bounds_ = group_bounds_for(p_);
  if (filter == PassFilter::groups && !group_bounds_) strategy_.refuse();
  // Those that passes no longer move along.
  if (strategy_.filter() != PassFilter::groups) group_bounds_.reset();
  if (strategy_.filter() != PassFilter::rows) bounds_.forget();
  if (group_bounds_) clusters_.begin_pass(*group_bounds_);
  if (strategy_.filter() == PassFilter::rows) clusters_.begin_pass(bounds_);
}

void Lloyd::take(index_t first, const Rows& block) {
  stats_ += clusters_.assign(block, strategy_.scores(), labels_.view().part(first, block.rows()),
                             p_.weights_of(first, block.rows()),
                             phase_ == Phase::iterate ? Clusters::Sums::move : Clusters::Sums::stay,
                             {strategy_.filter() == PassFilter::rows ? &bounds_ : nullptr, first}, strategy_.settled(),
                             {group_bounds_.get(), first}, strategy_.filter());
}

void Lloyd::end_pass() {
  const AssignStats here = stats_;
  stats_ = sum_of_ranks(p_.ctx, stats_);
  strategy_.passed(here, stats_, bounds_.hold());
  const index_t changed = changed_labels();
  if (phase_ == Phase::label) {
    phase_ = Phase::done;
    return;
  }
  const bool moved = update_centers();
  ++run_.n_iter;
  if (!stop_after(changed)) return;
  // Equal labels give equal sums, and those equal centres, bit for bit: only then do they belong together.
  phase_ = run_.stop == KMeansStop::labels_unchanged && !moved ? Phase::done : Phase::label;
}

/// Each rank decides for its own rows.
void Lloyd::use_heads() {
  asked_for_heads_ = true;  // unless they are to begin later
  if (control_.filter == KMeansFilter::none) return;
  const bool projects = control_.filter == KMeansFilter::projection, bounds = control_.filter == KMeansFilter::bounds;
  const int left = control_.max_iter - run_.n_iter;
  const index_t passes = projects || bounds ? left : passes_with_heads(left);
  if (p_.source.space() != Space::device || !p_.source.in_memory() || control_.spherical || passes == 0) return;
  p_.for_each_block_here([&](index_t, const Rows& block) {
    if (block.rows() != p_.rows()) return;
    const HeadsForm form = bounds ? HeadsForm{} : clusters_.heads_form(block, passes, projects);
    asked_for_heads_ = form.columns == 0 || projects || form.from <= run_.n_iter;
    if (!asked_for_heads_) return;
    if (form.columns > 0) make_heads(block, form);
    if (!projects && !p_.distributed() && clusters_.tile_bounds_may_pay(block, bounds))
      clusters_.use_tile_bounds(block);
    strategy_.offer(clusters_.choosing_costs(block));
  });
}

void Lloyd::make_heads(const Rows& x, const HeadsForm& form) {
  const DeviceMatrix<double> axes = leading_space(alone(p_.ctx), x, p_.moments, form.columns);
  // Fewer where rows have no more dimensions.
  const HeadsForm found = form.within(axes.cols());
  if (found.columns == 0) return;
  clusters_.use_heads(x, DeviceView<const double>(axes.data(), axes.rows(), found.columns, axes.cols()), found.numbers);
}

bool Lloyd::stop_after(index_t changed) {
  run_.stop = KMeansStop::max_iterations;
  const bool wanted = control_.is_watched();
  const KMeansProgress now = wanted ? progress(changed) : KMeansProgress{};
  bool goes_on = true;
  if (changed == 0)
    run_.stop = KMeansStop::labels_unchanged, goes_on = false;
  else if (control_.is_enough(squared_shift_, changed))
    run_.stop = KMeansStop::tolerance, goes_on = false;
  else if (run_.n_iter >= control_.max_iter)
    goes_on = false;
  const bool ends = wanted && !(*control_.on_progress)(now) && goes_on;
  if (goes_on && control_.on_state != nullptr && *control_.on_state) (*control_.on_state)([this] { return state(); });
  if (ends) run_.stop = KMeansStop::interrupted, goes_on = false;
  return !goes_on;
}

KMeansProgress Lloyd::progress(index_t changed) {
  if (second_moment_ < 0) set_second_moment();
  // Large numbers are subtracted: sums of squares about the shift and what the sums make of them.
  const double inertia = fixed_point_serves() ? (clusters_.inertia_terms() + second_moment_).hi
                                              : inertia_of(p_, clusters_.centroids().cview(), labels_.to_host());
  KMeansProgress now = control_.progress(p_.k, run_.n_iter);
  now.changed = changed, now.squared_shift = squared_shift_;
  now.inertia = std::isnan(inertia) ? inf : std::max(0.0, inertia);
  now.relocated = run_.relocated, now.rescored = stats_.rescored, now.skipped = stats_.skipped;
  now.coarse = stats_.coarse, now.met = stats_.met;
  now.filter = stats_.filter, now.scorer = stats_.scorer;
  now.seconds = std::chrono::duration<double>(Clock::now() - pass_began_).count();
  return now;
}

void Lloyd::set_second_moment() {
  second_moment_ = 0;
  if (p_.weighted()) {
    const std::vector<std::int32_t> zero(at(p_.rows()));
    second_moment_ = inertia_of(p_, HostView<const double>(p_.moments.shift.data(), 1, p_.cols()), zero);
    return;
  }
  const auto n = static_cast<double>(p_.all_rows());
  for (std::size_t j = 0; j < p_.moments.shift.size(); ++j) {
    const double from_shift = p_.moments.mean[j] - p_.moments.shift[j];
    second_moment_ += n * (p_.moments.variance[j] + from_shift * from_shift);
  }
}

KMeansState Lloyd::state() const {
  KMeansState s;
  s.run = control_.run, s.iteration = run_.n_iter, s.relocated = run_.relocated;
  s.labels = labels_.to_host();
  s.centers = clusters_.centroids();
  return s;
}

index_t Lloyd::changed_labels() {
  run_.rescored += stats_.rescored;
  run_.skipped += stats_.skipped;
  // Their labels were 0 before, or -1 in the first iteration, which never ends the run.
  return stats_.changed - sum_of_ranks(p_.ctx, reset_labels(p_.ctx, labels_.view(), directionless_.view()));
}

bool Lloyd::fixed_point_serves() const {
  return !p_.wide_rows && (!p_.wide_weights || !too_coarse(p_, clusters_.unit(), clusters_.sums()));
}

/// True if a centre is not the mean of the rows with its label.
bool Lloyd::update_centers() {
  clusters_.collect();
  std::vector<index_t> empty;
  if (fixed_point_serves()) {
    Clusters::Moved moved = clusters_.move_to_means(adjust_means(control_.spherical));
    squared_shift_ = moved.squared_shift, empty = std::move(moved.weightless);
  } else {
    Matrix<double> centers = clusters_.centroids();
    const MovedCenters moved = move_to_means(p_, clusters_.unit(), clusters_.sums(), labels_.to_host(), centers.view(),
                                             adjust_means(control_.spherical));
    squared_shift_ = moved.squared_shift;
    for (index_t m = 0; m < p_.k; ++m)
      if (moved.weights[at(m)] == 0) empty.push_back(m);
    if (empty.empty()) clusters_.place(std::move(centers));
  }
  if (!empty.empty()) relocate_to_means(empty);
  return !empty.empty();
}

/// all: the rows farthest from the centres of their labels, as keep_farthest() orders them.
std::vector<FarRow> Lloyd::farthest(index_t count) {
  std::vector<FarRow> rows;
  p_.for_each_block([&](index_t first, const Rows& block) {
    for (FarRow far : clusters_.farthest_rows(block, labels_.view().part(first, block.rows()), count)) {
      far.row += p_.first_row() + first;
      rows.push_back(far);
    }
  });
  if (p_.distributed()) rows = gather_lists<FarRow>(p_.ctx, rows);
  keep_farthest(rows, count);
  return rows;
}

/// Each empty cluster gets the row farthest from its own centre, of a cluster that has others.
Lloyd::Relocation Lloyd::relocation(const std::vector<index_t>& empty) {
  constexpr index_t first_look = 64, growth = 8;
  std::vector<index_t> counts = clusters_.counts(), order;
  std::vector<FarRow> far;
  std::vector<double> weights;
  Relocation found;
  for (std::size_t next = 0; found.to.size() < empty.size(); ++next) {
    if (next == far.size()) {  // some were passed over: look farther
      if (std::ssize(far) == p_.all_rows()) break;
      far = farthest(std::max({growth * std::ssize(far), 2 * std::ssize(empty), first_look}));
      order.clear();
      for (const FarRow& each : far) order.push_back(each.row);
      weights = p_.weighted() ? p_.weights_at(order) : std::vector<double>(far.size(), 1.0);
    }
    const auto& [distance, row, donor] = far[next];
    if (distance == 0) break;  // as many distinct rows as clusters with rows
    if (weights[next] == 0 || counts[at(donor)] <= 1) continue;
    --counts[at(donor)];
    found.weights.push_back(weights[next]), found.numbers.push_back(row);
    found.to.push_back(static_cast<std::int32_t>(empty[found.to.size()]));
    found.from.push_back(static_cast<std::int32_t>(donor));
  }
  found.rows = Matrix<double>(std::ssize(found.numbers), p_.cols());
  if (!found.numbers.empty()) p_.load_rows(found.numbers, found.rows.view());
  return found;
}

/// Labels stay: the next pass finds who is near the centres that were moved.
void Lloyd::relocate_to_means(const std::vector<index_t>& empty) {
  const Relocation r = relocation(empty);
  run_.relocated += std::ssize(r.to);
  clusters_.move_rows(r.rows.cview(), r.from, r.to, r.weights);
  Clusters::Moved moved{.squared_shift = 0, .weightless = empty};
  if (r.to.size() == empty.size() && fixed_point_serves())
    moved = clusters_.move_to_means(adjust_means(control_.spherical));
  squared_shift_ = moved.weightless.empty() ? moved.squared_shift : place_means(r);
  clusters_.move_rows(r.rows.cview(), r.to, r.from, r.weights);
}

/// Means of rows that sums in fixed point do not serve, or of fewer rows than clusters. Returns the squared shift.
double Lloyd::place_means(const Relocation& r) {
  Matrix<double> centers = clusters_.centroids();
  std::vector<std::int32_t> labels = labels_.to_host();
  for (std::size_t q = 0; q < r.to.size(); ++q)
    if (const index_t here = r.numbers[q] - p_.first_row(); here >= 0 && here < p_.rows()) labels[at(here)] = r.to[q];
  const auto [squared_shift, weights] =
      move_to_means(p_, clusters_.unit(), clusters_.sums(), labels, centers.view(), adjust_means(control_.spherical));
  // A cluster for which there is no row stands where the heaviest one does, not where it was.
  const index_t heaviest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  for (index_t m = 0; m < p_.k; ++m)
    if (weights[at(m)] == 0)
      std::copy_n(centers.data() + heaviest * p_.cols(), p_.cols(), centers.data() + m * p_.cols());
  clusters_.place(std::move(centers));
  return squared_shift;
}

void run_together(const KMeansProblem& problem, std::span<Lloyd> runs) {
  const auto open = [&] { return std::any_of(runs.begin(), runs.end(), [](const Lloyd& run) { return !run.done(); }); };
  while (open()) {
    std::vector<Lloyd*> in_pass;
    for (Lloyd& run : runs)
      if (!run.done()) in_pass.push_back(&run);
    for (Lloyd* run : in_pass) run->begin_pass();
    problem.for_each_block([&](index_t first, const Rows& block) {
      for (Lloyd* run : in_pass) run->take(first, block);
    });
    for (Lloyd* run : in_pass) run->end_pass();
  }
}

}  // namespace ts::inline v0::solvers::kmeans_detail
