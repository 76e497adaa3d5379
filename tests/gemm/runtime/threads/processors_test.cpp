// The number of threads, from affinity, quotas as the kernel tells them, OMP_NUM_THREADS and wishes.
#include <sched.h>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

std::optional<int> quota_in(const TemporaryFolder& folder) {
  return processor_quota({folder / "cgroup", folder / "sys"});
}

}  // namespace

TEST_CASE("quotas of version 2: the least on the way to the root, rounded up") {
  const TemporaryFolder folder;
  CHECK(!quota_in(folder));
  write_file(folder / "cgroup", "0::/a/b\n");
  CHECK(!quota_in(folder));
  write_file(folder / "sys/a/b/cpu.max", "max 100000\n");
  CHECK(!quota_in(folder));
  write_file(folder / "sys/a/cpu.max", "250000 100000\n");
  CHECK(quota_in(folder) == 3);
  write_file(folder / "sys/a/b/cpu.max", "400000 100000\n");
  CHECK(quota_in(folder) == 3);
  write_file(folder / "sys/cpu.max", "50000 100000\n");
  CHECK(quota_in(folder) == 1);
  write_file(folder / "sys/cpu.max", "200000 100000\n");
  CHECK(quota_in(folder) == 2);
  write_file(folder / "sys/cpu.max", "nonsense\n");
  CHECK(quota_in(folder) == 3);
}

TEST_CASE("quotas of version 1 have a folder for processors") {
  const TemporaryFolder folder;
  write_file(folder / "cgroup", "12:cpuset:/x\n4:cpu,cpuacct:/docker/c\n1:name=systemd:/y\n");
  CHECK(!quota_in(folder));
  write_file(folder / "sys/cpu/docker/c/cpu.cfs_quota_us", "-1\n");
  write_file(folder / "sys/cpu/docker/c/cpu.cfs_period_us", "100000\n");
  CHECK(!quota_in(folder));
  write_file(folder / "sys/cpu/cpu.cfs_quota_us",
             "150000\n");  // a container sees its own group as the root
  write_file(folder / "sys/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(quota_in(folder) == 2);
  write_file(folder / "sys/cpu/docker/c/cpu.cfs_quota_us", "50000\n");
  CHECK(quota_in(folder) == 1);
}

TEST_CASE("lists of threads, as in OMP_NUM_THREADS") {
  CHECK(first_of_thread_list("4") == 4);
  CHECK(first_of_thread_list(" 4,2") == 4);
  CHECK(first_of_thread_list("16 ") == 16);
  for (const char* text : {"", " ", "0", "-2", "four", "4x", ",3", "99999999999"}) {
    CAPTURE(text);
    CHECK(!first_of_thread_list(text));
  }
}

TEST_CASE("processors follow the affinity of the thread") {
  CHECK(available_processors() >= 1);
  CHECK(available_processors() <= static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  int pinned = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &all)) {
        CPU_SET(cpu, &one);
        break;
      }
    if (sched_setaffinity(0, sizeof one, &one) == 0) pinned = available_processors();
  }).join();
  CHECK(pinned == 1);
}

TEST_CASE("a wish for the whole process counts for contexts without one") {
  const int before = default_threads();
  CHECK(before >= 1);
  set_default_threads(5);
  CHECK(default_threads() == 5);
  CHECK(Context{}.thread_count() == 5);
  Context own{.threads = 2};
  CHECK(own.thread_count() == 2);
  share_threads(2);  // of ranks
  CHECK(default_threads() == 2);
  share_threads(7);
  CHECK(default_threads() == 1);
  share_threads(1);
  set_default_threads(0);
  CHECK(default_threads() == before);
}

TEST_CASE("OpenBLAS has as many threads as are asked for, and its own again afterwards") {
  const auto& library = lapack_library();
  CHECK(&library == &lapack_library());
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  if (!library.bind(threads, "openblas_get_num_threads") || !library.bind(set_threads, "openblas_set_num_threads")) {
    const BlasThreads nothing(1);  // without OpenBLAS there is nothing to do
    return;
  }
  const int before = threads();
  set_threads(2);
  {
    const BlasThreads one(1);
    CHECK(threads() == 1);
    {
      const BlasThreads within(3);  // the outer one holds
      CHECK(threads() == 1);
    }
    CHECK(threads() == 1);
  }
  CHECK(threads() == 2);
  CHECK_THROWS_AS(
      [] {
        const BlasThreads three(3);
        throw std::runtime_error("no");
      }(),
      std::runtime_error);
  CHECK(threads() == 2);
  // Threads of the program that want other numbers wait for each other.
  std::vector<int> seen(40);
  parallel_for(4, std::ssize(seen), [&](index_t i) {
    const BlasThreads some(1 + static_cast<int>(i % 2));
    seen[static_cast<std::size_t>(i)] = threads();
  });
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == 1 + static_cast<int>(i % 2));
  CHECK(threads() == 2);
  set_threads(before);
}

TEST_CASE("LAPACK has a name where there is one") {
  const std::string name = lapack_name();
  CHECK(name.empty() != lapack_library().loaded());
  const char* (*config)() = nullptr;
  if (!lapack_library().bind(config, "openblas_get_config")) return;
  CHECK(name.starts_with("LAPACK (OpenBLAS "));
  CHECK(std::count(name.begin(), name.end(), ' ') == 2);
}
