// End of a program: exit status, signals, last message. The first of the signals SIGINT, SIGTERM, SIGHUP, SIGUSR1
// (which Slurm sends before a limit) and SIGXCPU asks the program to finish its step and write its result; the next
// kills it, half a second later at the earliest. A program that ends otherwise leaves a line, exit status 1 and no
// unfinished file: no memory where nothing may throw, a crash, a library that calls exit (as HDF5 does when memory is
// short).
#pragma once

#include <string_view>

namespace ts::app {

/// Installs the handlers. On a terminal the first signal is answered with a line on standard error. SIGINT and SIGHUP
/// stay ignored where the parent ignored them (nohup). SIGXFSZ is ignored: a write to a full disk fails with an error.
/// @param program for the message of EndsOnSignal; empty: another process reports it.
void install_stop_handlers(std::string_view program);

/// The signal that asked the program to stop; 0 while none has.
[[nodiscard]] int stop_signal() noexcept;
[[nodiscard]] inline bool stop_requested() noexcept { return stop_signal() != 0; }
/// Stops work whose partial results are of no use. @throws Error(interrupted) if a signal asked to stop.
void throw_if_stopped();

/// 128 + the signal's number.
[[nodiscard]] int stop_exit_code() noexcept;

/// During its lifetime a signal ends the program immediately, with a message, 128 + its number, and without unfinished
/// files. For reading and for computations that cannot be interrupted.
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

/// Installs handlers of crashes; call before anything else in a process. Crashes that a sanitizer handles are left to
/// it.
void install_last_words() noexcept;

/// During its lifetime, a call of exit() is that of a library that gives up.
class NoExit {
 public:
  NoExit() noexcept;
  ~NoExit();
  NoExit(const NoExit&) = delete;
  NoExit& operator=(const NoExit&) = delete;
};

}  // namespace ts::app
