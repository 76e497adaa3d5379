#include "tallskinny/gemm/assign/launch.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tallskinny/gemm/assign/arguments.hpp"
#include "tallskinny/gemm/assign/detail.hpp"
#include "tallskinny/gemm/assign/scores/plan.hpp"
#include "tallskinny/gemm/assign/sums/launch.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::assign_device {

namespace {

/// Puts the centroids into the parcel, and looks at each block while it is at hand.
Spread pack(const Context& ctx, Parcel& parcel, HostView<const double> centroids,
            const ColumnMoments& moments) {
  struct Extent {
    double reach = 0, squared = 0;
  };
  std::vector<Extent> extents(static_cast<std::size_t>(SmallBlocks(centroids).count));
  // Means lie among their rows, so that mostly rows alone tell the scale.
  double scale = assign_detail::scoring_scale(centroids.rows(0, 0), moments);
  const auto look = [&](index_t b, HostView<const double> block) {
    Extent& extent = extents[static_cast<std::size_t>(b)];
    extent = {assign_detail::reach_of(block, moments), 0};
    for (index_t m = 0; m < block.rows(); ++m)
      extent.squared = std::max(
          extent.squared, assign_detail::squared_distance<double>(block.data() + m * block.ld(),
                                                                  moments.shift.data(), block.cols(), scale));
  };
  const auto largest = [&extents](double Extent::*of) {
    double most = 0;
    for (const Extent& extent : extents) most = std::max(most, extent.*of);
    return most;
  };
  parcel.add(centroids, look);
  const double of_rows = scale;
  scale = inverse_power_of_two(largest(&Extent::reach));
  if (scale != of_rows) for_blocks(ctx, centroids, look);
  return {scale, largest(&Extent::squared)};
}

/// x - shift in float32 loses nothing that the bound on scores does not know of, and cannot overflow.
bool needs_wide(const ColumnMoments& moments, DType type, double scale) {
  if (type == DType::float64 || !(scale >= 0x1p-100 && scale <= 0x1p100)) return true;
  for (std::size_t j = 0; j < moments.shift.size(); ++j) {
    const double shift = moments.shift[j], scaled = shift * scale;
    if (static_cast<double>(static_cast<float>(scaled)) != scaled ||
        (std::abs(shift) + moments.reach[j]) * scale > 0x1p100)
      return true;
  }
  return false;
}

/// Whether products of rows with float16 numbers need neither shift nor scale: columns are near their origin,
/// as float16 numbers go, and squares of a few elements have room in float16.
bool as_they_are(const ColumnMoments& moments, DType type, double scale) {
  if ((type != DType::float16 && type != DType::float32) || !(scale >= 0x1p-5 && scale <= 0x1p4))
    return false;
  double shift = 0, reach = 0;
  for (std::size_t j = 0; j < moments.shift.size(); ++j) {
    if (std::abs(moments.shift[j]) + moments.reach[j] > 0x1p5) return false;
    shift += moments.shift[j] * moments.shift[j], reach += moments.reach[j] * moments.reach[j];
  }
  return 16 * shift <= reach;
}

/// Where scores lie once they are added to `value`: all of them, and with all errors, in one binade of
/// float32, whose numbers are `unit` apart.
struct Origin {
  double value, unit;
  double norms;   ///< of a row times that of a centroid, at most; both shifted and scaled
  double reach;   ///< the norm of a row, at most; scaled, and shifted unless rows are taken as they are
  double offset;  ///< the norm of what is not taken from rows then

  Origin(const ColumnMoments& moments, const Spread& centroids, bool as_are) {
    const double scale = centroids.scale;
    reach = offset = 0;
    for (std::size_t j = 0; j < moments.reach.size(); ++j) {
      const double shift = as_are ? std::abs(moments.shift[j]) * scale : 0,
                   r = moments.reach[j] * scale + shift;
      reach += r * r, offset += shift * shift;
    }
    reach = std::sqrt(reach), offset = std::sqrt(offset);
    norms = (reach + offset) * std::sqrt(centroids.squared);
    const int exponent = std::ilogb(std::max(1.05 * (centroids.squared / 2 + norms), 0x1p-60)) + 1;
    value = std::ldexp(3.0, exponent), unit = std::ldexp(1.0, exponent - 22);
  }
  /// Units within which scores by chains of d multiply-adds in float32 decide nothing: each rounds to a unit,
  /// as does the origin of a centroid; operands were rounded to float32.
  [[nodiscard]] std::uint32_t open(index_t d) const {
    const double error = 0.5 * static_cast<double>(d + 1) + 0x1p-22 * norms / unit;
    return static_cast<std::uint32_t>(std::ceil(2.04 * error)) + 1;
  }
};

/// What a pass counts: rows with another label, those that were scored again, those that are listed as moves,
/// those of which scores of all rows leave two centroids; and centroids that are copies of earlier ones.
struct PassCounts {
  static constexpr index_t rescored = 1, moved = 2, of_two = 3, copies = 4, all = 5;
  std::array<std::uint64_t, all> of{};

