#include "tallskinny/io/hdf5/sandbox.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <vector>

namespace ts::inline v0::io::hdf5 {

namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TS_SHADOW_MEMORY
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TS_SHADOW_MEMORY
#endif

void close_others(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  int first = 0;
  const auto close_to = [&](unsigned last) {
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, static_cast<unsigned>(first), last, 0u) == 0) return;
#endif
    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    for (unsigned d = static_cast<unsigned>(first); d <= std::min<rlim_t>(last, most.rlim_cur); ++d)
      ::close(static_cast<int>(d));
  };
  for (const int descriptor : kept) {
    if (descriptor > first) close_to(static_cast<unsigned>(descriptor) - 1);
    first = descriptor + 1;
  }
  close_to(~0u);
}

/// Signals that say what went wrong here do their work, and so do those that stop and continue; all others
/// are the program's to answer.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_IGN);
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP, SIGVTALRM, SIGXFSZ, SIGTSTP,
                           SIGTTIN, SIGTTOU, SIGCHLD})
    std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void limit(decltype(RLIMIT_CORE) what, rlim_t to) {
  rlimit there{};
  ::getrlimit(what, &there);
  const rlim_t least = std::min(to, there.rlim_max);
  const rlimit wanted{least, least};
  ::setrlimit(what, &wanted);
}

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

volatile std::sig_atomic_t handed_out = -1;  ///< descriptor

/// Answers a system call that opens a file: with the descriptor once, then with EPERM.
void answer_open(int, siginfo_t*, void* context) {
  const int result = handed_out >= 0 ? handed_out : -EPERM;
  handed_out = -1;
  [[maybe_unused]] auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  machine.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
  machine.regs[0] = static_cast<std::uint64_t>(std::int64_t{result});
#endif
}

/// Every system call but a few fails with EPERM; one that opens a file is answered by answer_open().
bool filter_system_calls() {
  if (architecture == 0) return false;
  constexpr auto word = [](std::size_t at) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(at));
  };
  const sock_filter allow BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_filter refuse BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  std::vector<sock_filter> program = {
      word(offsetof(seccomp_data, arch)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), word(offsetof(seccomp_data, nr))};
  for (const int call : {SYS_read,           SYS_write,         SYS_sendto,       SYS_writev,          SYS_pread64,
                         SYS_lseek,          SYS_munmap,        SYS_mremap,       SYS_madvise,         SYS_brk,
                         SYS_futex,          SYS_clock_gettime, SYS_gettimeofday, SYS_setitimer,       SYS_rt_sigreturn,
                         SYS_rt_sigprocmask, SYS_sigaltstack,   SYS_exit,         SYS_exit_group,      SYS_getpid,
                         SYS_gettid,         SYS_sched_yield,   SYS_getrandom,    SYS_restart_syscall, SYS_close}) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(allow);
  }
#ifdef TS_SHADOW_MEMORY  // a sanitizer asks by a pipe whether memory can be read
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pipe2, 1, 0));
#ifdef SYS_pipe
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pipe, 0, 1));
#else
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pipe2, 0, 1));
#endif
  program.push_back(allow);
#endif
  for (const int call : {SYS_mmap, SYS_mprotect}) {  // memory, but none for instructions
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4));
    program.push_back(word(offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t)));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0));
    program.push_back(allow);
    program.push_back(refuse);
  }
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  program.push_back(refuse);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void allow_seconds(double seconds) {
  const itimerval limit{{0, 0}, {static_cast<time_t>(seconds) + 1, 0}};
  ::setitimer(ITIMER_VIRTUAL, &limit, nullptr);
}

bool give_up_rights(std::initializer_list<int> kept, std::uint64_t address_space, int opened) {
  close_others(kept);
  reset_signals();
  handed_out = opened;
  struct sigaction answer {};
  answer.sa_sigaction = answer_open, answer.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &answer, nullptr);
  [[maybe_unused]] rlim_t descriptors = 0;
  if (opened >= 0)  // without a filter the system opens the file, under the first free number
    for (descriptors = 1; std::find(kept.begin(), kept.end(), static_cast<int>(descriptors) - 1) != kept.end();)
      ++descriptors;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NPROC, 0);
#ifdef TS_SHADOW_MEMORY
  (void)address_space;
#else
  limit(RLIMIT_NOFILE, descriptors);
  limit(RLIMIT_AS, address_space);
#endif
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return filter_system_calls();
}

}  // namespace ts::inline v0::io::hdf5
