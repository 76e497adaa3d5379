#include "tallskinny/gemm/assign/cuda/assign_device.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tallskinny/gemm/assign/assign_detail.hpp"
#include "tallskinny/gemm/assign/cuda/assign_kernel.hpp"
#include "tallskinny/gemm/assign/cuda/device_arguments.hpp"
#include "tallskinny/gemm/assign/cuda/sums_device.hpp"
#include "tallskinny/gemm/backend/cuda/launch.hpp"

namespace ts::assign_device {

namespace {

/// How far from the shift centroids lie.
struct Spread {
  double scale = 1;    ///< the inverse power of two of the largest |c_j - shift_j|, of rows, too
  double squared = 0;  ///< the largest ||(c - shift) scale||^2
};

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
  double norms;  ///< of a row times that of a centroid, at most; both shifted and scaled
  double reach;  ///< the norm of a row, at most; scaled, and shifted unless rows are taken as they are

  Origin(const ColumnMoments& moments, const Spread& centroids, bool as_are) {
    const double scale = centroids.scale;
    double offset = 0;
    reach = 0;
    for (std::size_t j = 0; j < moments.reach.size(); ++j) {
      const double shift = as_are ? std::abs(moments.shift[j]) * scale : 0,
                   r = moments.reach[j] * scale + shift;
      reach += r * r, offset += shift * shift;
    }
    reach = std::sqrt(reach);
    norms = (reach + std::sqrt(offset)) * std::sqrt(centroids.squared);
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

constexpr index_t most_rows = index_t{1} << 27;  // of which lists are made

/// What a pass counts: rows with another label, those that were scored again, and those that are listed as
/// moves.
struct PassCounts {
  static constexpr index_t rescored = 1, moved = 2, all = 3;
  std::array<std::uint64_t, all> of{};

  [[nodiscard]] AssignStats stats() const {
    AssignStats s;
    s.changed = static_cast<index_t>(of[0]), s.rescored = static_cast<index_t>(of[rescored]);
    return s;
  }
};

/// The sums of one pass in device memory, all zero at first, behind the counters of the pass.
class PassSums {
 public:
  static constexpr index_t counters = PassCounts::all;

  PassSums(index_t k, index_t d, bool sums)
      : k_(k), d_(d), words_(counters + (sums ? 2 * k * d + 3 * k : 0)) {}
  [[nodiscard]] index_t words() const noexcept { return words_; }

  [[nodiscard]] SumsArgument argument(std::uint64_t* first, const FixedPoint* unit, const double* to_units,
                                      const double* shift, const double* weights) const {
    SumsArgument a;
    a.to_units = to_units, a.shift = shift, a.weights = weights;
    if (unit == nullptr) return a;
    a.upper = first + counters, a.lower = a.upper + k_ * d_;
    a.weight_upper = a.lower + k_ * d_, a.weight_lower = a.weight_upper + k_, a.counts = a.weight_lower + k_;
    a.one = std::ldexp(1.0, unit->bits), a.weight_to_units = unit->weight_to_units;
    return a;
  }
  /// Waits for the stream.
  [[nodiscard]] static PassCounts fetch_counts(const Context& ctx, const std::uint64_t* first) {
    PassCounts counts;
    cuda::copy_bytes(ctx.stream, counts.of.data(), first, sizeof counts.of);
    ctx.stream.synchronize();
    return counts;
  }
  void fetch_sums(const Context& ctx, const std::uint64_t* first, ClusterSums& sums) const {
    const cuda::Stream& stream = ctx.stream;
    const auto count = static_cast<std::size_t>(words_ - counters);
    const std::size_t bytes = count * sizeof(std::uint64_t);
    stream.staging().begin(stream, cuda::Staging::rounded(bytes));
    const cuda::Staging::Stretch found = stream.staging().take(bytes);
    cuda::copy_bytes(stream, found.host, first + counters, bytes);
    stream.synchronize();
    sums.add_words({static_cast<const std::uint64_t*>(found.host), count}, ctx.thread_count());
  }

 private:
  index_t k_, d_, words_;
};

}  // namespace

AssignStats assign(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                   HostView<const double> centroids, PerRow<std::int32_t> labels,
                   PerRow<const double> weights, const FixedPoint* unit, ClusterSums* sums,
                   bool settled) {
  const index_t n = x.rows(), k = centroids.rows(), d = x.cols();
  if (n == 0) return {};
  if (n > most_rows) {
    AssignStats all;
    for (index_t i = 0; i < n; i += most_rows) {
      const index_t rows = std::min(most_rows, n - i);
      all += assign(ctx, x.block(i, rows), moments, centroids, labels.part(i, rows),
                    weights.empty() ? PerRow<const double>() : weights.part(i, rows), unit, sums, settled);
    }
    return all;
  }
  const cuda::DeviceInfo& device = ctx.stream.device();
  Parcel parcel(ctx, k * d + 2 * d + k);
  const Spread spread = pack(ctx, parcel, centroids, moments);
  const double scale = spread.scale, shrink = scale < 0x1p-900 ? scale : 1;
  const cuda::AssignProblem problem =
      cuda::assign_problem(x, k, needs_wide(moments, x.type(), scale), as_they_are(moments, x.type(), scale), settled);
  const cuda::AssignPlans plans = cuda::assign_plans(problem, device);
  const bool single = plans.scores && plans.scores->family == "assign_single";
  const Origin origin(moments, spread, single);
  const index_t padded = plans.padded;
  const FixedPoint* const used = sums == nullptr ? nullptr : unit;

  parcel.add(moments.shift);
  if (used != nullptr) parcel.add(used->to_units);
  const index_t first_column = parcel.size();
  parcel.add(centroids.block(0, 0, k, 1));
  const PassSums pass(k, d, sums != nullptr);
  const bool paired = plans.again && plans.again->family == "assign_groups";
  const index_t words = cuda::AssignProblem::mark_words(n);
  const index_t moving = used == nullptr ? 0 : n;
  const index_t capacity = plans.scores ? n : moving;  // of the list, and later of the order of moves
  const index_t listed_words = plans.again ? words : 0;

  Workspace w;
  const std::size_t sent = w.reserve<double>(parcel.size()),
                    zeros = w.reserve<std::uint64_t>(pass.words() + 2),
                    columns = w.reserve<double>(padded * d), half_norms = w.reserve<float>(padded),
                    origins = w.reserve<float>(padded), plain_origins = w.reserve<float>(single ? padded : 0),
                    negated = w.reserve<std::uint16_t>(
                        plans.scores ? padded * std::max(plans.steps * 32, 2 * d) : 0),
                    confirming = w.reserve<std::uint16_t>(plans.confirms ? padded * (plans.steps + 1) * 16 : 0),
                    marks = w.reserve<std::uint32_t>(plans.scores ? words : 0),
                    list = w.reserve<index_t>(capacity),
                    pairs = w.reserve<std::int32_t>(2 * (paired ? n : 0)),
                    listed_marks = w.reserve<std::uint32_t>(listed_words),
                    moves = w.reserve<std::int32_t>(moving), before = w.reserve<std::int32_t>(moving),
                    places = w.reserve<std::uint32_t>(used == nullptr ? 0 : k + 1);
  w.get(ctx.stream);
  double* const numbers = w.at<double>(sent);
  double* const shift = numbers + k * d;
  parcel.send(numbers);
  cuda::fill_bytes(ctx.stream, w.at<char>(zeros), 0, static_cast<std::size_t>(pass.words() + 2) * 8);
  auto* const found = w.at<std::uint64_t>(zeros);
  std::uint64_t* const listed = found + PassCounts::rescored;
  auto* const largest = reinterpret_cast<float*>(found + pass.words());  // three of them

  cuda::launch(ctx, cuda::assign_prepare_plan(problem, plans), numbers, numbers + first_column,
               static_cast<int>(k), static_cast<int>(padded), shift, scale, shrink, origin.value,
               w.at<double>(columns), w.at<float>(half_norms), w.at<float>(origins),
               single ? w.at<float>(plain_origins) : nullptr,
               plans.scores ? w.at<std::uint16_t>(negated) : nullptr,
               plans.confirms ? w.at<std::uint16_t>(confirming) : nullptr, largest);
  SumsArgument to = pass.argument(found, used, shift + d, shift, weights.data);
  if (used != nullptr)
    to.moves = {w.at<std::int32_t>(moves), w.at<std::int32_t>(before), found + PassCounts::moved};
  const RowsArgument rows(x);
  const CentroidsArgument c{w.at<double>(columns), w.at<float>(half_norms),
                            static_cast<int>(k),   static_cast<int>(padded),
                            static_cast<int>(d),   shrink,
                            scale / shrink};
  std::int32_t* const pairs_there = paired ? w.at<std::int32_t>(pairs) : nullptr;
  const std::uint32_t one = 1;  // which compilers do not know
  const auto score = [&](const cuda::KernelPlan& plan, const SelectionArgument& selection,
                         std::uint32_t* undecided) {
    const auto with = [&](const auto&... of_scores) {
      cuda::launch(ctx, plan, rows, selection, w.at<std::uint16_t>(negated), of_scores..., to, found);
    };
    if (plan.family == "assign_single")
      cuda::launch(ctx, plan, rows, w.at<std::uint16_t>(negated), w.at<float>(plain_origins),
                   static_cast<float>(1 / origin.unit), static_cast<float>(origin.reach * 1.001), one,
                   largest, scale, labels.data, undecided, to, found);
    else if (plan.family == "assign_narrow")
      with(w.at<float>(origins), one, origin.open(d), shift, scale, labels.data, undecided);
    else if (plans.confirms && plan.family == plans.scores->family)
      cuda::launch(ctx, plan, rows, selection, w.at<std::uint16_t>(confirming), w.at<float>(half_norms), 1.0F, one,
                   largest, shift, scale, labels.data, undecided, pairs_there, to, found);
    else
      with(w.at<float>(origins), static_cast<float>(0x1p-23 / origin.unit), one, largest, shift, scale,
           labels.data, undecided, pairs_there);
  };
  SelectionArgument open;                 // every row
  std::uint32_t* still_marked = nullptr;  // all of them
  if (plans.scores) {
    score(*plans.scores, {}, w.at<std::uint32_t>(marks));
    open = {w.at<index_t>(list), listed};
    cuda::launch(ctx, cuda::assign_rows_plan("assign_gather", problem, words / 32 + 1, device), n,
                 w.at<std::uint32_t>(marks), w.at<index_t>(list), listed);
  }
  if (plans.again) {
    still_marked = w.at<std::uint32_t>(listed_marks);
    score(*plans.again, open, still_marked);
  }
  cuda::launch(ctx, cuda::assign_rows_plan("assign_decide", problem, n, device), rows, c, open, still_marked,
               pairs_there, labels.data, to, found);
  const PassCounts counts = PassSums::fetch_counts(ctx, found);
  const AssignStats stats = counts.stats();
  if (used == nullptr || stats.changed == 0) return stats;
  add_moves(ctx, x, labels, *used, to, k, static_cast<index_t>(counts.of[PassCounts::moved]),
            {w.at<std::uint32_t>(places), w.at<std::uint32_t>(list)});
  pass.fetch_sums(ctx, found, *sums);
  return stats;
}

void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments,
              PerRow<const std::int32_t> labels, PerRow<const double> weights, const FixedPoint& unit,
              ClusterSums& sums) {
  const index_t n = x.rows(), d = x.cols(), k = sums.clusters();
  if (n == 0) return;
  Parcel parcel(ctx, 2 * d);
  parcel.add(moments.shift);
  parcel.add(unit.to_units);
  const PassSums pass(k, d, true);
  Workspace w;
  const std::size_t sent = w.reserve<double>(parcel.size()), zeros = w.reserve<std::uint64_t>(pass.words()),
                    places = w.reserve<std::uint32_t>(k + 1),
                    order = w.reserve<std::uint32_t>(std::min(n, most_rows));
  w.get(ctx.stream);
  parcel.send(w.at<double>(sent));
  cuda::fill_bytes(ctx.stream, w.at<char>(zeros), 0, static_cast<std::size_t>(pass.words()) * 8);
  double* const shift = w.at<double>(sent);
  auto* const found = w.at<std::uint64_t>(zeros);
  for (index_t i = 0; i < n; i += most_rows) {
    const index_t rows = std::min(most_rows, n - i);
    add_moves(ctx, x.block(i, rows), labels.part(i, rows), unit,
              pass.argument(found, &unit, shift + d, shift, weights.part(i, rows).data), k, rows,
              {w.at<std::uint32_t>(places), w.at<std::uint32_t>(order)});
  }
  pass.fetch_sums(ctx, found, sums);
}

}  // namespace ts::assign_device
