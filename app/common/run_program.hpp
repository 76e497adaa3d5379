// The frame of every program: from main's arguments to the exit status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/ranks.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

/// The exit status that an error ends a program with.
[[nodiscard]] int exit_code_of(Errc code) noexcept;

/// Runs `body` on the arguments after the program's name and returns the exit status it chose. Installs the
/// stop handlers. An error becomes the line "NAME: sentence" on standard error and the exit status of its
/// code; a result that could not be written to standard output is an error too.
/// @throws nothing; where a launcher has started several processes, its first one alone runs a program that is not
/// made for them, and that is an error.
int run_program(const std::string& name, int argc, char** argv, const std::function<int(Arguments)>& body) noexcept;

/// The same for a program that several processes may run together. Rank 0 alone writes to standard output and error;
/// all end with one exit status, and an error of any rank is told once.
int run_on_ranks(const std::string& name, int argc, char** argv,
                 const std::function<int(Arguments, const Ranks&)>& body) noexcept;

/// One of the things a program does, chosen by its first argument.
struct Command {
  std::string name, summary;
  std::function<int(Arguments)> run;
};

/// The body of a program that has commands: `NAME COMMAND ...`, `NAME --help`, `NAME --version`.
int run_command(const About& about, const std::vector<Command>& commands, Arguments arguments);

}  // namespace ts::app
