// One pass over rows on a device, step by step: prepare, score, resolve, sum.
#include <optional>
#include <utility>

#include "tallskinny/solvers/kmeans/pass/pass_plan.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/line.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

namespace ts::inline v0::assign_device {

namespace {

/// Waits for the stream.
PassCounts fetch(const Context& ctx, const PassCounts* there) {
  PassCounts counts{};
  cuda::copy_bytes(ctx.stream, &counts, there, sizeof counts);
  ctx.stream.synchronize();
  return counts;
}

/// A pass over at most most_listed_rows rows.
class RunningPass {
 public:
  RunningPass(const Context& ctx, const DevicePass& pass, const PassPlan& plan)
      : ctx_(ctx),
        pass_(pass),
        plan_(plan),
        memory_(ctx.stream, plan, pass.into != nullptr),
        rows_(argument_of(pass.x)) {}

  /// Counters at zero, centroids as kernels want them.
  void prepare() {
    const PassPlan& p = plan_;
    const PassMemory& m = memory_;
    const PlacedCentroids& c = pass_.centroids;
    const cuda::AssignPlans& plans = p.plans;
    cuda::fill_bytes(ctx_.stream, m.counts, 0, at(p.words(pass_.into != nullptr) + 2) * sizeof(cuda::word64));
    if (p.line)
      place_line();
    else
      cuda::launch_with<cuda::PreparePolicy>(
          ctx_, cuda::assign_prepare_plan(p.problem, plans),
          {c.rows, c.first_column, static_cast<int>(p.k), static_cast<int>(plans.padded), c.sums.shift, p.scale,
           p.shrink, p.origin.value, m.columns, m.half_norms, m.origins, p.raw ? m.plain_origins : nullptr,
           plans.scores ? m.negated : nullptr, plans.confirms ? m.confirming : nullptr, p.products ? m.plain : nullptr,
           m.largest});
    PlacedSums sums = c.sums;
    if (pass_.into != nullptr) sums.words = m.sums;
    to_ = argument_of(sums, p.d, pass_.unit, pass_.weights.data);
    if (pass_.first)  // all rows are added in the end, and no list of them is made
      all_ = std::exchange(to_, {});
    else if (p.adds)
      to_.moves = {m.moves, m.before, &m.counts->moved};
  }

  /// Labels of the rows that scores decide, marks of others.
  void score() {
    if (plan_.line)
      score_line();
    else if (plan_.filters)
      score_listed();
    else if (plan_.products)
      score_by_library();
    else if (plan_.plans.scores)
      score_by(*plan_.plans.scores, {}, memory_.marks, plan_.plans.confirms);
  }

  /// Labels of the others: pairs of centroids first, then scores of more parts, then exact distances.
  void resolve() {
    const PassMemory& m = memory_;
    const cuda::AssignPlans& plans = plan_.plans;
    if (plan_.line) return;
    if (plan_.pairs_first && !plan_.fast) decide(gather(m.pair_marks, &m.counts->of_two), nullptr, true);
    if (plans.scores && !plan_.fast) undecided_ = gather(m.marks, &m.counts->rescored);
    if (plan_.filters && !plans.again) return decide(undecided_, nullptr, true);  // from the lists
    if (plans.collect) return collect(), decide(undecided_, nullptr, true);
    if (plans.again) score_by(*plans.again, undecided_, m.listed_marks, false);
    if (!plans.scores || !plan_.fast) decide(undecided_, plans.again ? m.listed_marks : nullptr, plan_.pairs_again);
  }

  /// Counts, which is waited for, and the rows that moved to the sums of their clusters.
  AssignStats sum() {
    const PassMemory& m = memory_;
    const PassCounts counts = fetch(ctx_, m.counts);
    AssignStats stats;
    stats.changed = static_cast<index_t>(counts.changed);
    stats.rescored = static_cast<index_t>(counts.rescored + counts.of_two);
    stats.scored = static_cast<index_t>(counts.kept);
    if (plan_.filters) stats.filter = pass_.filter->bounded() ? PassFilter::tiles : PassFilter::projection;
    stats.scorer = plan_.line           ? "line"
                   : plan_.products     ? "cublas"
                   : plan_.plans.scores ? plan_.plans.scores->kernel.family
                                        : "exact";
    if (!plan_.adds || stats.changed == 0) return stats;
    const index_t moved = pass_.first ? plan_.n : static_cast<index_t>(counts.moved);
    add_moves(ctx_, pass_.x, pass_.labels, *pass_.unit, pass_.first ? all_ : to_, plan_.k, moved,
              {m.places, reinterpret_cast<std::uint32_t*>(m.list)});
    if (pass_.into != nullptr) add_fetched(ctx_, m.sums, *pass_.into);
    return stats;
  }

 private:
  static constexpr std::uint32_t one = 1;  // which compilers of kernels do not know

