#include "tallskinny/solvers/kmeans/means_detail.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/means.hpp"
#include "tallskinny/solvers/kmeans/seeding/potential.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t most_rows_inspected = 512, most_numbers_inspected = index_t{1} << 22;
constexpr double small_share = 0x1p-14;  ///< of the farthest row, of which sums keep 2^-61
/// Sums keep 60 bits below the largest weight: with 10 less a mean is still as good as rounded to float64.
constexpr double least_mean_weight = 0x1p-10;

double largest_in(std::span<const double> row) {
  double largest = 0;
  for (const double x : row) largest = std::max(largest, std::abs(x));
  return largest;
}

/// Distance of each row from the medians of columns, in its largest difference: of the first columns alone where no row
/// is nearer than `enough` in these.
std::vector<double> largest_from_medians(std::span<const double> rows, std::size_t d, double enough) {
  std::vector<double> found(rows.size() / d), column(found.size());
  const auto middle = column.begin() + std::ssize(column) / 2;
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = rows[i * d + j];
    std::nth_element(column.begin(), middle, column.end());
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = std::max(found[i], std::abs(rows[i * d + j] - *middle));
    if (std::none_of(found.begin(), found.end(), [enough](double x) { return x < enough; })) break;
  }
  return found;
}

/// Sums of all rows in their order, so that they have the same bits for any threads, ranks and devices.
class SumsInOrder {
 public:
  explicit SumsInOrder(const KMeansProblem& p)
      : p_(p), line_(p.cols() + 1), sums_(at(2 * p.k * line_)), to_units_(unit_of(p).weight_to_units * 0x1p400) {}

  /// all.
  void add_all(std::span<const std::int32_t> labels) {
    std::exception_ptr failed;
    in_turn(p_.ctx, sums_, [&] {
      try {
        p_.for_each_block_here([&](index_t first, const Rows& block) { add(first, block, labels); });
      } catch (...) {
        failed = std::current_exception();
      }
    });
    agreed(p_.ctx, [&] {
      if (failed) std::rethrow_exception(failed);
    });
  }
  [[nodiscard]] double weight(index_t m) const { return sum(m, p_.cols()).hi / to_units_; }
  [[nodiscard]] double mean(index_t m, index_t j) const { return (sum(m, j) / sum(m, p_.cols())).hi; }

 private:
  [[nodiscard]] Twofold sum(index_t m, index_t j) const {
    const double* const at_sum = sums_.data() + 2 * (m * line_ + j);
    return {at_sum[0], at_sum[1]};
  }
  void add(index_t first, const Rows& block, std::span<const std::int32_t> labels) {
    if (!block.on_device()) return add_host(first, block, labels);
    constexpr index_t at_once = 1 << 16;
    for (index_t i = 0; i < block.rows(); i += at_once) {
      std::vector<index_t> numbers(at(std::min(at_once, block.rows() - i)));
      std::iota(numbers.begin(), numbers.end(), i);
      Matrix<double> fetched(std::ssize(numbers), block.cols());
      gather_rows(p_.ctx, block, numbers, fetched.view());
      add_host(first + i, Rows(fetched.cview()), labels);
    }
  }
  /// Each thread takes some clusters.
  void add_host(index_t first, const Rows& block, std::span<const std::int32_t> labels) {
    parallel_ranges(static_cast<int>(std::min<index_t>(p_.ctx.thread_count(), p_.k)), p_.k,
                    [&](index_t begin, index_t end) {
                      std::vector<double> row(at(p_.cols()));
                      for (index_t i = 0; i < block.rows(); ++i) {
                        const std::int32_t m = labels[at(first + i)];
                        const double weight = p_.weight(first + i) * to_units_;
                        if (m >= begin && m < end && weight > 0) add_row(block, i, m, weight, row);
                      }
                    });
  }
  void add_row(const Rows& block, index_t i, index_t m, double weight, std::vector<double>& row) {
    const auto add_one = [&](index_t j, double x) {
      double* const to = sums_.data() + 2 * (m * line_ + j);
      const Twofold next = Twofold{to[0], to[1]} + weight * x;
      to[0] = next.hi, to[1] = next.lo;
    };
    if (block.sparse()) row.resize(at(block.entries(i)));
    block.load_entries(i, row.data());
    for (index_t q = 0; q < std::ssize(row); ++q)
      add_one(block.sparse() ? block.indices()[block.pointers()[i] + q] : q, row[at(q)]);
    if (p_.weighted())
      add_one(p_.cols(), 1);
    else
      sums_[at(2 * (m * line_ + p_.cols()))] += weight;  // exact: all weigh one power of two
  }

