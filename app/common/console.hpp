// Everything that is not a result goes to standard error, through here.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/core/types.hpp"

namespace ts::app {

class Console {
 public:
  /// `quiet`: only warnings and errors are written. `speaks`: anything is; of ranks the first does.
  Console(std::string program, bool quiet, bool speaks = true);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// A whole line for the curious; left out by --quiet.
  void note(std::string_view line);
  /// A whole line the user should not miss, even with --quiet.
  void warn(std::string_view line);

  /// A whole line that says why something was not done while other things were.
  void error(std::string_view line);

  /// Redraws the one-line meter: `text` and the time taken. Does nothing unless standard error is a terminal that can
  /// (no --quiet, NO_COLOR or TERM=dumb), and at most ten times a second.
  void progress(std::string_view text);
  /// Starts the meter's clock again, for another stage of the work.
  void restart_progress();

 private:
  using Clock = std::chrono::steady_clock;
  void clear_meter();

  std::string program_;
  bool speaks_, quiet_, meter_, drawn_ = false;
  Clock::time_point start_ = Clock::now(), last_drawn_{};
};

/// The line that Console::progress draws, without control characters and shorter than `width`, the terminal's: where
/// that is too little the text loses its end. Pure.
std::string progress_line(std::string_view text, double elapsed_seconds, std::size_t width);

/// Speed of the iterations of a run.
class Pace {
 public:
  /// "iteration 12 of at most 300, 85 ms each": the mean since the first iteration reported. A number not larger than
  /// the last one begins another run. @param most 0: no bound is known.
  [[nodiscard]] std::string text(index_t iteration, index_t most);

 private:
  index_t first_ = 0, last_ = 0;
  Stopwatch watch_;
};

}  // namespace ts::app
