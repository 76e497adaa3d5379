// The clusters of a run in device memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/tile_bounds.hpp"
#include "tallskinny/solvers/kmeans/pass/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"

namespace ts::inline v0::assign_device {

namespace {

using cuda::ClusterUpdate;

class DeviceClusters final : public Clusters {
 public:
  DeviceClusters(const Context& ctx, const ColumnMoments& moments, const FixedPoint& unit,
                 HostView<const double> centroids)
      : Clusters(ctx, moments, unit, centroids),
        scale_of_rows_(assign_detail::scoring_scale(centroids.rows(0, 0), moments)),
        of_columns_(ctx.stream, 3, d_),
        sums_(ctx.stream, 1, sum_words(k_, d_)),
        device_updates_(ctx.stream, k_, sizeof(ClusterUpdate) / sizeof(double)),
        updates_(at(k_)) {
    for (DeviceMatrix<double>& each : placed_) each = DeviceMatrix<double>(ctx.stream, 1, k_ * d_ + k_);
    Upload upload(ctx, 3 * d_);
    upload.add(moments.shift), upload.add(unit.to_units), upload.add(unit.from_units);
    upload.send(of_columns_.data());
    cuda::fill_bytes(ctx.stream, sums_.data(), 0, at(sums_.cols()) * sizeof(std::uint64_t));
    take(centroids);
  }

  [[nodiscard]] Matrix<double> centroids() const override {
    Matrix<double> found(k_, d_);
    copy(ctx_.stream, found.view(), DeviceView<const double>(current(), k_, d_, d_));
    ctx_.stream.synchronize();
    return found;
  }
  [[nodiscard]] ClusterSums sums() const override {
    ClusterSums found(k_, d_);
    add_fetched(ctx_, all_sums(), found);
    return found;
  }
  void collect() override {
    if (ctx_.communicator->size() == 1) return;
    const index_t words = sum_words(k_, d_);
    if (of_ranks_.cols() == 0) of_ranks_ = DeviceMatrix<std::uint64_t>(ctx_.stream, 1, words);
    cuda::copy_bytes(ctx_.stream, of_ranks_.data(), sums_.data(), at(words) * sizeof(std::uint64_t));
    ctx_.communicator->add(ctx_.stream, {of_ranks_.data(), at(words)});
    stale_ = true;
  }

  void begin_pass(PassFilter filter, index_t, const EachBlock&) override { filter_ = filter; }
  AssignStats assign(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights, Sums sums,
                     bool stable, index_t) override {
    expect_rows(x, labels);
    if (!weights.empty()) assign_detail::expect_per_row(x, weights, "weights");
    const bool move = sums == Sums::move;
    // Labelled rows are in the sums: while these are empty, no row has a label.
    const bool first = empty_ && move && !stable;
    stale_ = stale_ || move, empty_ = empty_ && !move;
    CandidateFilter* const by = scores == Scores::fast ? nullptr : candidate_filter(x);
    const AssignStats stats =
        pass_over(ctx_, {x, moments_, placed(move), scores, labels, weights, &unit_, stable, first, by, nullptr});
    if (tile_bounds_ && stats.filter == PassFilter::tiles) tile_bounds_->passed(stats.scored);
    if (tile_bounds_ && stats.filter != PassFilter::tiles) tile_bounds_->forget();
    return stats;
  }

  [[nodiscard]] ProjectionForm projection_form(const Rows& x, index_t passes, bool wanted) const override {
    const ProjectionForm form = cuda::projection_form(problem_of(x), passes, ctx_.stream.device(), wanted);
    const bool fits = 2 * ProjectionFilter::bytes(x.rows(), d_, form, k_) <= cuda::free_memory(ctx_.stream);
    return fits ? form : ProjectionForm{};
  }
  void use_projections(const Rows& x, DeviceView<const double> axes, ProjectionNumbers numbers) override {
    expects(axes.rows() == x.cols(), "clusters: axes have the columns of the rows");
    projections_.emplace(ctx_, x, moments_, ProjectionFilter::Along{axes, numbers}, k_, spread_.scale);
  }
  [[nodiscard]] bool tile_bounds_may_pay(const Rows& x, bool wanted) const override {
    return cuda::tile_bounds_may_pay(problem_of(x), ctx_.stream.device(), wanted) &&
           2 * TileBounds::bytes(x.rows(), d_, k_) <= cuda::free_memory(ctx_.stream);
  }
  void use_tile_bounds(const Rows& x) override { tile_bounds_.emplace(x, k_); }
  [[nodiscard]] FilterCosts filter_costs(const Rows& x) const override {
    return cuda::filter_costs(problem_of(x), projections_ ? projections_->form() : ProjectionForm{},
                              tile_bounds_.has_value());
  }
  void rehearse(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights,
                index_t passes_with_projections) override {
    const PlacedCentroids centroids = placed(true);
    for (const bool stable : {false, true})
      pass_over(ctx_, {x, moments_, centroids, scores, labels, weights, &unit_, stable});
    pass_over(ctx_, {x, moments_, centroids, scores, labels, weights, &unit_, false, true});
    if (passes_with_projections == 0 || scores == Scores::fast) return;
    const auto filter_by = [&](CandidateFilter& by) {
      pass_over(ctx_, {x, moments_, centroids, scores, labels, weights, &unit_, false, false, &by});
    };
    if (const ProjectionForm form = projection_form(x, passes_with_projections, false); form.columns > 0) {
      use_projections(x, DeviceMatrix<double>(ctx_.stream, d_, form.columns).cview(), form.numbers);
      filter_by(*projections_);
    }
    if (tile_bounds_may_pay(x, false)) {
      TileBounds bounds(x, k_);
      filter_by(bounds);
    }
    projections_.reset();
  }

