// The Lloyd iteration from given centres, pass by pass, so that several may share the passes over the rows.
// Internal to the room.
#pragma once

#include <memory>

#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"
#include "tallskinny/solvers/kmeans/strategy_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

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
  /// Progress of the run after `iteration` iterations.
  [[nodiscard]] KMeansProgress progress(index_t clusters, int iteration) const {
    return {.run = run, .runs = runs, .clusters = clusters, .iteration = iteration};
  }
};

/// Filters for passes on a device, made once labels are known: projections, and bounds of tiles.
class DeviceFilters {
 public:
  /// Makes the filters that will pay, before a pass of which `done` were made, and offers them to the strategy. Each
  /// rank decides for its own rows.
  void prepare(const KMeansProblem& p, const LloydControl& control, int done, Clusters& clusters,
               PassStrategy& strategy);
  /// Number of passes with projections in a run of so many iterations; 0: too few.
  [[nodiscard]] static index_t passes_of(int iterations) noexcept { return passes_with_projections(iterations - from); }

 private:
  /// Projections need labels. They suit means better than first centres, since these are rows and lie farther from the
  /// axes. And axes cost as much as some passes.
  static constexpr int from = 1, least_passes = 8;
  [[nodiscard]] static index_t passes_with_projections(int left) noexcept { return left < least_passes ? 0 : left; }

  bool decided_ = false;
};

/// A basis of about the space of the leading eigenvectors of the Gram matrix of a sample of rows on a device, which
/// multiplies there: three steps of subspace iteration from random signs (Halko, Martinsson, Tropp 2011, algorithm
/// 4.3). In no order, d x `columns` unless a sample has fewer dimensions, orthonormal to about 1e-6.
/// @throws Error(out_of_memory).
[[nodiscard]] DeviceMatrix<double> leading_space(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                                                 index_t columns);

struct LloydRun {
  std::vector<std::int32_t> labels;
  Matrix<double> centers;
  int n_iter = 0;
  KMeansStop stop = KMeansStop::max_iterations;
  index_t relocated = 0, rescored = 0, skipped = 0;
};

/// One run. Each pass: begin_pass(), take() of every block of rows, end_pass(); until done().
class Lloyd {
 public:
  /// `problem.k` is that of the centres. The problem and control must outlive this.
  Lloyd(const KMeansProblem& problem, Matrix<double> centers, const LloydControl& control);
  /// Resumes a run where it stopped; reads the rows once.
  Lloyd(const KMeansProblem& problem, const KMeansState& state, const LloydControl& control);

  [[nodiscard]] bool done() const noexcept { return phase_ == Phase::done; }
  void begin_pass();
  void take(index_t first, const Rows& block);
  void end_pass();
  [[nodiscard]] LloydRun result() && {
    run_.labels = std::move(labels_).to_host();
    run_.centers = clusters_->centroids();
    return std::move(run_);
  }

 private:
  enum class Phase { iterate, label, done };

  /// Labels that changed in the pass. Rows without a direction get label 0.
  [[nodiscard]] index_t changed_labels();
  /// True if sums in fixed point serve all clusters without correction.
  [[nodiscard]] bool fixed_point_serves() const;
  /// Moves centres to the means of their rows. False if one is not the mean of the rows with its label.
  bool move_centers();
  /// Gives empty clusters rows of others, and moves all centres. Labels stay: the next pass finds the nearest centres.
  void relocate(const std::vector<index_t>& empty);
  /// Ends the run if it has a reason to stop; reports the iteration, and hands out the state.
  [[nodiscard]] bool stops_after(index_t changed);
  [[nodiscard]] KMeansProgress progress(index_t changed);
  [[nodiscard]] KMeansState state() const;

  const KMeansProblem& p_;
  const LloydControl& control_;
  const AdjustMean adjust_;
  std::unique_ptr<Clusters> clusters_;
  PerRowArray<std::int32_t> labels_;
  PerRowArray<index_t> directionless_;
  PassStrategy strategy_;
  DeviceFilters device_filters_;
  Phase phase_ = Phase::iterate;
  AssignStats stats_;      ///< of the last pass
  Stopwatch since_begin_;  ///< of the pass
  double squared_shift_ = 0, second_moment_ = -1;
  LloydRun run_;
};

/// Runs all of them to their end, sharing passes over the rows.
void run_together(const KMeansProblem& problem, std::span<Lloyd> runs);

}  // namespace ts::inline v0::solvers::kmeans_detail
