// The tables and the JSON of tsbench: one row and one object for every result.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tsbench/measure.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"

namespace ts::bench {

void print_header(std::ostream& out, Space place);
void print_row(std::ostream& out, const Measured& m);
/// The rates of a GPU as measured, with its name, the date and the commit.
void print_gpu_roofs(std::ostream& out, const cuda::DeviceInfo& roofs);
/// A line for each table, operation and type: the lowest and highest share of the roof up to width 32 and beyond, its
/// geometric mean, that of the ratios to the vendor's best, and where the least is; then a line for each operation, and
/// one about all.
void print_summary(std::ostream& out, const std::vector<Measured>& cases);
[[nodiscard]] app::JsonObject json_of(const Measured& m);

using app::utc_now;
/// Commit that this program was built from.
[[nodiscard]] std::string_view commit();

/// The machine, the date, the commit and the compilers or libraries: what a figure means nothing without.
[[nodiscard]] app::JsonObject json_of_run(const Context& ctx, const Effort& effort, std::int64_t bytes,
                                          const Roofs& best);
[[nodiscard]] app::JsonObject json_of_gpu_run(const cuda::DeviceInfo& roofs, std::int64_t bytes);

/// Writes a whole file and says so on standard error: "wrote FILE: WHAT". @throws Error(io_failure) naming
/// the file.
void write_and_report(const std::string& file, std::string_view text, const std::string& what);

/// The JSON file of a benchmark, which is whole at any time: what was measured before a run was cut off is there.
class ResultsFile {
 public:
  /// `path` may be empty: nothing is written then.
  explicit ResultsFile(std::string path) : path_(std::move(path)) {}
  /// Sets the members that stand before the results.
  void set_header(app::JsonObject header) { header_ = std::move(header); }
  /// Adds a result and, every few seconds, writes the file. @throws Error(io_failure) naming the file.
  void add(app::JsonObject result);
  /// Writes beside the file and renames; one result a line. @throws Error(io_failure) naming the file.
  void write();
  /// Writes the file, and says so on standard error.
  void finish();

 private:
  std::string path_;
  app::JsonObject header_;
  std::vector<app::JsonObject> results_;
  Stopwatch since_;
  double written_at_ = 0;
};

}  // namespace ts::bench
