// The Lloyd iteration from given centres, pass by pass, so that several may share the passes over the rows.
// Internal to the room.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"
#include "tallskinny/solvers/kmeans/strategy_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Iterations before heads at least, since they need labels and serve means best, whose tails are shorter than those of
/// rows, which first centres are; and the least left for them: axes cost as much as some passes.
constexpr int heads_from = 1, least_passes_with_heads = 8;
/// Of so many that are left; 0: too few.
constexpr index_t passes_with_heads(int left) noexcept { return left < least_passes_with_heads ? 0 : left; }

struct LloydControl {
  int max_iter = 300;
  double squared_shift = -1;  ///< converged at or below; negative: only by labels
  index_t changed = 0;        ///< labels that may change in an iteration that has converged
  bool spherical = false;
  KMeansFilter filter = KMeansFilter::automatic;
  Scores scores = Scores::int8;  ///< to begin with
  int run = 0, runs = 1;
  const std::function<bool(const KMeansProgress&)>* on_progress = nullptr;
  const std::function<void(const std::function<KMeansState()>&)>* on_state = nullptr;

  [[nodiscard]] bool is_enough(double shift, index_t labels) const {
    return shift <= squared_shift || labels <= changed;
  }
  [[nodiscard]] bool is_watched() const { return on_progress != nullptr && *on_progress; }
  /// After so many iterations.
  [[nodiscard]] KMeansProgress progress(index_t clusters, int iteration) const {
    return {.run = run, .runs = runs, .clusters = clusters, .iteration = iteration};
  }
};

struct LloydRun {
  std::vector<std::int32_t> labels;
  Matrix<double> centers;
  int n_iter = 0;
  KMeansStop stop = KMeansStop::max_iterations;
  index_t relocated = 0, rescored = 0, skipped = 0;
};

/// Each pass: begin_pass(), take() of every block of rows, end_pass(); until done().
class Lloyd {
 public:
  /// `problem.k` is that of the centres. The problem and control must outlive this.
  Lloyd(const KMeansProblem& problem, Matrix<double> centers, const LloydControl& control);
  /// Goes on where a run stopped; reads the rows once.
  Lloyd(const KMeansProblem& problem, const KMeansState& state, const LloydControl& control);

  [[nodiscard]] bool done() const noexcept { return phase_ == Phase::done; }
  void begin_pass();
  void take(index_t first, const Rows& block);
  void end_pass();
  [[nodiscard]] LloydRun result() && {
    run_.labels = std::move(labels_).to_host();
    run_.centers = clusters_.centroids();
    return std::move(run_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { iterate, label, done };
  /// Rows (m x d, their numbers among all) that leave clusters for empty ones.
  struct Relocation {
    std::vector<index_t> numbers;
    Matrix<double> rows;
    std::vector<double> weights;
    std::vector<std::int32_t> from, to;
  };

  /// Makes what later passes on a device may choose centroids by: heads, and bounds of tiles.
  void use_heads();
  void make_heads(const Rows& x, const HeadsForm& form);
  [[nodiscard]] bool stop_after(index_t changed);
  [[nodiscard]] KMeansProgress progress(index_t changed);
  [[nodiscard]] KMeansState state() const;
  index_t changed_labels();
  /// True if sums in fixed point serve all clusters as they are.
  [[nodiscard]] bool fixed_point_serves() const;
  bool update_centers();
  std::vector<FarRow> farthest(index_t count);
  Relocation relocation(const std::vector<index_t>& empty);
  void relocate_to_means(const std::vector<index_t>& empty);
  double place_means(const Relocation& relocation);
  void set_second_moment();

  const KMeansProblem& p_;
  const LloydControl& control_;
  Clusters clusters_;
  PerRowArray<std::int32_t> labels_;
  PerRowArray<index_t> directionless_;
  RowBounds bounds_;
  PassStrategy strategy_;
  std::unique_ptr<GroupBounds> group_bounds_;
  Phase phase_ = Phase::iterate;
  AssignStats stats_;  ///< of the last pass
  bool asked_for_heads_ = false;
  Clock::time_point pass_began_;
  double squared_shift_ = 0, second_moment_ = -1;
  LloydRun run_;
};

/// All of them to their end, sharing passes over the rows.
void run_together(const KMeansProblem& problem, std::span<Lloyd> runs);

}  // namespace ts::inline v0::solvers::kmeans_detail
