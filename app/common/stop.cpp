#include "tallskinny/app/common/stop.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/write/new_file.hpp"

namespace ts::app {

namespace {

std::atomic<int> received = 0, ends_at_once = 0;
std::atomic<std::int64_t> received_at = 0;  ///< milliseconds
/// timeout(1) and batch systems signal a process and its group, one after the other: these count as one request.
constexpr std::int64_t one_wish = 500;
std::atomic<bool> on_terminal = false;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");
std::array<char, 64> farewell{};  ///< "tsdata: stopped by signal "
std::size_t farewell_size = 0;

void say(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void say_number(int signal) {
  const char digits[] = {static_cast<char>('0' + signal / 10), static_cast<char>('0' + signal % 10)};
  say(std::string_view(digits, 2).substr(signal < 10 ? 1 : 0));
}

[[noreturn]] void end_at_once(int signal) {
  io::remove_unfinished_files();
  if (farewell_size == 0) ::_exit(128 + signal);
  say({farewell.data(), farewell_size}), say_number(signal), say("\n");
  ::_exit(128 + signal);
}

std::int64_t milliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

void on_signal(int signal) {
  const int saved = errno;
  if (received.exchange(signal) == 0) {
    received_at = milliseconds();
    if (ends_at_once > 0) end_at_once(signal);
    if (on_terminal) say("\nstopping after this step; repeat to kill\n");
    errno = saved;
    return;
  }
  errno = saved;
  if (milliseconds() - received_at < one_wish) return;
  io::remove_unfinished_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// True if the parent wants the program to survive the signal: nohup, or `&` in a script.
bool ignored_by_parent(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void install_stop_handlers(std::string_view program) {
  const std::string text = program.empty() ? "" : std::string(program.substr(0, 30)) + ": stopped by signal ";
  farewell_size = text.copy(farewell.data(), farewell.size());
  on_terminal = !program.empty() && ::isatty(STDERR_FILENO) != 0;
  for (const int signal : {SIGINT, SIGHUP})
    if (!ignored_by_parent(signal)) std::signal(signal, on_signal);
  for (const int signal : {SIGTERM, SIGUSR1, SIGXCPU}) std::signal(signal, on_signal);
  std::signal(SIGXFSZ, SIG_IGN);
}

int stop_signal() noexcept { return received.load(); }

void throw_if_stopped() {
  if (const int signal = stop_signal(); signal != 0)
    throw Error(Errc::interrupted, "stopped by signal " + std::to_string(signal));
}

int stop_exit_code() noexcept { return 128 + stop_signal(); }

EndsOnSignal::EndsOnSignal() {
  ++ends_at_once;  // Counted before the test: a signal between them ends the program, too.
  if (!stop_requested()) return;
  --ends_at_once;
  throw_if_stopped();
}

EndsOnSignal::~EndsOnSignal() { --ends_at_once; }

namespace {

pid_t own = 0;  ///< a copy of this process, which reads a file, has no words and no files of its own
std::atomic<int> guarded = 0;
static_assert(std::atomic<int>::is_always_lock_free);

/// Allocates nothing, and may be called in a signal handler. @param signal written after the sentence, before `more`
[[noreturn]] void end(std::string_view sentence, int signal = 0, std::string_view more = {}) noexcept {
  io::remove_unfinished_files();
  say(program_invocation_short_name), say(": "), say(sentence);
  if (signal != 0) say_number(signal), say(more);
  say("\n");
  ::_exit(exit_failure);
}

[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    end("there is not enough memory");
  } catch (const std::exception& error) {
    end(error.what());
  } catch (...) {
  }
  std::abort();
}

void on_crash(int signal) {
  if (::getpid() != own) {  // by default now
    std::raise(signal);
    return;
  }
  end("ended by a crash (signal ", signal,
      "); libraries may crash when memory is short. If there was enough, please report it");
}

void on_exit() {
  if (guarded > 0 && ::getpid() == own) end("a library ended the program, as HDF5 does when memory is short");
}

}  // namespace

void install_last_words() noexcept {
  own = ::getpid();
  // HDF5 calls itself without end where some of its allocations fail: then the stack is used up.
  alignas(16) static char stack[std::size_t{1} << 16];
  stack_t now{}, other{};
  other.ss_sp = stack, other.ss_size = sizeof stack;
  if (::sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) ::sigaltstack(&other, nullptr);
  std::set_terminate(on_terminate);
  std::atexit(on_exit);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
    struct sigaction there {
    }, ours{};
    ours.sa_handler = on_crash;
    ours.sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK;
    if (::sigaction(signal, nullptr, &there) == 0 && there.sa_handler == SIG_DFL) ::sigaction(signal, &ours, nullptr);
  }
}

NoExit::NoExit() noexcept { ++guarded; }
NoExit::~NoExit() { --guarded; }

}  // namespace ts::app