  [[nodiscard]] AssignStats stats() const {
    AssignStats s;
    s.changed = static_cast<index_t>(of[0]), s.rescored = static_cast<index_t>(of[rescored] + of[of_two]);
    return s;
  }
};

/// Waits for the stream.
PassCounts fetch(const Context& ctx, const std::uint64_t* counters) {
  PassCounts counts;
  cuda::copy_bytes(ctx.stream, counts.of.data(), counters, sizeof counts.of);
  ctx.stream.synchronize();
  return counts;
}

constexpr index_t most_rows = index_t{1} << 27;  // of which lists are made

/// use(rows, labels and weights of theirs, number) for parts of the rows that are few enough to make lists
/// of.
template <class Use>
AssignStats for_parts(const Rows& x, PerRow<std::int32_t> labels, PerRow<const double> weights,
                      const Use& use) {
  AssignStats all;
  for (index_t i = 0; i < x.rows(); i += most_rows) {
    const index_t rows = std::min(most_rows, x.rows() - i);
    all += use(x.block(i, rows), labels.part(i, rows), weights.part(i, rows),
               static_cast<std::size_t>(i / most_rows));
  }
  return all;
}

/// Which rows a pass looks at: those of `loose` that belong to a part of all rows.
struct Looks {
  LooseRows::Pass at = LooseRows::Pass::every_row;
  LooseRows* loose = nullptr;
  std::size_t part = 0;
};

/// A pass whose sums, if it has any, are those of the centroids, or are added to `sums`.
AssignStats pass_over(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                      const PlacedCentroids& centroids, Scores scores, PerRow<std::int32_t> labels,
                      PerRow<const double> weights, const FixedPoint* unit, ClusterSums* sums, bool settled,
                      const Looks& looks = {}) {
  using Pass = LooseRows::Pass;
  const index_t n = x.rows(), k = centroids.count, d = x.cols();
  const cuda::DeviceInfo& device = ctx.stream.device();
  const Spread& spread = centroids.spread;
  const bool fast = scores == Scores::fast;
  const double scale = spread.scale, shrink = scale < 0x1p-900 ? scale : 1;
  const cuda::AssignProblem problem =
      cuda::assign_problem(x, k, needs_wide(moments, x.type(), scale), as_they_are(moments, x.type(), scale),
                           settled, fast, looks.at != Pass::every_row);
  const cuda::AssignPlans plans = cuda::assign_plans(problem, device);
  if (looks.at == Pass::with_room && !plans.again) {  // float64 alone is no way to look at loose rows
    looks.loose->keep(ctx, n, nullptr, n, false);
    return pass_over(ctx, x, moments, centroids, scores, labels, weights, unit, sums, settled);
  }
  const bool single = plans.scores && plans.scores->family == "assign_single";
  const Origin origin(moments, spread, single);
  const index_t padded = plans.padded;
  // The counters of the pass, zero at first, and behind them its sums where they are not elsewhere.
  const index_t counters = PassCounts::all + (sums == nullptr ? 0 : sum_words(k, d));
  const bool adds = sums != nullptr || centroids.sums != nullptr;
  // Scores of listed rows leave pairs of centroids, and some of all rows.
  const bool pairs_first =
      plans.scores && plans.scores->family == "assign_groups" && looks.at == Pass::every_row;
  const bool pairs_again = plans.again && plans.again->family != "assign_narrow";
  const index_t words = cuda::AssignProblem::mark_words(n);
  const index_t moving = adds ? n : 0;
  const index_t capacity = plans.scores ? n : moving;  // of the list, and later of the order of moves
  const index_t listed_words = plans.again ? words : 0;

  Workspace w;
  const std::size_t zeros = w.reserve<std::uint64_t>(counters + 2), columns = w.reserve<double>(padded * d),
                    half_norms = w.reserve<float>(padded), origins = w.reserve<float>(padded),
                    plain_origins = w.reserve<float>(single ? padded : 0),
                    negated = w.reserve<std::uint16_t>(
                        plans.scores ? padded * std::max(plans.steps * 32, 2 * d) : 0),
                    confirming = w.reserve<std::uint16_t>(
                        plans.confirms && plans.chunk > 0 ? padded * (plans.steps + 1) * 16 : 0),
                    marks = w.reserve<std::uint32_t>(plans.scores ? words : 0),
                    list = w.reserve<index_t>(capacity),
                    pairs = w.reserve<std::int32_t>(2 * (pairs_first || pairs_again ? n : 0)),
                    pair_marks = w.reserve<std::uint32_t>(pairs_first ? words : 0),
                    listed_marks = w.reserve<std::uint32_t>(listed_words),
                    moves = w.reserve<std::int32_t>(moving), before = w.reserve<std::int32_t>(moving),
                    places = w.reserve<std::uint32_t>(adds ? k + 1 : 0);
  w.get(ctx.stream);
  const double* const shift = centroids.shift;
  cuda::fill_bytes(ctx.stream, w.at<char>(zeros), 0, static_cast<std::size_t>(counters + 2) * 8);
  auto* const found = w.at<std::uint64_t>(zeros);
  std::uint64_t* const listed = found + PassCounts::rescored;
  auto* const largest = reinterpret_cast<float*>(found + counters);  // three of them

  cuda::launch(
      ctx, cuda::assign_prepare_plan(problem, plans), centroids.rows, centroids.first_column,
      static_cast<int>(k), static_cast<int>(padded), shift, scale, shrink, origin.value,
      w.at<double>(columns), w.at<float>(half_norms), w.at<float>(origins),
      single ? w.at<float>(plain_origins) : nullptr, plans.scores ? w.at<std::uint16_t>(negated) : nullptr,
      plans.confirms ? w.at<std::uint16_t>(confirming) : nullptr, largest, found + PassCounts::copies);
  SumsArgument to = sums_argument(sums == nullptr ? centroids.sums : found + PassCounts::all, centroids, d,
                                  unit, weights.data);
  if (adds) to.moves = {w.at<std::int32_t>(moves), w.at<std::int32_t>(before), found + PassCounts::moved};
  const RowsArgument rows(x);
  const CentroidsArgument c{centroids.rows,
                            w.at<double>(columns),
                            w.at<float>(half_norms),
                            static_cast<int>(k),
                            static_cast<int>(padded),
                            static_cast<int>(d),
                            shrink,
                            scale / shrink};
  const PairsArgument found_pairs{w.at<std::int32_t>(pairs), w.at<std::uint32_t>(pair_marks)};
  RoomArgument room;
  if (looks.at == Pass::with_room)
    room = {looks.loose->room(), single ? static_cast<float>(origin.offset * 1.001) : 0,
            static_cast<float>(origin.unit)};
  const std::uint32_t one = 1;  // which compilers do not know
  const auto score = [&](const cuda::KernelPlan& plan, const SelectionArgument& selection,
                         std::uint32_t* undecided) {
    const auto with = [&](const auto&... of_scores) {
      cuda::launch(ctx, plan, rows, selection, w.at<std::uint16_t>(negated), of_scores..., to, found);
    };
    if (plan.family == "assign_single")
      cuda::launch(ctx, plan, rows, w.at<std::uint16_t>(negated), w.at<float>(plain_origins),
                   static_cast<float>(1 / origin.unit), static_cast<float>(origin.reach * 1.001), one,
                   largest, scale, labels.data, undecided, room, to, found);
    else if (plan.family == "assign_narrow")
      with(w.at<float>(origins), one, origin.open(d), shift, scale, labels.data, undecided, room);
    else if (plans.confirms && plan.family == plans.scores->family)
      cuda::launch(ctx, plan, rows, selection, w.at<std::uint16_t>(confirming), w.at<float>(half_norms), 1.0F,
                   one, largest, shift, scale, labels.data, undecided, found_pairs, room, to, found);
    else
      with(w.at<float>(origins), static_cast<float>(0x1p-23 / origin.unit), one, largest, shift, scale,
           labels.data, undecided, found_pairs, room);
  };
  const auto gather = [&](std::size_t marked, std::uint64_t* count) {
    cuda::launch(ctx, cuda::assign_rows_plan("assign_gather", problem, words / 32 + 1, device), n,
                 w.at<std::uint32_t>(marked), w.at<index_t>(list), count);
    return SelectionArgument{w.at<index_t>(list), count};
  };
  const auto decide = [&](const SelectionArgument& selection, const std::uint32_t* undecided,
                          bool with_pairs) {
    cuda::launch(ctx, cuda::assign_rows_plan("assign_decide", problem, n, device), rows, c, selection,
                 undecided, with_pairs ? found_pairs.of_row : nullptr, labels.data, to, found);
  };
  SelectionArgument open;                 // every row
  std::uint32_t* still_marked = nullptr;  // all of them
  if (looks.at == Pass::loose_rows)
    open = looks.loose->of_part(looks.part);
  else if (plans.scores)
    score(*plans.scores, {}, w.at<std::uint32_t>(marks));
  if (pairs_first && !fast) decide(gather(pair_marks, found + PassCounts::of_two), nullptr, true);
  if (plans.scores && !fast && looks.at != Pass::loose_rows) open = gather(marks, listed);
  if (plans.again) {
    still_marked = w.at<std::uint32_t>(listed_marks);
    score(*plans.again, open, still_marked);
  }
  if (!plans.scores || !fast) decide(open, still_marked, pairs_again);
  const PassCounts counts = fetch(ctx, found);
  AssignStats stats = counts.stats();
  if (looks.at == Pass::with_room)
    looks.loose->keep(ctx, n, w.at<index_t>(list), stats.rescored, counts.of[PassCounts::copies] == 0);
  if (looks.at == Pass::loose_rows) {
    stats.rescored = looks.loose->count_of_part(looks.part);
    stats.skipped = n - stats.rescored;
  }
  if (!adds || stats.changed == 0) return stats;
  const index_t moved = static_cast<index_t>(counts.of[PassCounts::moved]);
  add_moves(ctx, x, labels, *unit, to, k, moved, {w.at<std::uint32_t>(places), w.at<std::uint32_t>(list)});
  if (sums != nullptr) add_fetched(ctx, found + PassCounts::all, *sums);
  return stats;
}

}  // namespace

