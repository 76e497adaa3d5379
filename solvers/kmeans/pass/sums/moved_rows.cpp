#include "tallskinny/solvers/kmeans/pass/sums/moved_rows.hpp"

#include <algorithm>
#include <array>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0::assign_detail {

namespace {

/// A row that a cluster gets, or that is taken from it.
struct Change {
  index_t row;
  double weight;
  std::int32_t cluster;
  bool take_away;
};

constexpr std::size_t at_once = 8;  ///< rows of a cluster

/// Sorts the changes by cluster.
std::vector<Change> changes_of(std::span<const std::vector<MovedRow>> lists, index_t clusters) {
  std::vector<std::size_t> next(at(clusters) + 1);
  for (const auto& list : lists)
    for (const MovedRow& moved : list) {
      if (moved.from >= 0) ++next[at(moved.from) + 1];
      ++next[at(moved.to) + 1];
    }
  for (std::size_t m = 1; m < next.size(); ++m) next[m] += next[m - 1];
  std::vector<Change> changes(next.back());
  for (const auto& list : lists)
    for (const MovedRow& moved : list) {
      if (moved.from >= 0) changes[next[at(moved.from)]++] = {moved.row, moved.weight, moved.from, true};
      changes[next[at(moved.to)]++] = {moved.row, moved.weight, moved.to, false};
    }
  return changes;
}

}  // namespace

void move_rows(const assign_cpu::AssignKernels& kernels, const Rows& x, const double* shift, const FixedPoint& unit,
               std::span<const MovedRow> rows, ClusterSums& sums) {
  kernels.move({x, rows.data(), std::ssize(rows), unit.weight_to_units}, shift, unit.to_units.data(), unit.one,
               sums.upper(0), sums.lower(0));
  for (const MovedRow& moved : rows) {
    if (moved.from >= 0) sums.add_weight(unit, moved.from, moved.weight, true);
    sums.add_weight(unit, moved.to, moved.weight, false);
  }
}

void move_rows(int threads, const assign_cpu::AssignKernels& kernels, const Rows& x, const double* shift,
               const FixedPoint& unit, std::span<const std::vector<MovedRow>> lists, ClusterSums& sums) {
  const std::vector<Change> changes = changes_of(lists, sums.clusters());
  const index_t d = x.cols(), count = std::ssize(changes), team = std::clamp<index_t>(count, 1, threads);
  // The first cluster of a range, where the range before has some of its rows, too.
  std::vector<ClusterSums> begun(at(team), ClusterSums(0, d));
  const auto first_of = [&](index_t t) { return at(count * t / team); };
  parallel(static_cast<int>(team), [&](int thread) {
    const std::size_t first = first_of(thread), last = first_of(thread + 1);
    const bool shares = first > 0 && first < last && changes[first - 1].cluster == changes[first].cluster;
    ClusterSums& own = begun[at(thread)];
    if (shares) own = ClusterSums(1, d);
    for (std::size_t q = first; q < last;) {
      const std::int32_t cluster = changes[q].cluster;
      const bool mine = !shares || cluster != changes[first].cluster;
      ClusterSums& to = mine ? sums : own;
      const index_t place = mine ? cluster : 0;
      std::array<index_t, at_once> rows{};
      std::array<double, at_once> weights{};
      std::size_t some = 0;
      for (; some < at_once && q < last && changes[q].cluster == cluster; ++some, ++q) {
        const Change& change = changes[q];
        rows[some] = change.row;
        weights[some] = (change.take_away ? -change.weight : change.weight) * unit.weight_to_units;
        to.add_weight(unit, place, change.weight, change.take_away);
      }
      kernels.accumulate({x, rows.data(), weights.data(), static_cast<index_t>(some)}, shift, unit.to_units.data(),
                         unit.one, to.upper(place), to.lower(place));
    }
  });
  for (index_t t = 0; t < team; ++t)
    if (const ClusterSums& part = begun[at(t)]; part.clusters() == 1)
      sums.merge_cluster(changes[first_of(t)].cluster, part);
}

}  // namespace ts::inline v0::assign_detail
