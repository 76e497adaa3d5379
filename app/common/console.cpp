#include "tallskinny/app/common/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::app {

namespace {

bool terminal_can_redraw() {
  const char* const no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != 0) return false;
  const char* const term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

std::string progress_line(std::string_view text, double elapsed_seconds, std::optional<double> seconds_left,
                          std::size_t width) {
  if (width == 0) return {};
  std::string what = io::printable(text), times = "  " + human_seconds(elapsed_seconds), bar;
  // Before a second has passed an estimate would only flicker.
  if (seconds_left && elapsed_seconds >= 1) {
    times += ", about " + human_seconds(*seconds_left) + " left";
    constexpr std::size_t cells = 20, fewest = 5;
    const std::size_t taken = what.size() + times.size() + 4;  // with brackets, a blank, and the last column
    const std::size_t shown = std::clamp(width > taken ? width - taken : 0, fewest, cells);
    const double fraction = elapsed_seconds / (elapsed_seconds + *seconds_left);
    const auto full = static_cast<std::size_t>(fraction * static_cast<double>(shown));
    bar = '[' + std::string(full, '#') + std::string(shown - full, '.') + "] ";
  }
  // The last column stays empty, or some terminals would begin another line. What is too long loses its end; bytes of a
  // character stay together.
  const std::size_t columns = width - 1, others = bar.size() + times.size();
  if (what.size() + others > columns) {
    constexpr std::string_view dots = "...";
    std::size_t kept = columns > others + dots.size() ? columns - others - dots.size() : 0;
    while (kept > 0 && (static_cast<unsigned char>(what[kept]) & 0xc0) == 0x80) --kept;
    what.resize(kept), what += dots;
  }
  return (bar + what + times).substr(0, columns);
}

Console::Console(std::string program, bool quiet, bool speaks)
    : program_(std::move(program)),
      speaks_(speaks),
      quiet_(quiet || !speaks),
      meter_(!quiet_ && terminal_can_redraw()) {}

Console::~Console() { clear_meter(); }

void Console::clear_meter() {
  if (drawn_) std::cerr << "\r\033[K" << std::flush;
  drawn_ = false;
}

void Console::note(std::string_view line) {
  if (quiet_) return;
  clear_meter();
  std::cerr << io::printable(line) << '\n';
}

void Console::warn(std::string_view line) {
  if (!speaks_) return;
  clear_meter();
  std::cerr << program_ << ": warning: " << io::printable(line) << '\n';
}

void Console::error(std::string_view line) {
  if (!speaks_) return;
  clear_meter();
  std::cerr << program_ << ": " << io::printable(line) << '\n';
}

bool Console::draws() const {
  return meter_ && (!drawn_ || Clock::now() - last_drawn_ >= std::chrono::milliseconds(100));
}

void Console::progress(std::string_view text, std::optional<double> seconds_left) {
  if (!draws()) return;
  std::cerr << "\r\033[K" << progress_line(text, seconds_taken(), seconds_left, terminal_width()) << std::flush;
  drawn_ = true;
  last_drawn_ = Clock::now();
}

double Console::seconds_taken() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

void Console::restart_progress() {
  clear_meter();
  start_ = Clock::now();
}

}  // namespace ts::app