AssignStats assign(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                   const PlacedCentroids& centroids, Scores scores, PerRow<std::int32_t> labels,
                   PerRow<const double> weights, const FixedPoint& unit, bool settled, LooseRows::Pass pass,
                   LooseRows* loose) {
  return for_parts(x, labels, weights,
                   [&](const Rows& part, auto their_labels, auto their_weights, std::size_t number) {
                     return pass_over(ctx, part, moments, centroids, scores, their_labels, their_weights,
                                      &unit, nullptr, settled, {pass, loose, number});
                   });
}

AssignStats assign(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                   HostView<const double> centroids, Scores scores, PerRow<std::int32_t> labels,
                   PerRow<const double> weights, const FixedPoint* unit, ClusterSums* sums, bool settled) {
  const index_t k = centroids.rows(), d = x.cols();
  return for_parts(x, labels, weights,
                   [&](const Rows& part, auto their_labels, auto their_weights, std::size_t) {
                     Parcel parcel(ctx, k * d + 2 * d + k);
                     PlacedCentroids placed;
                     placed.count = k;
                     placed.rows = parcel.next();
                     placed.spread = pack(ctx, parcel, centroids, moments);
                     placed.first_column = parcel.next();
                     parcel.add(centroids.block(0, 0, k, 1));
                     placed.shift = parcel.next();
                     parcel.add(moments.shift);
                     placed.to_units = parcel.next();
                     if (sums != nullptr) parcel.add(unit->to_units);
                     parcel.send();
                     return pass_over(ctx, part, moments, placed, scores, their_labels, their_weights, unit,
                                      sums, settled);
                   });
}

