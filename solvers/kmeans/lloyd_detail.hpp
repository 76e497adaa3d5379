// The Lloyd iteration from given centres. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::solvers::kmeans_detail {

struct LloydControl {
  int max_iter = 300;
  double squared_shift = -1;  ///< converged at or below; negative: only by labels
  bool spherical = false;
  bool bounds = true;
  int run = 0, runs = 1;
  const std::function<bool(const KMeansProgress&)>* on_progress = nullptr;
};

struct LloydRun {
  std::vector<std::int32_t> labels;
  Matrix<double> centers;
  int n_iter = 0;
  KMeansStop stop = KMeansStop::max_iterations;
  index_t relocated = 0, rescored = 0, skipped = 0;
};

LloydRun lloyd(const Problem& problem, Matrix<double> centers, const LloydControl& control);

}  // namespace ts::solvers::kmeans_detail
