// What each iteration did: one JSON object for each line of --log, and the curves of --report.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "tallskinny/app/tskmeans/options.hpp"
#include "tallskinny/app/tskmeans/stream.hpp"

namespace ts::tskmeans {

/// Bytes per second at which all threads read `rows`, of which up to 256 MiB are read once. 0 for no rows.
[[nodiscard]] double read_roof(const Rows& rows, int threads);

/// What bounds a pass over the points.
struct PassLimit {
  double bytes = 0;                        ///< of all points
  double bytes_per_second = 0;             ///< at which they can be read; 0: unknown
  double seconds_per_cluster = 0;          ///< of the products, where these may bind
  const StreamedRows* streamed = nullptr;  ///< if there are any: the slowest of their links is the limit
};

class IterationLog {
 public:
  /// No file if `file` is empty.
  /// @throws Error(io_failure) when the file cannot be written, from every call.
  IterationLog(std::string file, const PassLimit& limit);

  void add(const solvers::KMeansProgress& progress);
  [[nodiscard]] const std::vector<solvers::KMeansProgress>& all() const noexcept { return all_; }

 private:
  /// That an iteration could take at best; 0: unknown.
  [[nodiscard]] double least_seconds(const solvers::KMeansProgress& progress) const;

  std::string name_;
  std::ofstream out_;
  PassLimit limit_;
  std::vector<solvers::KMeansProgress> all_;
};

}  // namespace ts::tskmeans
