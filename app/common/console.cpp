#include "tallskinny/app/common/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

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

std::string progress_line(std::string_view text, double elapsed_seconds, std::size_t width) {
  if (width == 0) return {};
  std::string what = io::printable(text);
  const std::string time = "  " + human_seconds(elapsed_seconds);
  // The last column stays empty, or some terminals would begin another line. Long text loses its end; bytes of a
  // character stay together.
  const std::size_t columns = width - 1;
  if (what.size() + time.size() > columns) {
    constexpr std::string_view dots = "...";
    std::size_t kept = columns > time.size() + dots.size() ? columns - time.size() - dots.size() : 0;
    while (kept > 0 && (static_cast<unsigned char>(what[kept]) & 0xc0) == 0x80) --kept;
    what.resize(kept), what += dots;
  }
  return (what + time).substr(0, columns);
}

std::string Pace::text(index_t iteration, index_t most) {
  if (iteration <= last_ || first_ == 0) first_ = iteration, watch_ = {};
  last_ = iteration;
  std::string text = "iteration " + grouped(iteration);
  if (most > 0) text += " of at most " + grouped(most);
  if (iteration > first_)
    text += ", " + human_seconds(watch_.seconds() / static_cast<double>(iteration - first_)) + " each";
  return text;
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

void Console::progress(std::string_view text) {
  const Clock::time_point now = Clock::now();
  if (!meter_ || (drawn_ && now - last_drawn_ < std::chrono::milliseconds(100))) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::cerr << "\r\033[K" << progress_line(text, seconds, terminal_width()) << std::flush;
  drawn_ = true;
  last_drawn_ = now;
}

void Console::restart_progress() {
  clear_meter();
  start_ = Clock::now();
}

}  // namespace ts::app