  const KMeansProblem& p_;
  index_t line_;              ///< columns and the weight
  std::vector<double> sums_;  ///< k x line x 2
  double to_units_;           ///< of weights, whose products with small coordinates then stay normal numbers
};

MovedCenters move_in_order(const KMeansProblem& p, std::span<const std::int32_t> labels, HostView<double> centers,
                           const AdjustMean& adjust) {
  SumsInOrder sums(p);
  sums.add_all(labels);
  MovedCenters moved{0, std::vector<double>(at(p.k))};
  std::vector<double> mean(at(p.cols()));
  for (index_t m = 0; m < p.k; ++m) {
    moved.weights[at(m)] = sums.weight(m);
    if (moved.weights[at(m)] == 0) continue;
    for (index_t j = 0; j < p.cols(); ++j) mean[at(j)] = sums.mean(m, j);
    if (adjust && !adjust(mean)) continue;
    for (index_t j = 0; j < p.cols(); ++j) moved.squared_shift += std::pow(mean[at(j)] - centers(m, j), 2);
    std::copy(mean.begin(), mean.end(), centers.data() + m * centers.ld());
  }
  return moved;
}

/// all: the rows farthest from the centres of their labels, as keep_farthest() orders them.
std::vector<FarRow> farthest(const KMeansProblem& p, const Clusters& clusters, PerRow<const std::int32_t> labels,
                             index_t count) {
  std::vector<FarRow> rows;
  p.for_each_block([&](index_t first, const Rows& block) {
    for (FarRow far : clusters.farthest_rows(block, labels.part(first, block.rows()), count)) {
      far.row += p.first_row() + first;
      rows.push_back(far);
    }
  });
  if (p.distributed()) rows = gather_lists<FarRow>(p.ctx, rows);
  keep_farthest(rows, count);
  return rows;
}

}  // namespace

RowScales::RowScales(const KMeansProblem& problem) : p_(problem) {
  const index_t d = std::max<index_t>(1, p_.cols()), n = p_.all_rows(), begin = p_.first_row();
  const index_t count = std::min({n, most_rows_inspected, std::max<index_t>(64, most_numbers_inspected / d)});
  for (index_t q = 0; q < count; ++q)
    if (const index_t i = q * n / count - begin; i >= 0 && i < p_.rows()) numbers_.push_back(i);
}

void RowScales::inspect(index_t first, const Rows& block) {
  const auto from = std::lower_bound(numbers_.begin(), numbers_.end(), first);
  std::vector<index_t> local(from, std::lower_bound(from, numbers_.end(), first + block.rows()));
  for (index_t& i : local) i -= first;
  if (local.empty()) return;
  if (block.sparse()) {
    std::vector<double> row;
    for (const index_t i : local) {
      row.resize(at(block.entries(i)));
      block.load_entries(i, row.data());
      largest_.push_back(largest_in(row));
    }
    return;
  }
  Matrix<double> found(std::ssize(local), block.cols());
  gather_rows(p_.ctx, block, local, found.view());
  dense_.insert(dense_.end(), found.data(), found.data() + found.rows() * found.cols());
}

bool RowScales::differ_widely(const ColumnMoments& moments) const {
  const std::vector<double> rows = gather_lists<double>(p_.ctx, dense_);
  std::vector<double> largest = gather_lists<double>(p_.ctx, largest_);
  const double limit = largest_in(moments.max_abs) * small_share;
  const auto small = [limit](double size) { return size > 0 && size < limit; };
  index_t found = std::count_if(largest.begin(), largest.end(), small);
  const std::size_t d = at(p_.cols());
  const std::vector<double> from_medians = rows.empty() ? rows : largest_from_medians(rows, d, limit);
  for (std::size_t i = 0; i < from_medians.size(); ++i)
    if (small(from_medians[i]) || small(largest_in({rows.data() + i * d, d}))) ++found;
  return found >= (p_.all_rows() <= most_rows_inspected ? 1 : 2);  // one may be small by chance
}

bool too_coarse(const KMeansProblem& p, const FixedPoint& unit, const ClusterSums& sums) {
  if (p.wide_rows || !p.wide_weights) return p.wide_rows;
  for (index_t m = 0; m < p.k; ++m)
    if (sums.weight(unit, m) * unit.weight_to_units < least_mean_weight * static_cast<double>(sums.count(m)))
      return true;
  return false;
}