  void add_rows(const Rows& x, PerRow<const std::int32_t> labels, PerRow<const double> weights) override {
    expect_rows(x, labels);
    stale_ = true, empty_ = false;
    assign_device::add_rows(ctx_, x, placed(true).sums, labels, weights, unit_);
  }
  Moved move_to_means(const AdjustMean& adjust) override {
    Moved moved;
    if (adjust) {
      Matrix<double> adjusted = centroids();
      moved = move_here(sums(), adjusted.view(), adjust);
      if (moved.weightless.empty()) take(adjusted.cview());
      return moved;
    }
    run(Step::move, scale_of_rows_);
    double sum_of_steps = 0;
    for (index_t m = 0; m < k_; ++m) {
      const ClusterUpdate& update = updates_[at(m)];
      if (update.weight == 0) moved.weightless.push_back(m);
      moved.squared_shift += update.squared_step,
          sum_of_steps += std::sqrt(update.squared_step) / static_cast<double>(k_);
    }
    if (!moved.weightless.empty()) {
      stale_ = true;  // updates_ is of centroids that are not taken
      return {0, std::move(moved.weightless)};
    }
    mean_step_ = sum_of_steps, current_ = 1 - current_;
    take_spread();
    return moved;
  }
  [[nodiscard]] std::vector<FarRow> farthest_rows(const Rows& x, PerRow<const std::int32_t> labels,
                                                  index_t count) const override {
    return assign_device::farthest_rows(ctx_, x, current(), labels, count);
  }
  [[nodiscard]] std::vector<index_t> counts() const override {
    std::vector<std::uint64_t> found(at(k_));
    fetch_numbers<std::uint64_t>(ctx_, found, all_sums() + sum_words(k_, d_) - k_);
    return {found.begin(), found.end()};
  }
  void move_rows(HostView<const double> rows, std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                 std::span<const double> weights) override {
    const index_t count = rows.rows();
    if (count == 0) return;
    stale_ = true;
    const auto there = [&](auto values) { return PerRowArray(ctx_, Space::device, std::vector(values)); };
    std::vector<std::int32_t> numbers(from.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    DeviceMatrix<double> x(ctx_.stream, count, d_);
    copy(ctx_.stream, x.view(), rows);
    auto list = there(numbers), before = there(std::vector(from.begin(), from.end())),
         labels = there(std::vector(to.begin(), to.end()));
    const auto weigh = there(std::vector(weights.begin(), weights.end()));
    const cuda::Memory places = array<std::uint32_t>(ctx_, k_ + 1), order = array<std::uint32_t>(ctx_, 2 * count);
    PlacedSums sums = placed(true).sums;
    sums.words = as_words(all_sums());
    cuda::SumsArgument argument = argument_of(sums, d_, &unit_, weigh.view().data);
    argument.moves = {list.view().data, before.view().data, nullptr};
    add_moves(ctx_, Rows(ctx_.stream, x.cview()), labels.view(), unit_, argument, k_, count,
              {as<std::uint32_t>(places), as<std::uint32_t>(order)});
  }
  void place(Matrix<double> centroids) override { take(centroids.cview()); }
  [[nodiscard]] Twofold inertia_terms() override {
    if (stale_) run(Step::measure, spread_.scale);
    Twofold all;
    for (const ClusterUpdate& update : updates_) all = all + Twofold{update.inertia_high, update.inertia_low};
    return all.scaled(1 / unit_.weight_to_units);
  }

 private:
  enum class Step { measure, move };

  void expect_rows(const Rows& x, PerRow<const std::int32_t> labels) const {
    assign_detail::expect_per_row(x, labels, "labels");
    expects(x.on_device() && x.cols() == d_, "clusters: clusters on a device serve rows there");
  }
  /// Sums over the rows of all ranks.
  [[nodiscard]] std::uint64_t* all_sums() const noexcept { return (of_ranks_.cols() > 0 ? of_ranks_ : sums_).data(); }
  [[nodiscard]] double* current() const noexcept { return placed_[current_].data(); }
  [[nodiscard]] double* other() const noexcept { return placed_[1 - current_].data(); }
  [[nodiscard]] PlacedCentroids placed(bool with_sums) const noexcept {
    const double* const shift = of_columns_.data();
    return {
        {k_, shift, shift + d_, with_sums ? as_words(sums_.data()) : nullptr}, spread_, current(), current() + k_ * d_};
  }
  [[nodiscard]] cuda::AssignProblem problem_of(const Rows& x) const {
    return {.rows = cuda::rows_form(x), .k = k_, .wide = needs_wide(moments_, x.type(), spread_.scale)};
  }

  /// Returns the filter of centroids for a pass over these rows, or null.
  [[nodiscard]] CandidateFilter* candidate_filter(const Rows& x) {
    constexpr double margin = 3;  // in mean moves of centroids
    const bool by_projections = projections_ && projections_->fit(x, spread_.scale);
    if (filter_ == PassFilter::tiles && tile_bounds_ && tile_bounds_->fit(x, spread_.scale)) {
      if (!tile_bounds_->known())
        tile_bounds_->begin_by(by_projections ? &*projections_ : nullptr, margin * mean_step_ * spread_.scale);
      return &*tile_bounds_;
    }
    return filter_ == PassFilter::projection && by_projections ? &*projections_ : nullptr;
  }

  /// Sets updates_, of current centroids or of the means, which are put into other().
  void run(Step step, double scale) {
    const cuda::word64* const upper = as_words(all_sums());
    const cuda::word64* const weight = upper + 2 * k_ * d_;
    const cuda::FixedSumsArgument sums{
        upper, upper + k_ * d_, weight, weight + k_, of_columns_.data() + 2 * d_, of_columns_.data(), unit_.inverse};
    launch_threads(
        ctx_, "assign_means", cuda::MeansPolicy{step == Step::move}, 32 * k_,
        {sums, static_cast<int>(k_), static_cast<int>(d_), scale, current(), step == Step::move ? other() : current(),
         reinterpret_cast<ClusterUpdate*>(device_updates_.data())});
    const std::size_t bytes = updates_.size() * sizeof(ClusterUpdate);
    cuda::Staging& staging = ctx_.stream.staging();
    staging.begin(ctx_.stream, cuda::Staging::rounded(bytes));
    const cuda::Staging::Stretch found = staging.take(bytes);
    cuda::Staging::download(ctx_.stream, found, device_updates_.data());
    ctx_.stream.synchronize();
    std::memcpy(updates_.data(), found.host, bytes);
    stale_ = false;
  }

  void take(HostView<const double> centroids) {
    expect_shape(centroids);
    Upload upload(ctx_, k_ * d_);
    upload.add(centroids);
    upload.send(current());
    mean_step_ = 0;
    run(Step::measure, scale_of_rows_);
    take_spread();
  }
  /// Sets what passes need to know of current centroids, from updates_.
  void take_spread() {
    // Means lie among their rows, so that mostly rows alone tell the scale.
    double max_abs = moments_.max_abs.empty() ? 0 : *std::max_element(moments_.max_abs.begin(), moments_.max_abs.end());
    for (const ClusterUpdate& update : updates_) max_abs = std::max(max_abs, update.max_abs);
    spread_ = {inverse_power_of_two(max_abs), 0};
    if (spread_.scale != scale_of_rows_) run(Step::measure, spread_.scale);
    for (const ClusterUpdate& update : updates_) spread_.squared = std::max(spread_.squared, update.squared);
  }

  double scale_of_rows_;
  std::array<DeviceMatrix<double>, 2> placed_;  ///< k x d centroids, and the first column of all
  DeviceMatrix<double> of_columns_;             ///< shift, to_units, from_units
  DeviceMatrix<std::uint64_t> sums_;            ///< as ClusterSums::add_words has them
  DeviceMatrix<std::uint64_t> of_ranks_;        ///< the same of the rows of several ranks
  DeviceMatrix<double> device_updates_;
  std::size_t current_ = 0;
  std::vector<ClusterUpdate> updates_;
  bool empty_ = true;   ///< sums have no rows
  bool stale_ = false;  ///< sums have changed since updates_
  Spread spread_;
  PassFilter filter_ = PassFilter::none;
  std::optional<ProjectionFilter> projections_;
  std::optional<TileBounds> tile_bounds_;
  double mean_step_ = 0;  ///< of centroids in the last move
};

}  // namespace

std::unique_ptr<Clusters> make_clusters(const Context& ctx, const ColumnMoments& moments, const FixedPoint& unit,
                                        HostView<const double> centroids) {
  return std::make_unique<DeviceClusters>(ctx, moments, unit, centroids);
}

}  // namespace ts::inline v0::assign_device
