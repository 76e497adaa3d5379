#include "tallskinny/app/common/stop.hpp"

#include <atomic>
#include <csignal>

namespace ts::app {

namespace {

std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void on_signal(int signal) {
  if (received.exchange(signal) == 0) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void install_stop_handlers() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

int stop_signal() noexcept {
  return received.load();
}

int stop_exit_code() noexcept {
  return 128 + stop_signal();
}

}  // namespace ts::app