  /// Centroids of one column in their order, which the host finds.
  void place_line() {
    Matrix<double> centroids = Matrix<double>::zeros(plan_.k, 1);
    fetch_numbers<double>(ctx_, {centroids.data(), at(plan_.k)}, pass_.centroids.rows);
    line_.emplace(centroids.cview(), pass_.moments);
    const std::size_t count = line_->values().size();
    cuda::copy_bytes(ctx_.stream, memory_.columns, line_->values().data(), count * sizeof(double));
    cuda::copy_bytes(ctx_.stream, memory_.numbers, line_->numbers().data(), count * sizeof(std::int32_t));
  }
  void score_line() {
    const PassPlan& p = plan_;
    launch_warps(ctx_, "assign_line", cuda::LinePolicy{pass_.x.type()}, cuda::ceil_div(p.n, 32),
                 {rows_, memory_.columns, memory_.numbers, static_cast<int>(line_->values().size()), p.shrink,
                  p.scale / p.shrink, pass_.labels.data, to_, memory_.counts});
  }

  /// Takes some rows at a time: rounds them, multiplies them by all centroids, finds the least scores.
  void score_by_library() {
    using Half = const float16;
    const PassPlan& p = plan_;
    const PassMemory& m = memory_;
    const index_t padded = p.plans.padded, line = 16 * p.plans.steps, positions = p.n / rows_a_position;
    const auto clear = [&](std::uint32_t* words, index_t count) {
      cuda::fill_bytes(ctx_.stream, words, 0, at(count) * sizeof *words);
    };
    clear(reinterpret_cast<std::uint32_t*>(m.candidates), positions + 1);
    cuda::MinimaArguments minima{
        arguments(*p.plans.scores, {}, m.marks, false), m.products, m.squares, 0, 0, static_cast<int>(padded)};
    minima.all.candidates = {m.numbers, m.candidates, static_cast<int>(positions)};
    for (index_t& first = minima.first; first < p.n; first += p.products->rows) {
      const index_t rows = minima.count = std::min(p.products->rows, p.n - first);
      cuda::launch_with<cuda::RoundPolicy>(
          ctx_, p.products->round,
          {argument_of(pass_.x.block(first, rows)), pass_.centroids.sums.shift, p.scale, m.rounded, m.squares});
      cuda::multiply_by_cublas<float16>(ctx_, 1,
                                        {.a = {reinterpret_cast<Half*>(m.rounded), rows, line, line, 1},
                                         .b = {reinterpret_cast<Half*>(m.plain), line, padded, 1, line},
                                         .c = {m.products, rows, padded, padded, 1}},
                                        0);
      cuda::launch_with<cuda::MinimaPolicy>(ctx_, p.products->minima, minima);
    }
    lists_ = {.numbers = m.numbers, .counts = m.candidates, .stride = cuda::most_candidates, .each = 1};
  }

  /// Scores all rows against the centroids that their tiles list.
  void score_listed() {
    const PassPlan& p = plan_;
    const PassMemory& m = memory_;
    const std::size_t marks = at(cuda::AssignProblem::mark_words(p.n)) * sizeof(std::uint32_t);
    cuda::fill_bytes(ctx_.stream, m.marks, 0, marks), cuda::fill_bytes(ctx_.stream, m.pair_marks, 0, marks);
    const ListedCentroids listed = pass_.filter->candidates(ctx_, filter_pass(*p.plans.scores));
    launch_listed(*p.plans.scores, listed);
    lists_ = listed.lists;
  }
  [[nodiscard]] FilterPass filter_pass(const cuda::ScorePlan& by) const {
    const PassPlan& p = plan_;
    const PassMemory& m = memory_;
    const PlacedCentroids& c = pass_.centroids;
    const double origin = p.origin.value;
    const auto beyond = static_cast<float>(1.33 * origin);
    return {p.plans,   by,      c.rows, c.sums.shift, m.half_norms, m.origins,
            m.largest, p.scale, origin, beyond,       pass_.labels, &m.counts->kept};
  }
  void launch_listed(const cuda::ScorePlan& by, const ListedCentroids& listed) {
    cuda::ScoresArguments a = arguments(by, listed.rows, memory_.marks, false);
    a.centroids = listed.centroids, a.origins = listed.origins, a.lists = listed.lists;
    cuda::launch(ctx_, by.kernel, a);
  }
  /// Collects the centroids that may be nearest for rows that the scores of all rows leave undecided.
  void collect() {
    const index_t n = plan_.n, positions = n / rows_a_position;
    cuda::fill_bytes(ctx_.stream, memory_.candidates, 0, at(positions) * sizeof(std::int32_t));
    cuda::ScoresArguments a = arguments(*plan_.plans.collect, undecided_, nullptr, false);
    a.candidates = {memory_.numbers, memory_.candidates, static_cast<int>(positions)};
    lists_ = {.numbers = memory_.numbers, .counts = memory_.candidates, .stride = cuda::most_candidates, .each = 1};
    cuda::launch(ctx_, plan_.plans.collect->kernel, a);
  }
  void score_by(const cuda::ScorePlan& by, const cuda::Selection& selection, std::uint32_t* undecided, bool confirms) {
    cuda::launch(ctx_, by.kernel, arguments(by, selection, undecided, confirms));
  }
  [[nodiscard]] cuda::ScoresArguments arguments(const cuda::ScorePlan& by, const cuda::Selection& selection,
                                                std::uint32_t* undecided, bool confirms) const {
    const PassPlan& p = plan_;
    const PassMemory& m = memory_;
    const bool signs = confirms && !by.raw;  // centroids have columns with their origins
    const float* const origins = by.raw ? m.plain_origins : signs ? m.half_norms : m.origins;
    cuda::ScoresArguments a{};
    a.x = rows_, a.selection = selection, a.centroids = signs ? m.confirming : m.negated, a.origins = origins;
    a.per_unit = signs ? 1.0F : static_cast<float>(by.unit / p.origin.unit);
    a.row_norm = static_cast<float>(p.origin.row_norm * 1.001), a.one = one, a.margin = p.origin.margin(p.d);
    a.largest = m.largest, a.shift = pass_.centroids.sums.shift, a.scale = p.scale, a.labels = pass_.labels.data;
    a.undecided = undecided, a.pairs = {m.pairs, m.pair_marks};
    a.sums = to_, a.counts = m.counts, a.lists = lists_;
    return a;
  }

