#include "tallskinny/gemm/assign/cuda/assign_device.hpp"

#include <cmath>

#include "tallskinny/gemm/assign/assign_detail.hpp"
#include "tallskinny/gemm/assign/cuda/assign_kernel.hpp"
#include "tallskinny/gemm/assign/cuda/device_arguments.hpp"
#include "tallskinny/gemm/backend/cuda/launch.hpp"

namespace ts::assign_device {

namespace {

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

/// The sums of one pass in device memory, all zero at first, behind the two counters of the pass.
class PassSums {
 public:
  static constexpr index_t counters = 2;

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
  /// Waits for the stream, and adds what it left.
  [[nodiscard]] AssignStats fetch(const cuda::Stream& stream, const std::uint64_t* first,
                                  ClusterSums* sums) const {
    std::vector<std::uint64_t> found(static_cast<std::size_t>(words_));
    cuda::copy_bytes(stream, found.data(), first, found.size() * sizeof(std::uint64_t));
    stream.synchronize();
    if (sums != nullptr) sums->add_words(std::span(found).subspan(counters));
    AssignStats stats;
    stats.changed = static_cast<index_t>(found[0]), stats.rescored = static_cast<index_t>(found[1]);
    return stats;
  }

 private:
  index_t k_, d_, words_;
};

}  // namespace

AssignStats assign(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                   HostView<const double> centroids, PerRow<std::int32_t> labels,
                   PerRow<const double> weights, const FixedPoint* unit, ClusterSums* sums) {
  const index_t n = x.rows(), k = centroids.rows(), d = x.cols();
  if (n == 0) return {};
  const cuda::DeviceInfo& device = ctx.stream.device();
  const double scale = assign_detail::scoring_scale(centroids, moments);
  const double shrink = scale < 0x1p-900 ? scale : 1;
  const cuda::AssignProblem problem = cuda::assign_problem(x, k, needs_wide(moments, x.type(), scale));
  const auto scores = cuda::assign_scores_plan(problem, device);
  const index_t padded = cuda::padded_centroids(k), steps = cuda::column_steps(d);
  const bool fragments = scores && scores->family == "assign_scores";
  const FixedPoint* const used = sums == nullptr ? nullptr : unit;

  Parcel parcel;
  parcel.add(centroids);
  parcel.add(moments.shift);
  if (used != nullptr) parcel.add(used->to_units);
  const PassSums pass(k, d, sums != nullptr);
  const index_t words = cuda::AssignProblem::mark_words(n);

  Workspace w;
  const std::size_t sent = w.reserve<double>(parcel.size()),
                    zeros = w.reserve<std::uint64_t>(pass.words() + 2),
                    columns = w.reserve<double>(padded * d), half_norms = w.reserve<float>(padded),
                    negated = w.reserve<std::uint16_t>(scores ? padded * steps * 32 : 0),
                    marks = w.reserve<std::uint32_t>(scores ? words : 0);
  w.get(ctx.stream);
  double* const numbers = w.at<double>(sent);
  double* const shift = numbers + k * d;
  parcel.send(ctx.stream, numbers);
  cuda::fill_bytes(ctx.stream, w.at<char>(zeros), 0, static_cast<std::size_t>(pass.words() + 2) * 8);
  auto* const found = w.at<std::uint64_t>(zeros);
  auto* const largest = reinterpret_cast<float*>(found + pass.words());  // three of them

  cuda::launch(ctx, cuda::assign_prepare_plan(problem, fragments), numbers, static_cast<int>(k),
               static_cast<int>(padded), shift, scale, shrink, w.at<double>(columns), w.at<float>(half_norms),
               scores ? w.at<std::uint16_t>(negated) : nullptr, largest);
  const SumsArgument to = pass.argument(found, used, shift + d, shift, weights.data);
  const RowsArgument rows(x);
  std::uint32_t* undecided = nullptr;
  if (scores) {
    undecided = w.at<std::uint32_t>(marks);
    // The kernel leaves marks in whole tiles of rows, which may be half a word.
    cuda::fill_bytes(ctx.stream, undecided + words - 2, 0, 2 * sizeof *undecided);
    cuda::launch(ctx, *scores, rows, w.at<std::uint16_t>(negated), w.at<float>(half_norms), largest, shift,
                 scale, labels.data, undecided, to, found);
  }
  const CentroidsArgument c{w.at<double>(columns), w.at<float>(half_norms),
                            static_cast<int>(k),   static_cast<int>(padded),
                            static_cast<int>(d),   shrink,
                            scale / shrink};
  cuda::launch(ctx, cuda::assign_rows_plan("assign_decide", problem, words, device), rows, c, undecided,
               labels.data, to, found);
  AssignStats stats = pass.fetch(ctx.stream, found, sums);
  if (!scores) stats.rescored = 0;  // every row was decided in float64 the first time
  return stats;
}

void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments,
              PerRow<const std::int32_t> labels, PerRow<const double> weights, const FixedPoint& unit,
              ClusterSums& sums) {
  const index_t n = x.rows(), d = x.cols();
  if (n == 0) return;
  Parcel parcel;
  parcel.add(moments.shift);
  parcel.add(unit.to_units);
  const PassSums pass(sums.clusters(), d, true);
  Workspace w;
  const std::size_t sent = w.reserve<double>(parcel.size()), zeros = w.reserve<std::uint64_t>(pass.words());
  w.get(ctx.stream);
  parcel.send(ctx.stream, w.at<double>(sent));
  cuda::fill_bytes(ctx.stream, w.at<char>(zeros), 0, static_cast<std::size_t>(pass.words()) * 8);
  double* const shift = w.at<double>(sent);
  auto* const found = w.at<std::uint64_t>(zeros);
  const auto problem = cuda::assign_problem(x, sums.clusters(), true);
  cuda::launch(ctx, cuda::assign_rows_plan("assign_add", problem, (n + 31) / 32, ctx.stream.device()),
               RowsArgument(x), static_cast<int>(d), labels.data,
               pass.argument(found, &unit, shift + d, shift, weights.data));
  (void)pass.fetch(ctx.stream, found, &sums);
}

}  // namespace ts::assign_device
