// The JSON file of a benchmark, which is whole at any time: what was measured before a run was cut off is
// there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/gemm/runtime/stopwatch.hpp"

namespace ts::bench {

/// Writes a whole file and says so on standard error: "wrote FILE: WHAT". @throws Error(io_failure) naming
/// the file.
void write_and_tell(const std::string& file, std::string_view text, const std::string& what);

class ResultsFile {
 public:
  /// `path` may be empty: nothing is written then.
  explicit ResultsFile(std::string path) : path_(std::move(path)) {}
  /// What stands before the results.
  void set_header(app::JsonObject header) { header_ = std::move(header); }
  /// Adds a result and, every few seconds, writes the file. @throws Error(io_failure) naming the file.
  void add(app::JsonObject result);
  /// Writes beside the file and renames; one result a line. @throws Error(io_failure) naming the file.
  void write();
  /// The same, and says so on standard error.
  void finish();

 private:
  std::string path_;
  app::JsonObject header_;
  std::vector<app::JsonObject> results_;
  Stopwatch since_;
  double written_at_ = 0;
};

}  // namespace ts::bench
