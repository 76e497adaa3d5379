// The command line of tskmeans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tallskinny/app/common/checkpoint_file.hpp"
#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::tskmeans {

/// Measure by which one of several numbers of clusters is selected.
enum class Choose { simplified_silhouette, davies_bouldin, calinski_harabasz };

struct ProgramOptions {
  std::string features;
  std::vector<index_t> clusters;   ///< one, several, or none given
  std::string init = "k-means++";  ///< a word, or a file with centres
  std::string weights, predict;    ///< files; empty: none
  index_t verify_sample = 0;       ///< points; 0: none, unless `verify` asks for all
  bool verify = false, measures = false, transform = false;
  Choose choose = Choose::simplified_silhouette;
  std::string log, report, resume;      ///< files; empty: none
  std::string centers_out, labels_out;  ///< tables; empty: none
  DType centers_type = DType::float64;  ///< in files
  app::CheckpointOptions checkpoint{.file = {}, .every = 60, .restart = false};
  std::uint64_t memory = 0;  ///< bytes; 0: what the machine has
  bool metric_given = false;
  solvers::KMeansOptions kmeans{.n_init = 0};  ///< without what comes from files
  io::ReadOptions read;
  app::CommonOptions common;

  /// False when --help or the like has been answered. @throws Error(invalid_argument).
  [[nodiscard]] bool parse(app::Arguments arguments);
  /// True if a table goes to standard output. @throws Error(invalid_argument) for --json beside it.
  [[nodiscard]] bool prints_table() const;
  [[nodiscard]] bool writes_files() const {
    return !common.output.empty() || !centers_out.empty() || !labels_out.empty();
  }
};

/// The words of the options, as the help page and the results write them.
[[nodiscard]] std::optional<solvers::KMeansInit> init_of(const std::string& word);
[[nodiscard]] std::optional<solvers::KMeansMetric> metric_of(const std::string& word);
[[nodiscard]] std::string name_of(solvers::KMeansMetric metric);
[[nodiscard]] std::string name_of(solvers::KMeansAlgorithm algorithm);
[[nodiscard]] std::string name_of(solvers::KMeansPrecision precision);
[[nodiscard]] std::string name_of(Choose choose);
[[nodiscard]] std::string name_of(solvers::KMeansTolerance tolerance);
[[nodiscard]] std::string name_of(solvers::KMeansStop stop);

}  // namespace ts::tskmeans
