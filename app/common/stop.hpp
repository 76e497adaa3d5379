// Stopping on SIGINT and SIGTERM: the first asks the program to finish its step and write what it has, the
// second kills it.
#pragma once

namespace ts::app {

void install_stop_handlers();

/// The signal that asked the program to stop; 0 while none has.
[[nodiscard]] int stop_signal() noexcept;
[[nodiscard]] inline bool stop_requested() noexcept {
  return stop_signal() != 0;
}
/// 128 + the signal's number.
[[nodiscard]] int stop_exit_code() noexcept;

}  // namespace ts::app
