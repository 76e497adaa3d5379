#include "tallskinny/app/common/stop.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

namespace {

std::atomic<int> received = 0;
std::atomic<bool> on_terminal = false;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

void on_signal(int signal) {
  if (received.exchange(signal) == 0) {
    constexpr std::string_view line = "\nstopping after this step; once more to kill\n";
    const int saved = errno;
    if (on_terminal) {
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    }
    errno = saved;
    return;
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void install_stop_handlers() {
  on_terminal = ::isatty(STDERR_FILENO) != 0;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

int stop_signal() noexcept {
  return received.load();
}

void throw_if_stopped() {
  if (const int signal = stop_signal(); signal != 0)
    throw Error(Errc::interrupted, "stopped by signal " + std::to_string(signal));
}

int stop_exit_code() noexcept {
  return 128 + stop_signal();
}

}  // namespace ts::app
