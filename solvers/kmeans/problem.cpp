#include "tallskinny/solvers/kmeans/problem_detail.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/means_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding/potential.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

/// use(labels where the rows are).
template <class Use>
void with_labels(const KMeansProblem& p, std::span<const std::int32_t> labels, Use&& use) {
  if (p.source.space() == Space::host) return use(PerRow<const std::int32_t>(labels));
  const auto there = p.beside_rows(std::vector<std::int32_t>(labels.begin(), labels.end()));
  use(there.view());
}

/// Squares of coordinates, and of differences, of this size are normal numbers in float64.
constexpr double largest_coordinate = 0x1p500, smallest_spread = 0x1p-480, smallest_weight = 0x1p-480;
/// Beyond this a sum of weighted squares could overflow.
constexpr long double largest_sum = 0x1p1020L;

using Of = KMeansRangeError::Of;

[[noreturn]] void refuse_range(Of of, const std::string& what) {
  throw KMeansRangeError(of, what + "; multiply by a power of two to bring them nearer to 1");
}

double heaviest_of(const KMeansProblem& p) {
  const double here = p.weights.empty() ? 0 : *std::max_element(p.weights.begin(), p.weights.end());
  return max_of_ranks(p.ctx, here);
}

/// The smallest positive weight on all ranks.
double lightest_of(const KMeansProblem& p) {
  double lightest = inf;
  for (const double weight : p.weights)
    if (weight > 0) lightest = std::min(lightest, weight);
  return min_of_ranks(p.ctx, lightest);
}

/// Every |x_ij| is at most that.
double largest_of(const ColumnMoments& moments, std::size_t j) {
  return moments.max_abs[j] + std::abs(moments.shift[j]);
}

}  // namespace

void check_coordinates(const ColumnMoments& moments) {
  for (std::size_t j = 0; j < moments.max_abs.size(); ++j)
    if (largest_of(moments, j) > largest_coordinate)
      refuse_range(Of::points, "the points have coordinates beyond 2^500, whose squared distances overflow float64");
}

void check_weight_range(const KMeansProblem& p) {
  if (!p.weighted()) return;
  const double heaviest = heaviest_of(p);
  if (heaviest < smallest_weight) refuse_range(Of::weights, "all weights are below 2^-480, too small for float64 sums");
  double squares = 0;  // n w 4 times this bounds the inertia
  for (std::size_t j = 0; j < p.moments.max_abs.size(); ++j) squares += std::pow(largest_of(p.moments, j), 2);
  squares = max_of_ranks(p.ctx, squares);
  if (heaviest * static_cast<long double>(p.all_rows()) * std::max(1.0L, 4.0L * squares) > largest_sum)
    refuse_range(Of::weights, "the weights are so large that the weighted sums overflow float64");
}

void RowsDiffer::inspect(const Rows& block) {
  std::vector<double> row(at(block.cols()));
  for (index_t i = 0; !enough_ && i < block.rows(); ++i) {
    block.load(i, row.data());
    if (first_.empty()) first_ = row;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double difference = std::abs(row[j] - first_[j]);
      enough_ = enough_ || difference >= smallest_spread;
      little_ = little_ || difference > 0;
    }
  }
}

void RowsDiffer::check(const Context& ctx) const {
  if (!any_rank(ctx, enough_) && any_rank(ctx, little_))
    refuse_range(Of::points, "the points differ by less than 2^-480, and squares of that vanish in float64");
}

void KMeansProblem::load_here(index_t i, double* row) const {
  source.load(i, row);
  if (!scale.empty())
    for (index_t j = 0; j < cols(); ++j) row[j] *= scale[at(i)];
}

void KMeansProblem::load(index_t i, double* row) const {
  if (!distributed()) return load_here(i, row);
  load_rows({&i, 1}, {row, 1, cols()});
}

void KMeansProblem::load_rows(std::span<const index_t> numbers, HostView<double> out) const {
  if (!distributed()) return load_rows_here(numbers, out);
  const std::vector<index_t> here = here_of(numbers);
  std::vector<double> mine(here.size() * at(cols()));
  agreed(ctx, [&] { load_rows_here(here, {mine.data(), std::ssize(here), cols()}); });
  const std::vector<double> all = gather_from_owners(ctx, numbers, std::move(mine), cols());
  for (std::size_t q = 0; q < numbers.size(); ++q)
    std::copy_n(all.data() + static_cast<index_t>(q) * cols(), cols(), out.data() + static_cast<index_t>(q) * out.ld());
}

