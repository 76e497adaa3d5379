// Stopping on SIGINT and SIGTERM: the first asks the program to finish its step and write what it has, the
// second kills it.
#pragma once

namespace ts::app {

/// On a terminal the first signal is answered with a line on standard error.
void install_stop_handlers();

/// The signal that asked the program to stop; 0 while none has.
[[nodiscard]] int stop_signal() noexcept;
[[nodiscard]] inline bool stop_requested() noexcept {
  return stop_signal() != 0;
}
/// For work whose parts are of no use. @throws Error(interrupted) if a signal asked to stop.
void throw_if_stopped();

/// 128 + the signal's number.
[[nodiscard]] int stop_exit_code() noexcept;

}  // namespace ts::app
