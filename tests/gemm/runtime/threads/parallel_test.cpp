// Threads that share work: every part once, nested calls, exceptions, callers of their own, fork(), and
// sleep while there is nothing to do.
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "tallskinny/tests/support/test.hpp"

namespace {

using Counts = std::vector<std::atomic<int>>;

bool all_one(const Counts& counts) {
  return std::all_of(counts.begin(), counts.end(), [](const std::atomic<int>& c) { return c == 1; });
}

/// True if a thread of this process sleeps, by the kernel's words: "42 (name) S ...".
bool sleeps(const std::string& thread) {
  std::ifstream in("/proc/self/task/" + thread + "/stat");
  const std::string stat((std::istreambuf_iterator<char>(in)), {});
  const auto name = stat.rfind(") ");
  return name != std::string::npos && stat[name + 2] == 'S';
}

bool all_others_sleep() {
  const std::string me = std::to_string(::gettid());
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::all_of(begin(threads), end(threads), [&me](const auto& entry) {
    return entry.path().filename() == me || sleeps(entry.path().filename());
  });
}

}  // namespace

TEST_CASE("every part runs once, whatever their number") {
  for (const int parts : {1, 2, 3, 8, 37}) {
    CAPTURE(parts);
    for (int repetition = 0; repetition < 200; ++repetition) {
      Counts runs(static_cast<std::size_t>(parts));
      parallel(parts, [&](int part) { ++runs[static_cast<std::size_t>(part)]; });
      REQUIRE(all_one(runs));
    }
  }
}

TEST_CASE("ranges, elements and pieces cover everything once") {
  for (const int threads : {-1, 0, 1, 2, 3, 7})
    for (const index_t count : {0, 1, 2, 5, 7, 1000}) {
      CAPTURE(threads, count);
      const auto size = static_cast<std::size_t>(count);
      Counts of_ranges(size), of_elements(size), of_pieces(size);
      std::atomic<int> ranges = 0;
      parallel_ranges(threads, count, [&](index_t first, index_t last) {
        ++ranges;
        for (index_t i = first; i < last; ++i) ++of_ranges[static_cast<std::size_t>(i)];
      });
      parallel_for(threads, count, [&](index_t i) { ++of_elements[static_cast<std::size_t>(i)]; });
      std::atomic<bool> known = true;
      parallel_pieces(threads, count, [&](index_t piece, int thread) {
        if (thread < 0 || thread >= std::max(1, threads)) known = false;
        ++of_pieces[static_cast<std::size_t>(piece)];
      });
      CHECK(all_one(of_ranges));
      CHECK(all_one(of_elements));
      CHECK(all_one(of_pieces));
      CHECK(known);
      CHECK(ranges == std::min<index_t>(std::max(1, threads), count));
    }
}

TEST_CASE("parts that take long run at the same time") {
  // Each waits for the other, which only two threads can do: this would not end.
  std::atomic<int> there = 0;
  parallel(2, [&](int) {
    ++there;
    while (there < 2) std::this_thread::yield();
  });
  CHECK(there == 2);
}

TEST_CASE("what a part shares out stays with its thread") {
  CHECK(!in_parallel());
  std::atomic<bool> alone = true;
  Counts runs(3 * 5);
  parallel(3, [&](int outer) {
    if (!in_parallel()) alone = false;
    const auto me = std::this_thread::get_id();
    parallel(5, [&](int inner) {
      if (std::this_thread::get_id() != me) alone = false;
      ++runs[static_cast<std::size_t>(5 * outer + inner)];
    });
  });
  CHECK(alone);
  CHECK(all_one(runs));
  CHECK(!in_parallel());
  parallel(1, [](int) { CHECK(!in_parallel()); });  // one part shares nothing
}

TEST_CASE("an exception reaches the caller, that of the lowest part, after all parts") {
  for (int repetition = 0; repetition < 100; ++repetition) {
    Counts runs(6);
    std::string what;
    try {
      parallel(6, [&](int part) {
        ++runs[static_cast<std::size_t>(part)];
        if (part % 2 == 1) throw std::runtime_error(std::to_string(part));
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    REQUIRE(what == "1");
    REQUIRE(all_one(runs));
    REQUIRE(!in_parallel());
  }
  CHECK_THROWS_AS(parallel_pieces(3, 100, [](index_t, int) { throw std::runtime_error("no"); }), std::runtime_error);
  Counts after(4);  // the threads work on
  parallel(4, [&](int part) { ++after[static_cast<std::size_t>(part)]; });
  CHECK(all_one(after));
}

TEST_CASE("threads that call at the same time do not meet") {
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&wrong, caller] {
      for (int repetition = 0; repetition < 100; ++repetition) {
        std::vector<int> squares(50);
        parallel_for(3, 50, [&](index_t i) { squares[static_cast<std::size_t>(i)] = caller + static_cast<int>(i); });
        if (std::accumulate(squares.begin(), squares.end(), 0) != 50 * caller + 1225) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("a child after fork() has threads of its own") {
  const auto works = [] {
    Counts runs(3);
    parallel(3, [&](int part) { ++runs[static_cast<std::size_t>(part)]; });
    return all_one(runs);
  };
  REQUIRE(works());
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);
    ::_exit(works() && works() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(works());
}

TEST_CASE("threads without work sleep") {
  // Threads that went on spinning would be waited for without end.
  parallel(4, [](int) {});
  while (!all_others_sleep()) std::this_thread::yield();
  // So does the caller, when what it waits for takes long.
  const std::string caller = std::to_string(::gettid());
  std::atomic<bool> slept = false;
  parallel(2, [&](int part) {
    if (part == 0) return;
    while (!sleeps(caller)) std::this_thread::yield();
    slept = true;
  });
  CHECK(slept);
}