void KMeansProblem::load_rows_here(std::span<const index_t> numbers, HostView<double> out) const {
  constexpr std::size_t few = 64;  // single rows of a file cost less than a pass over all
  const bool gathered = source.in_memory() ? source.space() == Space::device : numbers.size() > few;
  if (!gathered) {
    constexpr index_t worth_a_thread = 1 << 18;  // numbers
    const index_t team = source.in_memory() ? 1 + std::ssize(numbers) * cols() / worth_a_thread : 1;
    parallel_for(static_cast<int>(std::min<index_t>(team, ctx.thread_count())), std::ssize(numbers),
                 [&](index_t q) { load_here(numbers[at(q)], out.data() + q * out.ld()); });
    return;
  }
  for_each_block_here([&](index_t first, const Rows& block) {
    std::vector<index_t> local, places;
    for (std::size_t q = 0; q < numbers.size(); ++q)
      if (const index_t i = numbers[q] - first; i >= 0 && i < block.rows())
        local.push_back(i), places.push_back(static_cast<index_t>(q));
    if (local.size() == numbers.size()) return gather_rows(ctx, block, local, out);
    Matrix<double> found(std::ssize(local), cols());
    gather_rows(ctx, block, local, found.view());
    for (index_t q = 0; q < found.rows(); ++q)
      std::copy_n(found.data() + q * cols(), cols(), out.data() + places[at(q)] * out.ld());
  });
}

template <class T>
PerRowArray<T> KMeansProblem::rows_as(std::span<const index_t> numbers, PerRowArray<T> storage) const {
  const index_t count = std::ssize(numbers) * cols();
  auto all = source.space() == Space::host ? PerRowArray<T>(count, std::move(storage))
                                           : PerRowArray<T>(ctx, Space::device, count, 0);
  for_each_block([&](index_t first_here, const Rows& block) {
    const index_t first = first_row() + first_here;
    const auto from = std::lower_bound(numbers.begin(), numbers.end(), first),
               to = std::lower_bound(from, numbers.end(), first + block.rows());
    std::vector<index_t> local(from, to);
    for (index_t& i : local) i -= first;
    gather_rows<T>(ctx, block, local, all.view().part((from - numbers.begin()) * cols(), std::ssize(local) * cols()));
  });
  if (!distributed()) return all;
  std::vector<std::size_t> offsets;
  for (int r = 0; r <= ctx.slabs.slabs(); ++r)
    offsets.push_back(at((std::lower_bound(numbers.begin(), numbers.end(), ctx.slabs.begin(r)) - numbers.begin()) *
                         cols() * static_cast<index_t>(sizeof(T))));
  auto* const bytes = reinterpret_cast<std::byte*>(all.view().data);
  const bool there = source.space() == Space::device ? ctx.communicator->all_gather(ctx.stream, bytes, offsets)
                                                     : ctx.communicator->all_gather(bytes, offsets);
  expects(there, "k-means: ranks one after the other cannot share rows");
  return all;
}
template PerRowArray<float> KMeansProblem::rows_as<float>(std::span<const index_t>, PerRowArray<float>) const;
template PerRowArray<double> KMeansProblem::rows_as<double>(std::span<const index_t>, PerRowArray<double>) const;

void KMeansProblem::place_weights() {
  if (source.space() == Space::device && !weights.empty())
    weights_there =
        std::make_shared<const PerRowArray<double>>(beside_rows(std::vector<double>(weights.begin(), weights.end())));
}

void KMeansProblem::find_moments() {
  place_weights();
  MomentsOfBlocks found(cols());
  const auto again = [this](const auto& use) { for_each_block_here([&](index_t, const Rows& block) { use(block); }); };
  for_each_block([&](index_t, const Rows& block) { found.first_round(ctx, block); });
  found.end_round(ctx, again);
  RowScales scales(*this);
  for_each_block([&](index_t first, const Rows& block) {
    found.second_round(ctx, block);
    scales.inspect(first, block);
  });
  found.end_round(ctx, again);
  moments = std::move(found).finish();
  check_coordinates(moments);
  const double spread = moments.max_abs.empty() ? 0 : *std::max_element(moments.max_abs.begin(), moments.max_abs.end());
  if (spread > 0 && spread < smallest_spread) {
    std::vector<double> first(at(cols()));
    load(0, first.data());
    RowsDiffer differ(std::move(first));
    for_each_block([&](index_t, const Rows& block) { differ.inspect(block); });
    differ.check(ctx);
  }
  check_weight_range(*this);
  wide_rows = scales.differ_widely(moments);
  wide_weights = weighted() && lightest_of(*this) < heaviest_of(*this) * 0x1p-10;
}

AssignStats assign_all(const KMeansProblem& p, HostView<const double> centers, Scores scores,
                       std::span<std::int32_t> labels, RowBounds* bounds) {
  AssignStats stats;
  const auto pass = [&](PerRow<std::int32_t> there) {
    p.for_each_block([&](index_t first, const Rows& block) {
      AssignArguments of{block, p.moments, centers, scores, there.part(first, block.rows())};
      of.bounds = {bounds, first};
      stats += assign(p.ctx, of);
    });
  };
  if (p.source.space() == Space::host) {
    pass(labels);
    return sum_of_ranks(p.ctx, stats);
  }
  auto there = p.beside_rows(std::vector<std::int32_t>(labels.begin(), labels.end()));
  pass(there.view());
  const std::vector<std::int32_t> found = there.to_host();
  std::copy(found.begin(), found.end(), labels.begin());
  return sum_of_ranks(p.ctx, stats);
}