void add_rows(const Context& ctx, const Rows& x, const PlacedCentroids& centroids,
              PerRow<const std::int32_t> labels, PerRow<const double> weights, const FixedPoint& unit) {
  const index_t n = x.rows(), k = centroids.count;
  Workspace w;
  const std::size_t places = w.reserve<std::uint32_t>(k + 1),
                    order = w.reserve<std::uint32_t>(std::min(n, most_rows));
  w.get(ctx.stream);
  for (index_t i = 0; i < n; i += most_rows) {
    const index_t rows = std::min(most_rows, n - i);
    add_moves(ctx, x.block(i, rows), labels.part(i, rows), unit,
              sums_argument(centroids.sums, centroids, x.cols(), &unit, weights.part(i, rows).data), k, rows,
              {w.at<std::uint32_t>(places), w.at<std::uint32_t>(order)});
  }
}

void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments,
              PerRow<const std::int32_t> labels, PerRow<const double> weights, const FixedPoint& unit,
              ClusterSums& sums) {
  if (x.rows() == 0) return;
  const index_t words = sum_words(sums.clusters(), x.cols());
  Parcel parcel(ctx, 2 * x.cols());
  PlacedCentroids placed;
  placed.count = sums.clusters();
  placed.shift = parcel.next();
  parcel.add(moments.shift);
  placed.to_units = parcel.next();
  parcel.add(unit.to_units);
  parcel.send();
  const cuda::Memory added(ctx.stream, static_cast<std::size_t>(words) * 8);
  placed.sums = static_cast<std::uint64_t*>(added.data());
  cuda::fill_bytes(ctx.stream, placed.sums, 0, static_cast<std::size_t>(words) * 8);
  add_rows(ctx, x, placed, labels, weights, unit);
  add_fetched(ctx, placed.sums, sums);
}

}  // namespace ts::assign_device
