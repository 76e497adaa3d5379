// The command line of tskmeans.
#pragma once

#include <optional>
#include <string>

#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::tskmeans {

struct ProgramOptions {
  std::string features;
  std::optional<index_t> clusters;
  std::string init = "k-means++";  ///< a word, or a file with centres
  std::string weights, predict;    ///< files; empty: none
  bool verify = false;
  bool metric_given = false;
  solvers::KMeansOptions kmeans;  ///< without what comes from files
  io::ReadOptions read;
  app::CommonOptions common;

  /// False when --help or the like has been answered. @throws Error(invalid_argument).
  [[nodiscard]] bool parse(app::Arguments arguments);
};

/// The words of the options, as the help page and the results write them.
[[nodiscard]] std::optional<solvers::KMeansInit> init_of(const std::string& word);
[[nodiscard]] std::string name_of(solvers::KMeansMetric metric);
[[nodiscard]] std::string name_of(solvers::KMeansTolerance tolerance);
[[nodiscard]] std::string name_of(solvers::KMeansStop stop);

}  // namespace ts::tskmeans
