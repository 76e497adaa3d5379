#include "tallskinny/solvers/kmeans/problem_detail.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tallskinny/gemm/assign/seeding/potential.hpp"

namespace ts::solvers::kmeans_detail {

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

bool all_equal(const KMeansProblem& p) {
  std::vector<double> first(at(p.cols())), row(first);
  p.load(0, first.data());
  for (index_t i = 1; i < p.rows(); ++i) {
    p.load(i, row.data());
    if (row != first) return false;
  }
  return true;
}

/// Every |x_ij| is at most reach_j + |shift_j|, so n w 4 sum_j (reach_j + |shift_j|)^2 bounds the inertia.
void check_range(const KMeansProblem& p) {
  double largest = 0, spread = 0;
  long double squares = 0;
  for (std::size_t j = 0; j < p.moments.reach.size(); ++j) {
    const double coordinate = p.moments.reach[j] + std::abs(p.moments.shift[j]);
    largest = std::max(largest, coordinate);
    spread = std::max(spread, p.moments.reach[j]);
    squares += static_cast<long double>(coordinate) * coordinate;
  }
  if (largest > largest_coordinate)
    refuse_range(Of::points, "the points have coordinates beyond 2^500, whose squared distances overflow float64");
  if (spread > 0 && spread < smallest_spread && !all_equal(p))
    refuse_range(Of::points, "the points differ by less than 2^-480, and squares of that vanish in float64");
  if (p.weights.empty()) return;
  const double heaviest = *std::max_element(p.weights.begin(), p.weights.end());
  if (heaviest < smallest_weight) refuse_range(Of::weights, "all weights are below 2^-480, too small for float64 sums");
  if (heaviest * static_cast<long double>(p.rows()) * std::max({1.0L, 4 * squares}) > largest_sum)
    refuse_range(Of::weights, "the weights are so large that the weighted sums overflow float64");
}

}  // namespace

void KMeansProblem::load(index_t i, double* row) const {
  source.load(i, row);
  if (!scale.empty())
    for (index_t j = 0; j < cols(); ++j) row[j] *= scale[at(i)];
}

void KMeansProblem::load_rows(std::span<const index_t> numbers, HostView<double> out) const {
  constexpr std::size_t few = 64;  // single rows of a file cost less than a pass over all
  const bool gathered = source.in_memory() ? source.space() == Space::device : numbers.size() > few;
  if (!gathered) {
    for (std::size_t q = 0; q < numbers.size(); ++q) load(numbers[q], out.data() + static_cast<index_t>(q) * out.ld());
    return;
  }
  for_each_block([&](index_t first, const Rows& block) {
    std::vector<index_t> local, places;
    for (std::size_t q = 0; q < numbers.size(); ++q)
      if (const index_t i = numbers[q] - first; i >= 0 && i < block.rows())
        local.push_back(i), places.push_back(static_cast<index_t>(q));
    Matrix<double> found(std::ssize(local), cols());
    gather_rows(ctx, block, local, found.view());
    for (index_t q = 0; q < found.rows(); ++q)
      std::copy_n(found.data() + q * cols(), cols(), out.data() + places[at(q)] * out.ld());
  });
}

template <class T>
PerRowArray<T> KMeansProblem::rows_as(std::span<const index_t> numbers) const {
  PerRowArray<T> all(ctx, source.space(), std::ssize(numbers) * cols(), 0);
  for_each_block([&](index_t first, const Rows& block) {
    const auto from = std::lower_bound(numbers.begin(), numbers.end(), first),
               to = std::lower_bound(from, numbers.end(), first + block.rows());
    std::vector<index_t> local(from, to);
    for (index_t& i : local) i -= first;
    gather_rows<T>(ctx, block, local, all.view().part((from - numbers.begin()) * cols(), std::ssize(local) * cols()));
  });
  return all;
}
template PerRowArray<float> KMeansProblem::rows_as<float>(std::span<const index_t>) const;
template PerRowArray<double> KMeansProblem::rows_as<double>(std::span<const index_t>) const;

