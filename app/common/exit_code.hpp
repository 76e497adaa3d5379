// What a program's exit status says; the same for all programs.
#pragma once

namespace ts::app {

/// A program that was stopped by signal n ends with 128 + n (see stop.hpp).
enum ExitCode : int {
  exit_ok = 0,             ///< done, or converged
  exit_failure = 1,        ///< something went wrong although the request made sense
  exit_usage = 2,          ///< the command line, environment or configuration file asks for the impossible
  exit_not_converged = 3,  ///< the partial result was written
  exit_bad_input = 4,      ///< an input file cannot be used
  exit_no_device = 5       ///< no such device
};

}  // namespace ts::app
