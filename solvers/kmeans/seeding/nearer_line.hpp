// Rows of one column that a candidate is nearer to than all centres so far: its neighbours on the line.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"
#include "tallskinny/solvers/kmeans/seeding/nearer_rows.hpp"

namespace ts::inline v0::assign_detail {

/// Nearer rows on a line. If a row beside a candidate is nearer to some centre, so are all rows behind it, since
/// rounded differences grow with exact ones. So a candidate is compared with the rows that it is nearer to, and few
/// others.
class NearerOnLine {
 public:
  /// Sorts the rows. 16 bytes for each.
  explicit NearerOnLine(const Rows& x) : order_(at(x.rows())), place_(order_.size()), values_(order_.size()) {
    std::vector<double> value(order_.size());
    for (index_t i = 0; i < x.rows(); ++i) x.load(i, &value[at(i)]);
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [&](std::int32_t a, std::int32_t b) { return value[at(a)] < value[at(b)]; });
    for (std::size_t p = 0; p < order_.size(); ++p) {
      place_[at(order_[p])] = static_cast<std::int32_t>(p);
      values_[p] = value[at(order_[p])];
    }
  }

  /// Finds rows that candidates are nearer to, as HostNearerRowSearch::find() does.
  [[nodiscard]] NearerRows find(const Context& ctx, std::span<const index_t> candidates,
                                std::span<const double> squared) const {
    constexpr double products = 1024;  // about as long as one candidate takes
    const index_t count = std::ssize(candidates);
    std::vector<std::vector<NearerRow>> of_each(candidates.size());
    parallel_for(team_size(ctx, count, products), count, [&](index_t q) {
      const index_t place = place_[at(candidates[at(q)])];
      std::vector<NearerRow>& found = of_each[at(q)];
      walk(place, 1, place, squared, found), walk(place - 1, -1, place, squared, found);
    });
    NearerRows rows;
    rows.begin.assign(1, 0);
    for (const auto& found : of_each) {
      rows.all.insert(rows.all.end(), found.begin(), found.end());
      rows.begin.push_back(std::ssize(rows.all));
    }
    return rows;
  }

 private:
  /// Walks from place p on, step by step, until another centre is nearer.
  void walk(index_t p, index_t step, index_t candidate, std::span<const double> squared,
            std::vector<NearerRow>& found) const {
    const double from = values_[at(candidate)];
    for (; p >= 0 && p < std::ssize(values_); p += step) {
      const std::int32_t row = order_[at(p)];
      const double difference = values_[at(p)] - from, distance = difference * difference, kept = squared[at(row)];
      if (distance > kept) return;
      if (distance < kept) found.push_back({row, distance});
    }
  }

  std::vector<std::int32_t> order_, place_;  ///< rows by their values, and where each is among them
  std::vector<double> values_;               ///< in this order
};

}  // namespace ts::inline v0::assign_detail
