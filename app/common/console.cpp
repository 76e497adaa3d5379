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

std::string progress_line(double fraction, std::string_view text, double elapsed_seconds, std::size_t width) {
  constexpr std::size_t cells = 20;
  std::string line;
  if (fraction >= 0) {
    fraction = std::min(fraction, 1.0);
    const auto full = static_cast<std::size_t>(fraction * cells);
    line = '[' + std::string(full, '#') + std::string(cells - full, '.') + "] ";
  }
  line += io::printable(text) + "  " + human_seconds(elapsed_seconds);
  // Before a second has passed or a hundredth is done, an estimate would only flicker.
  if (fraction >= 0.01 && elapsed_seconds >= 1)
    line += ", " + human_seconds(elapsed_seconds * (1 - fraction) / fraction) + " left";
  return line.substr(0, width > 0 ? width - 1 : 0);
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

void Console::progress(double fraction, std::string_view text) {
  if (!meter_) return;
  const auto now = Clock::now();
  if (drawn_ && now - last_drawn_ < std::chrono::milliseconds(100)) return;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  std::cerr << "\r\033[K" << progress_line(fraction, text, elapsed, terminal_width()) << std::flush;
  drawn_ = true;
  last_drawn_ = now;
}

void Console::restart_progress() {
  clear_meter();
  start_ = Clock::now();
}

}  // namespace ts::app
