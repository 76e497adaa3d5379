// Decisions about a pass over rows on a device that are made before it begins, and its memory.
#pragma once

#include <algorithm>
#include <optional>

#include "tallskinny/gemm/library/calls.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/tile_bounds.hpp"
#include "tallskinny/solvers/kmeans/pass/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

namespace ts::inline v0::assign_device {

using cuda::PassCounts;
inline constexpr index_t counters = sizeof(PassCounts) / sizeof(cuda::word64);

/// Decisions about a pass that are made before it begins.
struct PassPlan {
  index_t n, k, d;
  double scale, shrink;
  bool fast, adds;
  cuda::AssignProblem problem;
  cuda::AssignPlans plans;
  bool line;                                   ///< centroids in their order tell labels, without scores
  bool filters;                                ///< of the centroids
  bool raw;                                    ///< rows are scored without shift and scale
  std::optional<cuda::ProductPlans> products;  ///< a library multiplies rows and centroids
  bool pairs_first;                            ///< scores of all rows leave pairs of centroids
  bool pairs_again;                            ///< scores of listed rows do
  Origin origin;

  PassPlan(const Context& ctx, const DevicePass& pass)
      : n(pass.x.rows()),
        k(pass.centroids.sums.clusters),
        d(pass.x.cols()),
        scale(pass.centroids.spread.scale),
        shrink(scale < 0x1p-900 ? scale : 1),
        fast(pass.scores == Scores::fast),
        adds(pass.into != nullptr || pass.centroids.sums.words != nullptr),
        problem(problem_of(pass)),
        plans(cuda::assign_plans(problem, ctx.stream.device())),
        line(cuda::takes_line(problem)),
        filters(pass.filter != nullptr && take_listed_plan(ctx, pass.filter->bounded())),
        raw(plans.scores && plans.scores->raw),
        products(products_of(ctx)),
        pairs_first(plans.scores && (products || plans.scores->pairs)),
        pairs_again(plans.again && plans.again->pairs),
        origin(pass.moments, pass.centroids.spread, raw) {}

  /// The counters of the pass, and behind them its sums where they are not elsewhere.
  [[nodiscard]] index_t words(bool own_sums) const noexcept { return counters + (own_sums ? sum_words(k, d) : 0); }

 private:
  /// The kernel for listed centroids in place of the one for all, if there is one.
  bool take_listed_plan(const Context& ctx, bool bounded) {
    auto listed = cuda::assign_listed_plan(problem, plans, ctx.stream.device(), bounded);
    if (!listed) return false;
    plans.scores = std::move(listed);
    return true;
  }
  /// The library is looked for only where it would be used.
  std::optional<cuda::ProductPlans> products_of(const Context& ctx) const {
    auto found = cuda::product_plans(problem, plans, ctx.stream.device());
    return found && cuda::cublas_found() ? found : std::nullopt;
  }
  static cuda::AssignProblem problem_of(const DevicePass& pass) {
    const double scale = pass.centroids.spread.scale;
    const bool fast = pass.scores == Scores::fast;
    return {.rows = cuda::rows_form(pass.x),
            .k = pass.centroids.sums.clusters,
            .wide = needs_wide(pass.moments, pass.x.type(), scale),
            .raw = allows_raw_rows(pass.moments, pass.x.type(), scale),
            .stable = pass.stable && !fast && pass.filter == nullptr,
            .fast = fast,
            .first = pass.first};
  }
};

/// One in so many rows can have its candidates collected, in memory of their own.
inline constexpr index_t rows_a_position = 4;
static_assert((cuda::most_candidates + 1) * sizeof(std::int32_t) <= rows_a_position * candidate_bytes);

/// The device memory of a pass. Of each row: list, pair, move, label before, three marks; candidates.
static_assert(32 * (sizeof(index_t) + sizeof(cuda::Pair) + 2 * sizeof(std::int32_t)) + 3 * sizeof(std::uint32_t) <=
              32 * listed_row_bytes);
struct PassMemory {
  PassCounts* counts;  ///< zero at first, as are the two that follow
  cuda::word64* sums;
  cuda::Largest* largest;
  double* columns;  ///< of centroids
  float *half_norms, *origins, *plain_origins;
  std::uint16_t *negated, *confirming;
  std::uint32_t* marks;  ///< of rows that scores leave undecided
  index_t* list;         ///< of these, and later the order of moves
  cuda::Pair* pairs;
  std::uint32_t *pair_marks, *listed_marks;
  std::int32_t *moves, *before, *candidates, *numbers;
  std::uint32_t* places;
  std::uint16_t *plain, *rounded;  ///< centroids and rows as a library multiplies them
  float *products, *squares;       ///< of such rows

  PassMemory(const cuda::Stream& stream, const PassPlan& plan, bool own_sums) {
    // Twice: without memory, to know how much it is, and with it.
    char* const memory = static_cast<char*>(stream.workspace(place(plan, own_sums, nullptr)));
    place(plan, own_sums, memory);
  }

 private:
  std::size_t place(const PassPlan& p, bool own_sums, char* memory) {
    std::size_t bytes = 0;
    const auto take = [&]<class T>(T*& part, index_t count) {
      part = reinterpret_cast<T*>(memory + bytes);
      bytes = (bytes + at(count) * sizeof(T) + 255) / 256 * 256;
    };
    const cuda::AssignPlans& plans = p.plans;
    const bool scores = plans.scores.has_value();
    const index_t padded = plans.padded, words = cuda::AssignProblem::mark_words(p.n), moving = p.adds ? p.n : 0;
    cuda::word64* zeros;
    take(zeros, p.words(own_sums) + 2);
    counts = reinterpret_cast<PassCounts*>(zeros), sums = zeros + counters;
    largest = reinterpret_cast<cuda::Largest*>(zeros + p.words(own_sums));
    const index_t at_once = p.products ? std::min(p.products->rows, p.n) : 0;
    const index_t positions = plans.collect || p.products ? p.n / rows_a_position : 0;
    take(numbers, p.line ? p.k : positions * cuda::most_candidates);
    take(columns, padded * p.d), take(half_norms, padded), take(origins, padded);
    take(plain_origins, p.raw ? padded : 0);
    take(negated, scores ? padded * std::max(plans.steps * 32, 2 * p.d) : 0);
    take(confirming, plans.confirms && plans.chunk > 0 ? padded * (plans.steps + 1) * 16 : 0);
    take(marks, scores ? words : 0), take(list, scores ? p.n : moving);
    take(pairs, p.pairs_first || p.pairs_again ? p.n : 0), take(pair_marks, p.pairs_first ? words : 0);
    take(listed_marks, plans.again ? words : 0);
    take(candidates, positions > 0 ? positions + 1 : 0);
    take(plain, p.products ? padded * plans.steps * 16 : 0), take(rounded, at_once * plans.steps * 16);
    take(products, at_once * padded), take(squares, 2 * at_once);
    take(moves, moving), take(before, moving), take(places, p.adds ? p.k + 1 : 0);
    return bytes;
  }
};

}  // namespace ts::inline v0::assign_device
