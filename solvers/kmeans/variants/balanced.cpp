#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <queue>

#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/solvers/kmeans/means_detail.hpp"
#include "tallskinny/solvers/kmeans/variants/variants_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

/// Each row bids for the centre of least cost plus price; a centre with more bids than places lets the lowest
/// go, and that is its price.
class Auction {
 public:
  Auction(HostView<const double> cost, std::vector<index_t> places, double step)
      : cost_(cost), step_(step), places_(std::move(places)), held_(places_.size()) {}

  std::vector<std::int32_t> labels() {
    std::vector<std::int32_t> found(at(cost_.rows()), -1);
    std::deque<index_t> waiting;
    for (index_t i = 0; i < cost_.rows(); ++i) waiting.push_back(i);
    while (!waiting.empty()) {
      const index_t i = waiting.front();
      waiting.pop_front();
      const auto [m, bid] = bid_of(i);
      auto& held = held_[at(m)];
      held.push({bid, i});
      found[at(i)] = static_cast<std::int32_t>(m);
      if (std::ssize(held) <= places_[at(m)]) continue;
      waiting.push_back(held.top().row);
      held.pop();
    }
    return found;
  }

 private:
  struct Bid {
    double price = 0;
    index_t row = 0;
    bool operator<(const Bid& other) const {  // the queue's top is the lowest bid, of equals the last row
      return price > other.price || (price == other.price && row < other.row);
    }
  };

  [[nodiscard]] double price(index_t m) const {
    const auto& held = held_[at(m)];
    const index_t places = places_[at(m)];
    if (places == 0) return inf;
    return std::ssize(held) < places ? 0 : held.top().price;
  }
  /// The best centre, and what makes the second best as good, and a step more.
  [[nodiscard]] std::pair<index_t, double> bid_of(index_t i) const {
    index_t which = 0;
    double best = inf, second = best;
    for (index_t m = 0; m < cost_.cols(); ++m) {
      const double value = cost_(i, m) + price(m);
      if (value < best)
        second = best, best = value, which = m;
      else
        second = std::min(second, value);
    }
    const double gain = std::isfinite(second) ? second - best : 0;
    return {which, price(which) + gain + step_};
  }

  HostView<const double> cost_;
  double step_;
  std::vector<index_t> places_;
  std::vector<std::priority_queue<Bid>> held_;
};

/// n / k places each, and one more for the n mod k centres that most rows are nearest to.
std::vector<index_t> places_of(HostView<const double> cost) {
  const index_t n = cost.rows(), k = cost.cols();
  std::vector<index_t> nearest(at(k)), order(at(k));
  for (index_t i = 0; i < n; ++i) {
    index_t best = 0;
    for (index_t m = 1; m < k; ++m)
      if (cost(i, m) < cost(i, best)) best = m;
    ++nearest[at(best)];
  }
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return nearest[at(a)] > nearest[at(b)]; });
  std::vector<index_t> places(at(k), n / k);
  for (index_t q = 0; q < n % k; ++q) ++places[at(order[at(q)])];
  return places;
}

/// Labels whose cost is at most 1e-3 of itself above the least. An auction ends within one step for each row
/// of the least, and takes the longer the finer its steps: they start coarse.
std::vector<std::int32_t> assigned(HostView<const double> cost, double largest) {
  constexpr double accuracy = 1e-3, finest = 1e-6;  // of the cost; step, of the largest cost
  const auto n = static_cast<double>(cost.rows());
  const std::vector<index_t> places = places_of(cost);
  for (double step = accuracy * largest;; step /= 8) {
    std::vector<std::int32_t> labels =
        Auction(cost, places, std::max(step, std::numeric_limits<double>::min() * 0x1p60)).labels();
    double total = 0;
    for (index_t i = 0; i < cost.rows(); ++i) total += cost(i, labels[at(i)]);
    if (n * step <= accuracy * total || total == 0 || step < finest * largest) return labels;
  }
}

}  // namespace

LloydRun balanced(const KMeansProblem& p, const KMeansOptions& options, const FirstCenters& first,
                  const LloydControl& control) {
  const index_t n = p.rows(), k = p.k;
  LloydRun run;
  run.centers = first(p);
  Matrix<double> cost(n, k), centers = Matrix<double>::copy_of(run.centers.cview());
  double least = inf;
  while (run.n_iter < options.max_iter) {
    const Stopwatch watch;
    p.for_each_block([&](index_t row, const Rows& block) {
      distances(p.ctx, block, centers.cview(), cost.view().rows(row, block.rows()));
    });
    double largest = 0;
    for (index_t i = 0; i < n; ++i)
      for (index_t m = 0; m < k; ++m) {
        cost(i, m) *= cost(i, m) * p.weight(i);
        largest = std::max(largest, cost(i, m));
      }
    std::vector<std::int32_t> labels = assigned(cost.cview(), largest);
    move_to_means(p, labels, centers.view(), adjust_means(control.spherical));
    const double inertia = inertia_of(p, centers.cview(), labels);
    if (inertia >= least) {
      run.stop = KMeansStop::labels_unchanged;
      break;
    }
    index_t changed = n;
    if (!run.labels.empty())
      changed = n - std::inner_product(labels.begin(), labels.end(), run.labels.begin(), index_t{0}, std::plus<>(),
                                       [](auto a, auto b) { return a == b ? 1 : 0; });
    double squared_shift = 0;
    for (index_t q = 0; q < k * p.cols(); ++q) squared_shift += std::pow(centers.data()[q] - run.centers.data()[q], 2);
    least = inertia;
    run.labels = std::move(labels);
    run.centers = Matrix<double>::copy_of(centers.cview());
    ++run.n_iter;
    if (control.is_enough(squared_shift, changed)) {
      run.stop = KMeansStop::tolerance;
      break;
    }
    if (!control.is_watched()) continue;
    KMeansProgress now = control.progress(k, run.n_iter);
    now.changed = changed, now.squared_shift = squared_shift, now.inertia = inertia;
    now.seconds = watch.seconds();
    if (!(*control.on_progress)(now)) {
      run.stop = KMeansStop::interrupted;
      break;
    }
  }
  return run;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
