#include "tallskinny/gemm/runtime/threads/parallel.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "tallskinny/gemm/core/host_memory.hpp"

namespace ts::inline v0 {

namespace {

thread_local bool inside = false;  ///< of a part

using Clock = std::chrono::steady_clock;

/// How long a thread looks for what it waits for before it sleeps, at most: about what sleep and waking up
/// cost.
constexpr Clock::duration most_patience = std::chrono::microseconds(50);
/// How long this thread does so the next time: not at all after a longer wait, as they are where the machine
/// is busy; twice as long after each one that patience was enough for.
thread_local Clock::duration patience = most_patience;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A number that one thread sets and another waits for. Nobody is woken who has not fallen asleep.
class Flag {
 public:
  /// Returns when it is no longer `value`.
  void wait_while(int value) noexcept {
    const auto start = Clock::now();
    while (!spin_while(value, start + patience)) {
      ++sleepers_;
      futex(FUTEX_WAIT_PRIVATE, value);  // does not sleep if it is another number by now
      --sleepers_;
    }
    constexpr Clock::duration least = std::chrono::microseconds(1);
    patience =
        Clock::now() - start < most_patience ? std::clamp(2 * patience, least, most_patience) : Clock::duration::zero();
  }
  void set(int value) noexcept {
    value_ = value;
    if (sleepers_ > 0) futex(FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max());
  }
  [[nodiscard]] int value() const noexcept { return value_; }

 private:
  /// False if it is still `value` in the end.
  [[nodiscard]] bool spin_while(int value, Clock::time_point until) const noexcept {
    do {
      for (int look = 0; look < 32; ++look) {
        if (value_.load(std::memory_order_acquire) != value) return true;
        pause();
      }
    } while (Clock::now() < until);
    return false;
  }
  void futex(int operation, int number) noexcept {
    static_assert(sizeof value_ == sizeof(int) && std::atomic<int>::is_always_lock_free);
    syscall(SYS_futex, &value_, operation, number, nullptr, nullptr, 0);
  }

  std::atomic<int> value_{0};
  std::atomic<int> sleepers_{0};  ///< those too that were woken and have not begun to run
};

/// A call for all parts.
struct Job {
  detail::Part call = nullptr;
  const void* body = nullptr;
  std::pmr::memory_resource* memory = nullptr;  ///< that of the thread that asks

  [[nodiscard]] std::exception_ptr run(int part) const noexcept {
    inside = true;
    const UseHostMemory use(memory);
    try {
      call(body, part);
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }
};

/// A thread that does one part at a time.
class alignas(128) Worker {
 public:
  explicit Worker(int part) : part_(part), thread_([this] { work(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    state_.set(ending);
    thread_.join();
  }

  void ask(const Job& job) noexcept {
    job_ = job;
    state_.set(asked);
  }
  /// Waits for the part.
  [[nodiscard]] std::exception_ptr finish() noexcept {
    state_.wait_while(asked);
    return std::exchange(failure_, nullptr);
  }

 private:
  enum State { idle, asked, ending };

  void work() noexcept {
    for (;;) {
      state_.wait_while(idle);
      if (state_.value() == ending) return;
      failure_ = job_.run(part_);
      state_.set(idle);
    }
  }

  Flag state_;
  int part_;
  Job job_;
  std::exception_ptr failure_;
  std::thread thread_;  // the last member: it begins when the others are there
};

/// The threads of one calling thread.
class Team {
 public:
  void run(int parts, const Job& job) {
    hire(parts - 1);
    const int asked = std::min(parts - 1, static_cast<int>(workers_.size()));
    for (int w = 0; w < asked; ++w) worker(w).ask(job);
    int failed = parts;
    std::exception_ptr failure;
    const auto note = [&](int part, std::exception_ptr thrown) {
      if (thrown && part < failed) failed = part, failure = std::move(thrown);
    };
    note(0, job.run(0));
    for (int part = asked + 1; part < parts; ++part) note(part, job.run(part));
    for (int part = 1; part <= asked; ++part) note(part, worker(part - 1).finish());
    if (failure) std::rethrow_exception(failure);
  }

 private:
  /// Up to `count` workers: where there are no more threads to be had, the parts are done all the same.
  void hire(int count) {
    try {
      while (std::ssize(workers_) < count)
        workers_.push_back(std::make_unique<Worker>(static_cast<int>(workers_.size()) + 1));
    } catch (const std::system_error&) {
    }
  }
  [[nodiscard]] Worker& worker(int w) { return *workers_[static_cast<std::size_t>(w)]; }

  std::vector<std::unique_ptr<Worker>> workers_;
};

std::atomic<unsigned> forks = 0;  ///< that this process and those before it came from

/// The team of a thread. After fork() the child has none of its threads: it leaves that team where it is.
class OwnTeam {
 public:
  OwnTeam() {
    static const int watched = pthread_atfork(nullptr, nullptr, [] { ++forks; });
    (void)watched;
  }
  OwnTeam(const OwnTeam&) = delete;
  OwnTeam& operator=(const OwnTeam&) = delete;
  ~OwnTeam() { leave_behind(); }
  [[nodiscard]] Team& get() {
    leave_behind();
    if (!team_) team_ = std::make_unique<Team>();
    return *team_;
  }

 private:
  void leave_behind() noexcept {
    if (const unsigned now = forks; std::exchange(forks_, now) != now) (void)team_.release();
  }

  unsigned forks_ = forks;
  std::unique_ptr<Team> team_;
};

}  // namespace

bool in_parallel() noexcept { return inside; }

void detail::run_parts(int parts, Part call, const void* body) {
  if (inside) {
    for (int part = 0; part < parts; ++part) call(body, part);
    return;
  }
  static thread_local OwnTeam team;
  struct Outside {
    ~Outside() { inside = false; }
  } const afterwards;
  team.get().run(parts, {call, body, host_memory()});
}

}  // namespace ts::inline v0
