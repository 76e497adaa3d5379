// Log of iterations: one JSON object for each line of --log, and the curves of --report.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tallskinny/app/tskmeans/options.hpp"
#include "tallskinny/io/write/new_file.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

namespace ts::tskmeans {

/// Bytes per second at which all threads read `rows`, of which up to 256 MiB are read once. 0 for no rows.
[[nodiscard]] double read_roof(const Rows& rows, int threads);

/// Resources that bound the time of a pass over the points.
struct PassLimit {
  double bytes = 0;                                 ///< of all points
  double bytes_per_second = 0;                      ///< at which they can be read; 0: unknown
  double seconds_per_cluster = 0;                   ///< of the products, where these may bind
  const solvers::StreamedRows* streamed = nullptr;  ///< if there are any: the slowest of their links is the limit
};

class IterationLog {
 public:
  /// No file if `file` is empty. Of a resumed run, the lines that the file has up to the state stay.
  /// @param warn called once when a line cannot be written: it is tried again with the next.
  /// @throws Error(io_failure) when the file cannot be made.
  IterationLog(const std::string& file, const PassLimit& limit, const solvers::KMeansState* resume,
               std::function<void(const std::string&)> warn);

  void add(const solvers::KMeansProgress& progress);
  [[nodiscard]] const std::vector<solvers::KMeansProgress>& all() const noexcept { return all_; }

 private:
  /// Least seconds that an iteration can take; 0: unknown.
  [[nodiscard]] double least_seconds(const solvers::KMeansProgress& progress) const;

  std::optional<io::NewFile> out_;
  std::function<void(const std::string&)> warn_;  ///< empty once it was called
  std::string pending_;                           ///< lines that are not in the file yet
  PassLimit limit_;
  std::vector<solvers::KMeansProgress> all_;
};

}  // namespace ts::tskmeans
