#include "tallskinny/app/common/run_program.hpp"

#include <iostream>
#include <new>

#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::app {

int exit_code_of(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument: return exit_usage;
    case Errc::bad_input: return exit_bad_input;
    case Errc::no_device: return exit_no_device;
    case Errc::interrupted: return stop_requested() ? stop_exit_code() : exit_failure;
    case Errc::io_failure:
    case Errc::out_of_memory:
    case Errc::out_of_range:
    case Errc::device_failure: break;
  }
  return exit_failure;
}

int run_program(const std::string& name, int argc, char** argv, const std::function<int(Arguments)>& body) noexcept {
  const auto failed = [&name](const std::string& sentence, int code) {
    std::cerr << name << ": " << sentence << '\n';
    return code;
  };
  try {
    prepare_openblas();
    install_stop_handlers(name);
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const int code = body(arguments);
    std::cout.flush();
    if (!std::cout) return failed("writing to standard output failed", exit_failure);
    return code;
  } catch (const Error& error) {
    // What a compiler of kernels says has lines; anything else may name what stands in a file.
    const bool lines = error.code() == Errc::device_failure;
    return failed(lines ? error.what() : io::printable(error.what()), exit_code_of(error.code()));
  } catch (const std::bad_alloc&) {
    return failed("there is not enough memory", exit_failure);
  } catch (const std::exception& error) {
    return failed(error.what(), exit_failure);
  }
}

int run_command(const About& about, const std::vector<Command>& commands, Arguments arguments) {
  std::string listed;
  std::vector<std::string> names;
  for (const Command& command : commands) {
    listed += (listed.empty() ? "" : ", ") + command.name;
    names.push_back(command.name);
  }
  if (arguments.empty())
    throw Error(Errc::invalid_argument, "expected a command: " + listed + " (see " + about.name + " --help)");
  const std::string& first = arguments.front();
  for (const Command& command : commands)
    if (command.name == first) return command.run(arguments.subspan(1));

  if (first == "--version") {
    std::cout << version_text(about.name) << '\n';
    return exit_ok;
  }
  if (first == "--list-options") {
    for (const std::string& name : names) std::cout << name << '\n';
    std::cout << "--help\n--version\n";
    return exit_ok;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    std::cout << "Usage: " << about.name << " COMMAND ...\n\n" << about.summary << "\n\nCommands:\n";
    for (const Command& command : commands)
      std::cout << "  " << command.name << std::string(command.name.size() < 10 ? 10 - command.name.size() : 1, ' ')
                << command.summary << '\n';
    std::cout << "\nEach command has its own page: " << about.name << ' ' << commands.front().name << " --help\n";
    if (!about.examples.empty()) std::cout << "\nExamples:\n";
    for (const auto& example : about.examples) {
      for (const std::string& line : wrap(example.comment, 75)) std::cout << "  # " << line << '\n';
      std::cout << "  " << example.command << '\n';
    }
    return exit_ok;
  }
  const std::string near = nearest_name(first, names);
  throw Error(Errc::invalid_argument,
              "unknown command '" + first + "'" +
                  (near.empty() ? "; expected one of " + listed : "; did you mean " + near + "?"));
}

}  // namespace ts::app
