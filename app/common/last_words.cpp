#include "tallskinny/app/common/last_words.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>
#include <string_view>

#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/io/write/new_file.hpp"

namespace ts::app {

namespace {

pid_t own = 0;  ///< a copy of this process, which reads a file, has no words and no files of its own
std::atomic<int> guarded = 0;
static_assert(std::atomic<int>::is_always_lock_free);

/// Allocates nothing, and may be called in a signal handler.
[[noreturn]] void end(std::initializer_list<std::string_view> sentence) noexcept {
  const auto say = [](std::string_view text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  };
  io::remove_unfinished_files();
  say(program_invocation_short_name), say(": ");
  for (const std::string_view text : sentence) say(text);
  say("\n");
  ::_exit(exit_failure);
}

[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    end({"there is not enough memory"});
  } catch (const std::exception& error) {
    end({error.what()});
  } catch (...) {
  }
  std::abort();
}

void on_crash(int signal) {
  if (::getpid() != own) {  // by default now
    std::raise(signal);
    return;
  }
  const char digits[] = {static_cast<char>('0' + signal / 10), static_cast<char>('0' + signal % 10)};
  end({"ended by a crash (signal ", std::string_view(digits, 2).substr(signal < 10 ? 1 : 0),
       "), as libraries crash when memory is short; if there was enough, please report it"});
}

void on_exit() {
  if (guarded > 0 && ::getpid() == own) end({"a library gave up, as HDF5 does when memory is short"});
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
