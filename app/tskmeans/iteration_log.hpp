// What each iteration did: one JSON object for each line of --log, and the curves of --report.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "tallskinny/app/tskmeans/options.hpp"

namespace ts::tskmeans {

/// Bytes per second at which all threads read `rows`, of which up to 256 MiB are read once. 0 for no rows.
[[nodiscard]] double read_roof(const Rows& rows, int threads);

class IterationLog {
 public:
  /// `bytes`: of all points; `roof`: bytes per second, 0: unknown. No file if `file` is empty.
  /// @throws Error(io_failure) when the file cannot be written, from every call.
  IterationLog(std::string file, double bytes, double roof);

  void add(const solvers::KMeansProgress& progress);
  [[nodiscard]] const std::vector<solvers::KMeansProgress>& all() const noexcept { return all_; }

 private:
  std::string name_;
  std::ofstream out_;
  double bytes_, roof_;
  std::vector<solvers::KMeansProgress> all_;
};

}  // namespace ts::tskmeans
