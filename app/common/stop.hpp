// Stopping on signals (SIGINT, SIGTERM, SIGHUP, SIGUSR1, which Slurm sends before a limit, and SIGXCPU): the
// first asks the program to finish its step and write what it has; the next kills it, half a second later at
// the earliest.
#pragma once

#include <string_view>

namespace ts::app {

/// On a terminal the first signal is answered with a line on standard error. SIGINT and SIGHUP stay ignored
/// where the parent ignored them (nohup); SIGXFSZ is ignored: a write that finds no room fails with an error.
/// @param program for the sentence of EndsOnSignal; empty: another process tells it.
void install_stop_handlers(std::string_view program);

/// The signal that asked the program to stop; 0 while none has.
[[nodiscard]] int stop_signal() noexcept;
[[nodiscard]] inline bool stop_requested() noexcept { return stop_signal() != 0; }
/// For work whose parts are of no use. @throws Error(interrupted) if a signal asked to stop.
void throw_if_stopped();

/// 128 + the signal's number.
[[nodiscard]] int stop_exit_code() noexcept;

/// While one lives there is no partial result: a signal ends the program at once, with a sentence, 128 + its
/// number, and without unfinished files. For reading and for computations that cannot be interrupted.
class EndsOnSignal {
 public:
  /// @throws Error(interrupted) if a signal has come before.
  EndsOnSignal();
  ~EndsOnSignal();
  EndsOnSignal(const EndsOnSignal&) = delete;
  EndsOnSignal& operator=(const EndsOnSignal&) = delete;
};

}  // namespace ts::app
