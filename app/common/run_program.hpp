// The frame of every program: from main's arguments to the exit status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/ranks.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

/// The exit status that an error ends a program with.
[[nodiscard]] int exit_code_of(Errc code) noexcept;

/// Runs `work` on the arguments after the program's name and returns the exit status it chose. Installs the
/// stop handlers. An error becomes the line "NAME: sentence" on standard error and the exit status of its
/// code; a result that could not be written to standard output is an error too.
/// @throws nothing; where a launcher has started several processes, its first one alone runs a program that is not
/// made for them, and that is an error.
int run_program(const std::string& name, int argc, char** argv, const std::function<int(Arguments)>& work) noexcept;

/// Runs a program that may have several ranks. Rank 0 alone writes to standard output and error; all ranks end with one
/// exit status, and each error is printed once.
int run_on_ranks(const std::string& name, int argc, char** argv,
                 const std::function<int(Arguments, const Ranks&)>& work) noexcept;

/// Runs `work` on `ranks` threads of this process, each a rank; rank 0 is the calling thread. Ranks share processors
/// and memory, and rank 0 alone may write to standard output. Returns the exit status of all; an error of any rank is
/// printed once on standard error.
int work_on_threads(const std::string& name, int ranks, const std::function<int(const Ranks&)>& work);

/// Runs `work` on the ranks there are or, where `device` names several GPUs, on a thread for each GPU.
/// @throws Error(invalid_argument) for several GPUs under a launcher; Error(no_device).
int work_on_devices(const std::string& name, const std::string& device, const Ranks& ranks,
                    const std::function<int(const Ranks&)>& work);

/// One of the things a program does, chosen by its first argument.
struct Command {
  std::string name, summary;
  std::function<int(Arguments)> run;
};

/// The work of a program that has commands: `NAME COMMAND ...`, `NAME --help`, `NAME --version`.
int run_command(const About& about, const std::vector<Command>& commands, Arguments arguments);

}  // namespace ts::app