void KMeansProblem::place_weights() {
  if (source.space() == Space::device && !weights.empty())
    weights_there =
        std::make_shared<const PerRowArray<double>>(beside_rows(std::vector<double>(weights.begin(), weights.end())));
}

void KMeansProblem::find_moments() {
  place_weights();
  MomentsOfBlocks found(cols());
  for_each_block([&](index_t, const Rows& block) { found.first_round(ctx, block); });
  for_each_block([&](index_t, const Rows& block) { found.second_round(ctx, block); });
  moments = std::move(found).finish();
  check_range(*this);
}

AssignStats assign_all(const KMeansProblem& p, HostView<const double> centers, Scores scores,
                       std::span<std::int32_t> labels, const FixedPoint* unit, ClusterSums* sums, RowBounds* bounds) {
  AssignStats stats;
  const auto pass = [&](PerRow<std::int32_t> there) {
    p.for_each_block([&](index_t first, const Rows& block) {
      stats += assign(p.ctx, {block,
                              p.moments,
                              centers,
                              scores,
                              there.part(first, block.rows()),
                              p.weights_of(first, block.rows()),
                              unit,
                              sums,
                              {bounds, first}});
    });
  };
  if (p.source.space() == Space::host) {
    pass(labels);
    return stats;
  }
  auto there = p.beside_rows(std::vector<std::int32_t>(labels.begin(), labels.end()));
  pass(there.view());
  const std::vector<std::int32_t> found = there.to_host();
  std::copy(found.begin(), found.end(), labels.begin());
  return stats;
}

index_t label_all(const KMeansProblem& p, HostView<const double> centers, Scores scores,
                  std::vector<std::int32_t>& labels) {
  labels.assign(at(p.rows()), -1);
  const index_t rescored = assign_all(p, centers, scores, labels).rescored;
  for (const index_t i : p.directionless) labels[at(i)] = 0;
  return rescored;
}

double inertia_of(const KMeansProblem& p, HostView<const double> centers, std::span<const std::int32_t> labels) {
  double sum = 0;
  with_labels(p, labels, [&](PerRow<const std::int32_t> there) {
    p.for_each_block([&](index_t first, const Rows& block) {
      sum = inertia(p.ctx, block, centers, there.part(first, block.rows()), p.weights_of(first, block.rows()), sum);
    });
  });
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
  const double heaviest = p.weights.empty() ? 1.0 : *std::max_element(p.weights.begin(), p.weights.end());
  return {p.moments.reach, heaviest, p.rows()};
}

std::vector<index_t> sizes_of(std::span<const std::int32_t> labels, index_t k) {
  std::vector<index_t> sizes(at(k));
  for (const std::int32_t label : labels) ++sizes[at(label)];
  return sizes;
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

void check_finite(const RowSource& source) {
  if (source.space() == Space::device) return;  // the moments, which are found next, refuse such numbers
  source.for_each_block([](index_t first, const Rows& block) {
    const auto [row, column] = block.first_not_finite(0, block.rows());
    if (row >= 0)
      throw Error(Errc::invalid_argument, "the element in row " + std::to_string(first + row) + ", column " +
                                              std::to_string(column) + " (counted from 0) is NaN or infinite");
  });
}

void check_weights(index_t rows, std::span<const double> weights) {
  if (weights.empty()) return;
  if (static_cast<index_t>(weights.size()) != rows)
    throw Error(Errc::invalid_argument,
                "there are " + std::to_string(weights.size()) + " weights for " + std::to_string(rows) + " points");
  bool positive = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
      throw Error(Errc::invalid_argument,
                  "the weight of point " + std::to_string(i) + " (counted from 0) is negative, NaN or infinite");
    positive = positive || weights[i] > 0;
  }
  expects(positive, "all weights are zero: at least one point must have a positive weight");
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

}  // namespace ts::solvers::kmeans_detail
