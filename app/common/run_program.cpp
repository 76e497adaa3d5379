#include "tallskinny/app/common/run_program.hpp"

#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <streambuf>

#include "tallskinny/app/common/completion.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/io/memory.hpp"
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

namespace {

constexpr int before_others = 101;  ///< the first priority that a program may use
[[gnu::constructor(before_others)]] void begin() noexcept { install_last_words(); }

/// The result of `work`, or its failure. Allocates nothing for itself: it is called where nothing may throw.
template <class Work>
Ending ending_of(const Work& work) noexcept {
  try {
    return {work()};
  } catch (const Error& error) {
    // Messages of a kernel compiler have several lines; others may repeat bytes of a file and are made printable.
    const bool lines = error.code() == Errc::device_failure;
    return {exit_code_of(error.code()), lines ? error.what() : io::printable(error.what())};
  } catch (const std::bad_alloc&) {
    return {exit_failure, "there is not enough memory"};
  } catch (const RankEnded& error) {
    return {exit_failure, error.what(), true};
  } catch (const std::exception& error) {
    return {exit_failure, error.what()};
  }
}

/// Writes an error of a program.
std::function<void(const std::string&)> error_reporter(const std::string& name) {
  return [&name](const std::string& sentence) { std::cerr << name << ": " << sentence << '\n'; };
}

/// Ends a rank: returns the exit status of all, after the error was reported once.
int agreed_status(const Ranks& ranks, const Ending& mine,
                  const std::function<void(const std::string&)>& report) noexcept {
  const Ending end = ending_of([&] { return ranks.agree(mine, report); });
  if (!end.sentence.empty()) report(end.sentence);
  return end.code;
}

/// While one lives, as many threads of this process share what it has.
class Shared {
 public:
  explicit Shared(int ranks) { share(ranks); }
  ~Shared() { share(1); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

 private:
  static void share(int ranks) noexcept {
    share_threads(ranks);
    io::share_memory(ranks);
  }
};

/// Discards text written to a stream during its lifetime.
class Silence {
 public:
  explicit Silence(std::ostream& stream) : stream_(stream), theirs_(stream.rdbuf(&nowhere_)) {}
  ~Silence() { stream_.rdbuf(theirs_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  struct Nowhere final : std::streambuf {
    int_type overflow(int_type c) override { return traits_type::not_eof(c); }
    std::streamsize xsputn(const char_type*, std::streamsize count) override { return count; }
  } nowhere_;
  std::ostream& stream_;
  std::streambuf* theirs_;
};

}  // namespace

int run_program(const std::string& name, int argc, char** argv, const std::function<int(Arguments)>& work) noexcept {
  const Launch launch = launch_of_environment();
  if (launch.ranks == 1)
    return run_on_ranks(name, argc, argv, [&work](Arguments arguments, const Ranks&) { return work(arguments); });
  if (launch.rank == 0)
    std::cerr << name << ": runs in one process, and " << launch.ranks << " were started: call it without a launcher\n";
  return exit_usage;
}

int run_on_ranks(const std::string& name, int argc, char** argv,
                 const std::function<int(Arguments, const Ranks&)>& work) noexcept {
  const Launch launch = launch_of_environment();
  const auto report = error_reporter(name);
  std::unique_ptr<const Ranks> ranks;
  const Ending ending = ending_of([&] {
    std::optional<Silence> out, err;
    if (launch.rank != 0) out.emplace(std::cout), err.emplace(std::cerr);
    prepare_openblas();
    install_stop_handlers(launch.ranks == 1 ? name : "");  // what ends several at once reports it
    ranks = std::make_unique<const Ranks>(launch);
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const NoExit guard;
    const int code = work(arguments, *ranks);
    std::cout.flush();
    if (!std::cout) throw Error(Errc::io_failure, "writing to standard output failed");
    return code;
  });
  if (ranks != nullptr) return agreed_status(*ranks, ending, report);
  if (launch.rank == 0) report(ending.sentence);  // without MPI they cannot agree, but all see the same
  return ending.code;
}

int work_on_threads(const std::string& name, int ranks, const std::function<int(const Ranks&)>& work) {
  const Shared shared(ranks);
  int code = exit_ok;
  run_sessions_on_threads(ranks, [&](const std::shared_ptr<RankSession>& session) {
    const Ranks mine(session);
    const int all = agreed_status(mine, ending_of([&] { return work(mine); }), error_reporter(name));
    if (mine.first()) code = all;
  });
  return code;
}

int work_on_devices(const std::string& name, const std::string& device, const Ranks& ranks,
                    const std::function<int(const Ranks&)>& work) {
  if (!names_several_devices(device)) return work(ranks);
  if (ranks.size() > 1)
    throw Error(Errc::invalid_argument, "--device " + device +
                                            " is for one process, and a launcher has started several: with --device "
                                            "cuda each of them has a GPU");
  const int devices = count_devices(device);
  return devices == 1 ? work(ranks) : work_on_threads(name, devices, work);
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
  if (first == "--man" || first == "--completion") {
    std::vector<std::pair<std::string, std::string>> summaries;
    summaries.reserve(commands.size());
    for (const Command& command : commands) summaries.emplace_back(command.name, command.summary);
    if (first == "--man") return print_man_commands(std::cout, about, summaries), exit_ok;
    expects(arguments.size() == 2, "option --completion needs the name of a shell: bash, zsh or fish");
    expect_shell(arguments[1]);
    if (arguments[1] == "zsh") std::cout << "#compdef " << about.name << '\n';
    for (const Command& command : commands) command.run(arguments.subspan(0, 2));
    return print_command_completion(std::cout, arguments[1], about.name, summaries), exit_ok;
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