index_t label_all(const KMeansProblem& p, HostView<const double> centers, Scores scores,
                  std::vector<std::int32_t>& labels) {
  labels.assign(at(p.rows()), -1);
  const index_t rescored = assign_all(p, centers, scores, labels).rescored;
  for (const index_t i : p.directionless) labels[at(i)] = 0;
  return rescored;
}

double inertia_of(const KMeansProblem& p, HostView<const double> centers, std::span<const std::int32_t> labels) {
  std::vector<double> parts;
  with_labels(p, labels, [&](PerRow<const std::int32_t> there) {
    p.for_each_block([&](index_t first, const Rows& block) {
      const std::vector<double> more =
          chunk_inertias(p.ctx, block, centers, there.part(first, block.rows()), p.weights_of(first, block.rows()));
      parts.insert(parts.end(), more.begin(), more.end());
    });
  });
  return sum_of_chunks(p, std::move(parts));
}

double sum_of_chunks(const KMeansProblem& p, std::vector<double> parts) {
  if (p.distributed()) parts = gather_lists<double>(p.ctx, parts);
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (!std::isfinite(sum)) refuse_range(Of::points, "the inertia of points and centres is too large for float64");
  return sum;
}

std::vector<double> own_distances(const KMeansProblem& p, HostView<const double> centers,
                                  std::span<const std::int32_t> labels) {
  std::vector<double> found(labels.size());
  with_labels(p, labels, [&](PerRow<const std::int32_t> there) {
    p.for_each_block([&](index_t first, const Rows& block) {
      own_squared_distances(p.ctx, block, centers, there.part(first, block.rows()),
                            KMeansProblem::part(std::span(found), first, block.rows()));
    });
  });
  return found;
}

FixedPoint unit_of(const KMeansProblem& p) {
  return {p.moments.max_abs, p.weighted() ? heaviest_of(p) : 1.0, p.all_rows()};
}

std::vector<index_t> sizes_of(const Context& ctx, std::span<const std::int32_t> labels, index_t k) {
  std::vector<std::uint64_t> sizes(at(k));
  for (const std::int32_t label : labels) ++sizes[at(label)];
  ctx.communicator->add(sizes);
  return {sizes.begin(), sizes.end()};
}

AdjustMean adjust_means(bool spherical) {
  if (!spherical) return {};
  return [](std::span<double> mean) { return normalise(HostView<double>(mean.data(), 1, std::ssize(mean))) == 0; };
}

index_t normalise(HostView<double> centers) {
  index_t zero = 0;
  for (index_t m = 0; m < centers.rows(); ++m) {
    double largest = 0;
    for (index_t j = 0; j < centers.cols(); ++j) largest = std::max(largest, std::abs(centers(m, j)));
    if (largest == 0) {
      ++zero;
      continue;
    }
    long double sum = 0;
    for (index_t j = 0; j < centers.cols(); ++j) {
      const long double part = static_cast<long double>(centers(m, j)) / largest;
      sum += part * part;
    }
    const long double norm = largest * std::sqrt(sum);
    // Leaves what was normalised before as it is: predicting with stored centres gives the stored labels.
    if (std::abs(norm - 1) <= 2 * std::numeric_limits<double>::epsilon()) continue;
    for (index_t j = 0; j < centers.cols(); ++j)
      centers(m, j) = static_cast<double>(static_cast<long double>(centers(m, j)) / norm);
  }
  return zero;
}

void check_labels(const Context& ctx, const RowSource& rows, std::span<const std::int32_t> labels, index_t k) {
  expects(rows.space() == Space::host, "the points must be in host memory");
  agreed(ctx, [&] {
    expects(static_cast<index_t>(labels.size()) == rows.rows(), "one label is needed for each point");
    expects(std::all_of(labels.begin(), labels.end(), [k](std::int32_t m) { return m >= 0 && m < k; }),
            "a label is not the number of a centre");
  });
}

void check_centers(index_t cols, HostView<const double> centers) {
  if (centers.cols() != cols)
    throw Error(Errc::invalid_argument, "the centres have " + std::to_string(centers.cols()) +
                                            " features but the points have " + std::to_string(cols));
  for (index_t m = 0; m < centers.rows(); ++m)
    for (index_t j = 0; j < centers.cols(); ++j)
      if (!std::isfinite(centers(m, j)))
        throw Error(Errc::invalid_argument,
                    "centre " + std::to_string(m) + " (counted from 0) has a NaN or infinite coordinate");
}

Matrix<double> usable_centers(index_t cols, HostView<const double> centers, KMeansMetric metric) {
  check_centers(cols, centers);
  if (metric == KMeansMetric::euclidean)
    for (index_t m = 0; m < centers.rows(); ++m)
      for (index_t j = 0; j < centers.cols(); ++j)
        if (std::abs(centers(m, j)) > largest_coordinate)
          refuse_range(Of::centers,
                       "centre " + std::to_string(m) +
                           " (counted from 0) has a coordinate beyond 2^500, whose square overflows float64");
  auto copy = Matrix<double>::copy_of(centers);
  if (metric == KMeansMetric::cosine && normalise(copy.view()) > 0)
    throw Error(Errc::invalid_argument, "a centre is zero and has no direction, which the cosine metric needs");
  return copy;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