double second_moment_of(const KMeansProblem& p) {
  if (p.weighted()) {
    const std::vector<std::int32_t> zero(at(p.rows()));
    return inertia_of(p, HostView<const double>(p.moments.shift.data(), 1, p.cols()), zero);
  }
  const auto n = static_cast<double>(p.all_rows());
  double sum = 0;
  for (std::size_t j = 0; j < p.moments.shift.size(); ++j) {
    const double from_shift = p.moments.mean[j] - p.moments.shift[j];
    sum += n * (p.moments.variance[j] + from_shift * from_shift);
  }
  return sum;
}

MovedCenters move_to_means(const KMeansProblem& p, const FixedPoint& unit, const ClusterSums& sums,
                           std::span<const std::int32_t> labels, HostView<double> centers, const AdjustMean& adjust) {
  if (too_coarse(p, unit, sums)) return move_in_order(p, labels, centers, adjust);
  MovedCenters moved{ts::move_to_means(p.ctx, unit, sums, p.moments.shift, centers, adjust), {}};
  for (index_t m = 0; m < p.k; ++m) moved.weights.push_back(sums.weight(unit, m));
  return moved;
}

MovedCenters move_to_means(const KMeansProblem& p, std::span<const std::int32_t> labels, HostView<double> centers,
                           const AdjustMean& adjust) {
  const FixedPoint unit = unit_of(p);
  ClusterSums here(p.k, p.cols());
  const auto there = p.beside_rows(std::vector<std::int32_t>(labels.begin(), labels.end()));
  p.for_each_block([&](index_t first, const Rows& block) {
    add_rows(p.ctx, block, p.moments, there.view().part(first, block.rows()), p.weights_of(first, block.rows()), unit,
             here);
  });
  return move_to_means(p, unit, sums_of_ranks(p.ctx, here), labels, centers, adjust);
}

Relocation relocation_to(const std::vector<index_t>& empty, const KMeansProblem& p, const Clusters& clusters,
                         PerRow<const std::int32_t> labels) {
  constexpr index_t first_count = 16, growth = 8;
  std::vector<index_t> counts = clusters.counts(), order;
  std::vector<FarRow> far;
  std::vector<double> weights;
  Relocation found;
  for (std::size_t next = 0; found.to.size() < empty.size(); ++next) {
    if (next == far.size()) {  // some were passed over: look farther
      if (std::ssize(far) == p.all_rows()) break;
      far = farthest(p, clusters, labels, std::max({growth * std::ssize(far), 2 * std::ssize(empty), first_count}));
      order.clear();
      for (const FarRow& each : far) order.push_back(each.row);
      weights = p.weights_at(order);
      if (next == far.size()) break;
    }
    const auto& [distance, row, donor] = far[next];
    if (distance == 0) break;  // as many distinct rows as clusters with rows
    if (weights[next] == 0 || counts[at(donor)] <= 1) continue;
    --counts[at(donor)];
    found.weights.push_back(weights[next]), found.numbers.push_back(row);
    found.to.push_back(static_cast<std::int32_t>(empty[found.to.size()]));
    found.from.push_back(static_cast<std::int32_t>(donor));
  }
  found.rows = Matrix<double>(std::ssize(found.numbers), p.cols());
  if (!found.numbers.empty()) p.load_rows(found.numbers, found.rows.view());
  return found;
}

double place_means(const Relocation& r, const KMeansProblem& p, Clusters& clusters, std::vector<std::int32_t> labels,
                   const AdjustMean& adjust) {
  Matrix<double> centers = clusters.centroids();
  for (std::size_t q = 0; q < r.to.size(); ++q)
    if (const index_t here = r.numbers[q] - p.first_row(); here >= 0 && here < p.rows()) labels[at(here)] = r.to[q];
  const auto [squared_shift, weights] =
      move_to_means(p, clusters.unit(), clusters.sums(), labels, centers.view(), adjust);
  // A cluster for which there is no row takes the place of the heaviest one, not its old place.
  const index_t heaviest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  for (index_t m = 0; m < p.k; ++m)
    if (weights[at(m)] == 0) std::copy_n(centers.data() + heaviest * p.cols(), p.cols(), centers.data() + m * p.cols());
  clusters.place(std::move(centers));
  return squared_shift;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
