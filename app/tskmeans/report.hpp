// Results of tskmeans: on standard output, and in a file.
#pragma once

#include "tallskinny/app/tskmeans/options.hpp"

namespace ts::tskmeans {

/// What was found, by clustering or by prediction.
struct Outcome {
  bool predicted = false;
  solvers::KMeansResult found;  ///< of a prediction: labels, inertia, sizes, distinct, rescored, zero_rows
  index_t violations = -1;      ///< of --verify; negative: not asked for
  io::Description points;       ///< rows and cols as read
  std::string device;
  int threads = 0;
  double read_seconds = 0, elapsed_seconds = 0;
};

void print_json(const ProgramOptions& options, const Outcome& outcome);
void print_summary(const ProgramOptions& options, const Outcome& outcome);
void write_file(const ProgramOptions& options, const Outcome& outcome);

}  // namespace ts::tskmeans
