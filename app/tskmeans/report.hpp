// Results of tskmeans on standard output.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tallskinny/app/tskmeans/options.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/measures.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

namespace ts::tskmeans {

/// A measure of quality, with its names in files and in text.
struct NamedMeasure {
  const char *key, *name;
  double value;
  int digits;  ///< in text

  [[nodiscard]] std::string text() const;
};
[[nodiscard]] inline std::array<NamedMeasure, 3> named(const solvers::KMeansMeasures& m) {
  return {{{"simplified_silhouette", "simplified silhouette", m.simplified_silhouette, 4},
           {"davies_bouldin", "Davies-Bouldin", m.davies_bouldin, 4},
           {"calinski_harabasz", "Calinski-Harabasz", m.calinski_harabasz, 5}}};
}

/// Result of a clustering or a prediction, with facts about the run.
struct Outcome {
  bool predicted = false;
  solvers::KMeansResult found;  ///< of a prediction: labels, inertia, sizes, distinct, rescored, zero_rows
  index_t violations = -1;      ///< of --verify and --verify-sample; negative: not asked for
  index_t verified = 0;         ///< points of which these were counted
  io::Description points;       ///< rows and cols as read
  std::string device;
  int threads = 0, ranks = 1;
  std::string ranks_work;  ///< of several: who worked
  double read_seconds = 0, elapsed_seconds = 0;
  std::optional<solvers::KMeansMeasures> measures;
  /// Result for one of several numbers of clusters.
  struct Choice {
    index_t clusters = 0;
    double inertia = 0;
    int n_iter = 0;
    bool converged = false;
    solvers::KMeansMeasures measures;
  };
  std::vector<Choice> choices;
  Matrix<double> distances;  ///< of --transform
  /// Labels that a csv file had (--labels-column): their number, and their agreement with the clusters.
  struct Known {
    index_t labels = 0;
    double rand_index = 0;
  };
  std::optional<Known> known;
  bool resumed = false;
  std::vector<solvers::KMeansProgress> iterations;
  /// Points that passed by in blocks: no blocks if they lay where they were used.
  struct Stream {
    index_t block_rows = 0;
    bool from_host = false;  ///< not from their file
    solvers::PassTimes times;
  } stream;
};

void print_json(const ProgramOptions& options, const Outcome& outcome);
void print_summary(const ProgramOptions& options, const Outcome& outcome);

}  // namespace ts::tskmeans
