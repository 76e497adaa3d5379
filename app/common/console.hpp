// Everything that is not a result goes to standard error, through here.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

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

  /// Redraws the one-line meter: a bar, `text`, the time taken and the time left, where that is known (time_left.hpp).
  /// Does nothing unless standard error is a terminal that can (no --quiet, NO_COLOR or TERM=dumb), and at most ten
  /// times a second.
  void progress(std::string_view text, std::optional<double> seconds_left = {});
  /// Whether progress() would draw: an estimate costs something.
  [[nodiscard]] bool draws() const;
  /// Since the meter's clock was started.
  [[nodiscard]] double seconds_taken() const;
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
/// that is too little the bar gets shorter, then the text. Pure.
std::string progress_line(std::string_view text, double elapsed_seconds, std::optional<double> seconds_left,
                          std::size_t width);

}  // namespace ts::app
