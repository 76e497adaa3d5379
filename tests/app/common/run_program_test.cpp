#include "tallskinny/app/common/run_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/io/write/new_file.hpp"
#include "tallskinny/tests/support/capture.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::app;

namespace {

struct Outcome {
  int code;
  std::string out, err;
};

Outcome run(const std::function<int(Arguments)>& work, std::vector<std::string> words = {}) {
  words.insert(words.begin(), "path/to/tsprobe");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  const Capture out(std::cout), err(std::cerr);
  const int code = run_program("tsprobe", static_cast<int>(argv.size()), argv.data(), work);
  return {code, out.text(), err.text()};
}

/// How a child of this process ends that does this: exit status, a signal's number below zero, or 7 where it returns.
int in_child(const std::function<void()>& work, const std::string& err = "/dev/null") {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    work();
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("every kind of error has its exit status and its one line on standard error") {
  const std::vector<std::pair<Errc, int>> expected = {
      {Errc::invalid_argument, 2}, {Errc::bad_input, 4}, {Errc::io_failure, 1},    {Errc::out_of_memory, 1},
      {Errc::out_of_range, 1},     {Errc::no_device, 5}, {Errc::device_failure, 1}};
  for (const auto& [code, status] : expected) {
    const Outcome outcome = run([code = code](Arguments) -> int { throw Error(code, "a sentence"); });
    CHECK(outcome.code == status);
    CHECK(outcome.err == "tsprobe: a sentence\n");
    CHECK(outcome.out.empty());
  }
  CHECK(run([](Arguments) -> int { throw std::bad_alloc(); }).code == 1);
  CHECK(run([](Arguments) -> int { throw std::runtime_error("x"); }).err == "tsprobe: x\n");
}

TEST_CASE("the body gets its arguments and chooses the status") {
  const Outcome outcome = run(
      [](Arguments arguments) {
        std::cout << arguments[0] << arguments[1];
        return static_cast<int>(exit_not_converged);
      },
      {"a", "b"});
  CHECK(outcome.code == 3);
  CHECK(outcome.out == "ab");
  CHECK(outcome.err.empty());
}

TEST_CASE("a result that cannot be written is an error") {
  const Outcome outcome = run([](Arguments) {
    std::cout.setstate(std::ios::badbit);
    return 0;
  });
  std::cout.clear();
  CHECK(outcome.code == 1);
  CHECK(outcome.err == "tsprobe: writing to standard output failed\n");
}

TEST_CASE("ranks that are threads share the threads there are, and an error of any is told once") {
  const int all = default_threads();
  set_default_threads(8);
  std::atomic<int> ranks = 0, threads = 0;
  const Outcome fine = run([&](Arguments) {
    return work_on_threads("tsprobe", 3, [&](const Ranks& mine) {
      ++ranks, threads += default_threads();
      Console("tsprobe", false, mine.first()).note("a line");
      Console("tsprobe", false, mine.first()).warn("beware");
      return mine.rank() == 2 ? static_cast<int>(exit_not_converged) : 0;
    });
  });
  set_default_threads(0);
  CHECK(ranks.load() == 3);
  CHECK(threads.load() == 3 * 2);
  CHECK(default_threads() == all);
  CHECK(fine.code == 3);
  CHECK(fine.err == "a line\ntsprobe: warning: beware\n");

  const Outcome failed = run([&](Arguments) {
    return work_on_threads("tsprobe", 3, [](const Ranks& mine) -> int {
      if (mine.rank() == 1) throw Error(Errc::bad_input, "a sentence");
      Context ctx;
      ctx.communicator = mine.communicator();
      return any_rank(ctx, true) ? 0 : 1;
    });
  });
  CHECK(failed.code == 4);
  CHECK(failed.err == "tsprobe: rank 1: a sentence\n");
}

TEST_CASE("a rank that has failed does not wait for one in a call that never ends") {
  const TemporaryFolder folder;
  const std::string err = folder / "err", half = folder / "half";
  const auto work = [&](const Ranks& mine) -> int {
    if (mine.rank() == 1) throw Error(Errc::bad_input, "a sentence");
    const io::NewFile unfinished(half + std::to_string(mine.rank()));
    for (;;) ::pause();
  };
  CHECK(in_child([&] { ::_exit(work_on_threads("tsprobe", 3, work)); }, err) == 4);
  CHECK(content_of(err) == "tsprobe: rank 1: a sentence\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("memory that is short where nothing may throw ends a program by a sentence, and leaves nothing behind") {
  const TemporaryFolder folder, beside;
  const std::string err = beside / "err";
  const auto work = [&]() noexcept {
    const io::NewFile unfinished(folder / "half");
    const std::function<void()> fails = [] { throw std::bad_alloc(); };
    fails();
  };
  CHECK(in_child(work, err) == 1);
  CHECK(content_of(err).ends_with(": there is not enough memory\n"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("several GPUs are for one process; other devices leave ranks as they are") {
  const Ranks alone;
  const Ranks* seen = nullptr;
  const auto look = [&seen](const Ranks& ranks) {
    seen = &ranks;
    return 7;
  };
  CHECK(work_on_devices("tsprobe", "cpu", alone, look) == 7);
  CHECK(seen == &alone);
  const auto code_of = [&](const Ranks& ranks) {
    const auto error =
        error_of([&] { (void)work_on_devices("tsprobe", "cuda:all", ranks, [](const Ranks&) { return 0; }); });
    return error ? std::pair(exit_code_of(error->code()), std::string(error->what())) : std::pair(0, std::string());
  };
  if (cuda::list_devices().devices.empty()) {
    CHECK(code_of(alone).first == 5);
    CHECK(code_of(alone).second.starts_with("--device cuda:all: "));
  } else {
    CHECK(code_of(alone).first == 0);
  }
  std::vector<int> codes(2);
  run_sessions_on_threads(2, [&](const std::shared_ptr<RankSession>& session) {
    const Ranks ranks(session);
    codes[static_cast<std::size_t>(ranks.rank())] = code_of(ranks).first;
  });
  CHECK(codes == std::vector<int>{2, 2});
}

TEST_CASE("commands are found by their whole name") {
  const About about{"tsprobe", "Probes.", "", {}, {}};
  const std::vector<Command> commands = {{"make", "makes", [](Arguments rest) { return 40 + (int)rest.size(); }},
                                         {"show", "shows", [](Arguments) { return 50; }}};
  const auto body = [&](Arguments arguments) { return run_command(about, commands, arguments); };
  CHECK(run(body, {"make", "a", "b"}).code == 42);
  CHECK(run(body, {"mak"}).code == 2);
  CHECK(run(body, {"mak"}).err == "tsprobe: unknown command 'mak'; did you mean make?\n");
  CHECK(run(body, {"zzzzzzz"}).err == "tsprobe: unknown command 'zzzzzzz'; expected one of make, show\n");
  CHECK(run(body).code == 2);
  CHECK(mentions(run(body, {"--help"}).out, "  show      shows\n"));
  CHECK(run(body, {"--version"}).out.starts_with("tsprobe (tallskinny) "));
}

TEST_CASE("what the parent ignores stays ignored, and a signal ends work without partial results at once") {
  const auto child = [](int signal, auto handler, const std::function<void()>& work) {
    return in_child([&] {
      std::signal(signal, handler);
      install_stop_handlers("tsprobe");
      work();
    });
  };
  for (const int signal : {SIGINT, SIGHUP})
    CHECK(child(signal, SIG_IGN, [signal] {
            std::raise(signal), std::raise(signal);
            if (stop_requested()) ::_exit(1);
          }) == 7);
  const TemporaryFolder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU}) {
    // Twice at once, as timeout(1) sends it, is once; again later kills.
    for (const int times : {1, 2})
      CHECK(child(signal, SIG_DFL, [signal, times] {
              for (int i = 0; i < times; ++i) std::raise(signal);
              if (stop_signal() != signal) ::_exit(1);
            }) == 7);
    CHECK(child(signal, SIG_DFL, [signal] {
            std::raise(signal);
            ::usleep(600000);
            std::raise(signal);
          }) == -signal);
    CHECK(child(signal, SIG_DFL, [&] {
            const EndsOnSignal guard;
            io::NewFile half(folder / "half");
            half.write("half");
            std::raise(signal);
          }) == 128 + signal);
  }
  for (const int signal : {SIGSEGV, SIGABRT})
    CHECK(in_child([&] {
            std::signal(signal, SIG_DFL);
            install_last_words();
            io::NewFile half(folder / "half");
            half.write("half");
            std::raise(signal);
          }) == 1);
  CHECK(in_child([&] {  // as HDF5 does
          install_last_words();
          const NoExit guard;
          const io::NewFile half(folder / "half");
          std::exit(255);
        }) == 1);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the first signal asks to stop and gives 128 + its number") {
  REQUIRE_FALSE(stop_requested());
  const Outcome outcome = run([](Arguments) {
    std::raise(SIGTERM);
    return stop_requested() ? stop_exit_code() : 0;
  });
  CHECK(outcome.code == 128 + SIGTERM);
  CHECK(stop_signal() == SIGTERM);
  const Outcome thrown = run([](Arguments) {
    throw_if_stopped();
    return 0;
  });
  CHECK(thrown.code == 128 + SIGTERM);
  CHECK(thrown.err == "tsprobe: stopped by signal " + std::to_string(SIGTERM) + "\n");
}
