#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ts::solvers::kmeans_detail {

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

namespace {

class Iteration {
 public:
  Iteration(const Problem& problem, Matrix<double> centers, const LloydControl& control)
      : p_(problem),
        control_(control),
        unit_(
            problem.moments.reach,
            problem.weights.empty() ? 1.0 : *std::max_element(problem.weights.begin(), problem.weights.end()),
            problem.rows.rows()),
        sums_(problem.k, problem.rows.cols()),
        bounds_(control.bounds ? problem.rows.rows() : 0) {
    run_.centers = std::move(centers);
    run_.labels.assign(static_cast<std::size_t>(problem.rows.rows()), -1);
  }

  LloydRun run() && {
    bool labels_belong = false;
    while (run_.n_iter < control_.max_iter) {
      const index_t changed = assign_rows(&sums_);
      const bool moved = update_centers();
      ++run_.n_iter;
      if (changed == 0) {
        run_.stop = KMeansStop::labels_unchanged;
        labels_belong = !moved;  // equal labels give equal sums, and those equal centres, bit for bit
        break;
      }
      if (squared_shift_ <= control_.squared_shift) {
        run_.stop = KMeansStop::tolerance;
        break;
      }
      if (control_.on_progress != nullptr && *control_.on_progress &&
          !(*control_.on_progress)({control_.run, control_.runs, run_.n_iter, 0, changed, squared_shift_})) {
        run_.stop = KMeansStop::interrupted;
        break;
      }
    }
    if (!labels_belong) assign_rows(nullptr);
    return std::move(run_);
  }

 private:
  index_t assign_rows(ClusterSums* sums) {
    if (control_.bounds) bounds_.begin_pass(p_.ctx, run_.centers.cview(), p_.moments);
    const AssignStats stats =
        assign(p_.ctx, p_.rows, p_.moments, run_.centers.cview(), scores_, run_.labels, p_.weights,
               sums == nullptr ? nullptr : &unit_, sums, {control_.bounds ? &bounds_ : nullptr});
    run_.rescored += stats.rescored;
    run_.skipped += stats.skipped;
    // Deciding a row again costs about as much as scoring it in float64 does for four.
    if (stats.rescored > p_.rows.rows() / 4) scores_ = Scores::float64;
    index_t changed = stats.changed;
    for (const index_t i : p_.directionless) {
      std::int32_t& label = run_.labels[static_cast<std::size_t>(i)];
      if (label != 0) --changed;  // it was 0 before, or -1 in the first iteration, which never ends the run
      label = 0;
    }
    return changed;
  }

  /// True if a centre is not the mean of the rows with its label.
  bool update_centers() {
    const index_t d = p_.rows.cols();
    std::vector<index_t> empty;
    for (index_t m = 0; m < p_.k; ++m)
      if (sums_.weightless(m)) empty.push_back(m);
    if (empty.empty()) {
      set_means(sums_);
      return false;
    }
    ClusterSums relocated = sums_;
    const index_t moved = relocate(relocated, empty);
    run_.relocated += moved;
    set_means(relocated);
    // A cluster for which there is no row stands where the heaviest one does, not where it was.
    index_t heaviest = 0;
    for (index_t m = 1; m < p_.k; ++m)
      if (relocated.weight(unit_, m) > relocated.weight(unit_, heaviest)) heaviest = m;
    for (index_t m = 0; m < p_.k; ++m)
      if (relocated.weightless(m))
        for (index_t j = 0; j < d; ++j) run_.centers(m, j) = run_.centers(heaviest, j);
    return true;
  }

  /// Gives each empty cluster the row farthest from its own centre. Returns how many found one.
  index_t relocate(ClusterSums& sums, const std::vector<index_t>& empty) const {
    const index_t n = p_.rows.rows(), d = p_.rows.cols();
    std::vector<double> far(static_cast<std::size_t>(n));
    own_squared_distances(p_.ctx, p_.rows, run_.centers.cview(), run_.labels, far);
    std::vector<index_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), index_t{0});
    const auto nearer = [&far](index_t a, index_t b) {
      const double da = far[static_cast<std::size_t>(a)], db = far[static_cast<std::size_t>(b)];
      return da < db || (da == db && a > b);
    };
    std::make_heap(order.begin(), order.end(), nearer);
    std::vector<double> row(static_cast<std::size_t>(d));
    index_t found = 0;
    for (auto end = order.end(); end != order.begin() && found < static_cast<index_t>(empty.size()); --end) {
      std::pop_heap(order.begin(), end, nearer);
      const index_t i = *(end - 1), donor = run_.labels[static_cast<std::size_t>(i)];
      if (far[static_cast<std::size_t>(i)] == 0) break;  // as many distinct rows as clusters with rows
      if (p_.weight(i) == 0 || sums.count(donor) <= 1) continue;
      p_.rows.load(i, row.data());
      for (std::size_t j = 0; j < row.size(); ++j) row[j] -= p_.moments.shift[j];
      sums.add(unit_, donor, row.data(), p_.weight(i), true);
      sums.add(unit_, empty[static_cast<std::size_t>(found)], row.data(), p_.weight(i));
      ++found;
    }
    return found;
  }

  void set_means(const ClusterSums& sums) {
    const index_t d = p_.rows.cols();
    squared_shift_ = 0;
    auto mean = Matrix<double>(1, d);
    for (index_t m = 0; m < p_.k; ++m) {
      if (sums.weightless(m)) continue;
      for (index_t j = 0; j < d; ++j)
        mean(0, j) =
            static_cast<double>(p_.moments.shift[static_cast<std::size_t>(j)] + sums.mean(unit_, m, j));
      if (control_.spherical && normalise(mean.view()) != 0) continue;
      for (index_t j = 0; j < d; ++j) {
        const double step = mean(0, j) - run_.centers(m, j);
        squared_shift_ += step * step;
        run_.centers(m, j) = mean(0, j);
      }
    }
  }

  const Problem& p_;
  const LloydControl& control_;
  FixedPoint unit_;
  ClusterSums sums_;
  RowBounds bounds_;
  Scores scores_ = Scores::float32;
  double squared_shift_ = 0;
  LloydRun run_;
};

}  // namespace

LloydRun lloyd(const Problem& problem, Matrix<double> centers, const LloydControl& control) {
  return Iteration(problem, std::move(centers), control).run();
}

}  // namespace ts::solvers::kmeans_detail
