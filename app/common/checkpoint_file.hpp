// --checkpoint FILE and --restart, the same in all programs: which files are taken up, and which are left
// alone.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/options.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::app {

struct CheckpointOptions {
  std::string file;    ///< empty: none
  double every = 600;  ///< seconds between two writings
  bool restart = false;
};

/// --checkpoint, --every, --restart
void add_checkpoint_options(Options& options, CheckpointOptions& target);

/// The checkpoint of a run. Every file carries a checksum, so that nothing damaged is taken up.
class CheckpointFile {
 public:
  /// Looks at the file, quickly: to be called before the work. @param program whose checkpoint it must be.
  /// @param version of what the program writes: others are not taken up.
  /// @throws Error(bad_input) for a file that is there and is no checkpoint of the program: it is not
  /// touched. One of an earlier version is replaced with --restart, else refused as well.
  CheckpointFile(std::string program, int version, CheckpointOptions options, Console& console);

  /// True if the run goes on from a stored state: the file exists, and --restart was not given.
  [[nodiscard]] bool resumes() const noexcept { return resumes_; }
  /// @throws Error(bad_input) naming the file if its checksum does not fit.
  void expect_whole() const;
  /// @throws Error(code): "FILE `why`; ..." and what to do. For a state that does not belong to this run.
  [[noreturn]] void refuse(const std::string& why, Errc code = Errc::bad_input) const;

  [[nodiscard]] bool asked_for() const noexcept { return !options_.file.empty(); }
  [[nodiscard]] bool due() const { return since_.seconds() >= options_.every; }
  /// Writes a state by `fill`. Where that fails the run goes on: there is a warning, once, and another try
  /// when the next one is due.
  void write(const std::function<void(io::OutputFile&)>& fill);
  /// Another process has written it.
  void written_by_another() { written_ = true, since_ = {}; }
  /// The run has ended and its result is written: nothing is left to take up.
  void remove() const;
  /// True once the file holds a state of this run.
  [[nodiscard]] bool kept() const noexcept { return written_; }
  [[nodiscard]] const std::string& name() const noexcept { return options_.file; }

 private:
  std::string program_, signature_;
  CheckpointOptions options_;
  Console& console_;
  Stopwatch since_;  ///< the last write
  bool resumes_ = false, written_ = false, warned_ = false;
};

}  // namespace ts::app
