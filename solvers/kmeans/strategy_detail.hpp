// The choice of filter and scores for the next pass of k-means. Internal to the room.
#pragma once

#include <algorithm>
#include <limits>

#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/pass/assign.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Costs of passes over a row in host memory, in products of two 16-bit integers.
struct PassCosts {
  index_t cols, clusters;
  assign_cpu::ProductCosts of;  ///< of the processor

  /// Cost with all centroids: wide rows are scored in 8 bits.
  [[nodiscard]] double without() const noexcept;
  /// Cost with bounds of groups. The arguments are the shares of the pairs of rows and centroids scored in 8 bits, and
  /// in float32, and the share of the rows with any score.
  [[nodiscard]] double with_groups(double coarse, double scored, double undecided) const noexcept;
};

/// True if bounds of groups may serve such rows in memory.
[[nodiscard]] bool groups_serve(index_t rows, index_t cols, index_t clusters) noexcept;

/// Decides when to try a filter that pays once few labels change: first when at most a given number do. After each
/// failure, when half as many change as at the failure, then an eighth, and so on.
class Attempts {
 public:
  explicit Attempts(index_t most = std::numeric_limits<index_t>::max()) : most_(most) {}
  [[nodiscard]] bool due(index_t changed) const noexcept { return changed <= most_; }
  void failed(index_t changed) noexcept {
    most_ = std::min(most_, changed / factor_), factor_ = std::min(4 * factor_, index_t{1} << 40);
  }

 private:
  index_t most_, factor_ = 2;
};

/// Chooses the filter and the scores of each pass from the shape of the rows, costs, and what earlier passes counted;
/// never by the clock, so that runs repeat. A filter that is tried has a budget: it ends once it has cost a tenth of a
/// run without it, and is tried again when fewer labels change.
class PassStrategy {
 public:
  struct Shape {
    index_t rows, all_rows;  ///< here, and of all ranks
    PassCosts costs;
    KMeansFilter filter = KMeansFilter::automatic;
    bool host = true;       ///< rows lie in host memory
    bool in_memory = true;  ///< and are there for all passes, dense
    bool bytes = true;      ///< the processor has products of bytes
  };
  PassStrategy(const Shape& shape, Scores scores) noexcept;

  [[nodiscard]] PassFilter filter() const noexcept { return filter_; }
  [[nodiscard]] Scores scores() const noexcept { return scores_; }
  /// True if few labels changed in the last pass. With more, confirming labels costs more than it saves.
  [[nodiscard]] bool stable() const noexcept { return stable_; }

  /// Sets the filters that passes on a device may use from now on, with their costs.
  void offer(const FilterCosts& costs) noexcept;
  /// Chooses before a pass, of which `done` were made and at most `left` follow with it. @param changed labels in the
  /// last one
  PassFilter choose(int done, int left, index_t changed) noexcept;
  /// Takes in the counts of the pass here, and on all ranks. @param held RowBounds of the pass before held
  void passed(const AssignStats& here, const AssignStats& all, bool held) noexcept;

 private:
  [[nodiscard]] bool wide() const noexcept;
  [[nodiscard]] bool wanted() const noexcept { return shape_.filter != KMeansFilter::automatic; }
  [[nodiscard]] double budget(double without) const noexcept;
  /// Adds what a pass cost beyond one without; returns whether the budget is spent.
  bool spend(double cost, double without) noexcept;
  [[nodiscard]] PassFilter choose_here(int left, index_t changed) const noexcept;
  [[nodiscard]] PassFilter choose_there(int left, index_t changed) const noexcept;
  void judge_rows(const AssignStats& all, bool held) noexcept;
  void judge_groups(const AssignStats& here) noexcept;
  void judge_there(const AssignStats& here) noexcept;
  void raise_scores(const AssignStats& all) noexcept;

  Shape shape_;
  Scores scores_;
  PassFilter filter_ = PassFilter::none;
  bool stable_ = false;
  double least_skipped_;  ///< share of rows that bounds must leave alone
  bool rows_unused_, groups_serve_;
  Attempts of_rows_, of_groups_, of_projection_, of_tiles_;
  FilterCosts there_ = {};
  double share_of_projections_ = 1;  ///< of pairs that projections left in their last pass
  bool tiles_known_ = false;         ///< bounds of tiles are those of the pass before
  double spent_ = 0;                 ///< what filters have cost beyond passes without
  int done_ = 0, left_ = 0;
};

}  // namespace ts::inline v0::solvers::kmeans_detail