  cuda::Selection gather(const std::uint32_t* marked, cuda::word64* count) {
    const index_t words = cuda::AssignProblem::mark_words(plan_.n);
    launch_warps(ctx_, "assign_gather", cuda::GatherPolicy{}, words / 32 + 1, {plan_.n, marked, memory_.list, count});
    return {memory_.list, count};
  }
  void decide(const cuda::Selection& selection, const std::uint32_t* undecided, bool with_pairs) {
    const PassPlan& p = plan_;
    const auto k = static_cast<int>(p.k), padded = static_cast<int>(p.plans.padded), d = static_cast<int>(p.d);
    const cuda::CentroidsArgument c{pass_.centroids.rows, memory_.columns, memory_.half_norms, k, padded, d, p.shrink,
                                    p.scale / p.shrink};
    cuda::KernelPlan plan =
        cuda::warps_plan("assign_decide", cuda::DecidePolicy{pass_.x.type()}, p.n, ctx_.stream.device());
    plan.budget.shared_bytes = cuda::DecidePolicy::shared_bytes;
    cuda::launch_with<cuda::DecidePolicy>(ctx_, plan,
                                          {rows_, c, selection, undecided, with_pairs ? memory_.pairs : nullptr,
                                           pass_.labels.data, to_, memory_.counts, lists_});
  }

  const Context& ctx_;
  const DevicePass& pass_;
  const PassPlan& plan_;
  PassMemory memory_;
  cuda::RowsArgument rows_;
  cuda::SumsArgument to_, all_;
  cuda::CandidateLists lists_;
  std::optional<assign_detail::Line> line_;  ///< what is copied from it may be under way
  cuda::Selection undecided_;                ///< rows that scores left undecided; every row if there were none
};

AssignStats run(const Context& ctx, const DevicePass& pass) {
  const PassPlan plan(ctx, pass);
  if (plan.filters) pass.filter->set_centroids(ctx, pass.centroids.rows);
  RunningPass running(ctx, pass, plan);
  running.prepare();
  running.score();
  running.resolve();
  return running.sum();
}

}  // namespace

AssignStats pass_over(const Context& ctx, const DevicePass& pass) {
  AssignStats all;
  for (index_t i = 0; i < pass.x.rows(); i += most_listed_rows) {
    const index_t rows = std::min(most_listed_rows, pass.x.rows() - i);
    const Rows block = pass.x.block(i, rows);
    all += run(ctx, {block, pass.moments, pass.centroids, pass.scores, pass.labels.part(i, rows),
                     pass.weights.part(i, rows), pass.unit, pass.stable, pass.first, pass.filter, pass.into});
  }
  return all;
}

void prepare_products(const Context& ctx, const cuda::AssignProblem& problem) {
  const cuda::DeviceInfo& device = ctx.stream.device();
  if (!cuda::product_plans(problem, cuda::assign_plans(problem, device), device) || !cuda::cublas_found()) return;
  constexpr index_t size = 64;
  const cuda::Memory numbers = array<float>(ctx, size * size), products = array<float>(ctx, size * size);
  cuda::fill_bytes(ctx.stream, numbers.data(), 0, numbers.bytes());
  const auto* const some = as<const float16>(numbers);
  cuda::multiply_by_cublas<float16>(
      ctx, 1,
      {{some, size, size, size, 1}, {some, size, size, 1, size}, false, {as<float>(products), size, size, size, 1}}, 0);
  ctx.stream.synchronize();
}

}  // namespace ts::inline v0::assign_device
