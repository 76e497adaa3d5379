// How a program ends: its exit status, signals, last words. Of the signals SIGINT, SIGTERM, SIGHUP, SIGUSR1 (which
// Slurm sends before a limit) and SIGXCPU the first asks the program to finish its step and write what it has; the next
// kills it, half a second later at the earliest. The last words are the sentence of a program that ends in another way:
// no memory where nothing may throw, a crash, a library that calls exit (as HDF5 does when memory is short): a line,
// exit status 1, no unfinished file.
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

/// A program that was stopped by signal n ends with 128 + n (see stop.hpp).
enum ExitCode : int {
  exit_ok = 0,             ///< done, or converged
  exit_failure = 1,        ///< something went wrong although the request made sense
  exit_usage = 2,          ///< the command line, environment or configuration file asks for the impossible
  exit_not_converged = 3,  ///< the partial result was written
  exit_bad_input = 4,      ///< an input file cannot be used
  exit_no_device = 5       ///< no such device
};

/// Before anything else in a process; crashes that somebody else answers, as a sanitizer does, are left to that.
void install_last_words() noexcept;

/// While one lives, exit() is called by a library that gives up.
class NoExit {
 public:
  NoExit() noexcept;
  ~NoExit();
  NoExit(const NoExit&) = delete;
  NoExit& operator=(const NoExit&) = delete;
};

}  // namespace ts::app
