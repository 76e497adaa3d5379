// What control groups leave, from trees of files like those of the kernel.
#include "tallskinny/io/memory.hpp"

#include <limits>

#include "tallskinny/tests/io/support.hpp"
#include "tallskinny/tests/support/write_file.hpp"

using namespace ts;
using namespace ts::test;

namespace {

std::uint64_t free_in(const TemporaryFolder& folder) {
  return io::control_group_free({folder / "cgroup", folder / "sys"});
}

constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("control groups of version 2: every ancestor, max and high, page cache is free") {
  const TemporaryFolder folder;
  write_file(folder / "cgroup", "0::/a/b\n");
  CHECK(free_in(folder) == unlimited);
  write_file(folder / "sys/a/b/memory.max", "max\n");
  write_file(folder / "sys/a/b/memory.current", "300\n");
  CHECK(free_in(folder) == unlimited);
  write_file(folder / "sys/a/memory.max", "1000\n");
  write_file(folder / "sys/a/memory.current", "900\n");
  CHECK(free_in(folder) == 100);
  write_file(folder / "sys/a/memory.stat", "anon 500\ninactive_file 350\nactive_file 50\n");
  CHECK(free_in(folder) == 450);
  write_file(folder / "sys/a/b/memory.high", "400\n");
  CHECK(free_in(folder) == 100);
  write_file(folder / "sys/memory.max", "1000\n");
  write_file(folder / "sys/memory.current", "2000\n");
  CHECK(free_in(folder) == 0);
}

TEST_CASE("control groups of version 1 have a folder for memory") {
  const TemporaryFolder folder;
  write_file(folder / "cgroup", "12:cpuset:/x\n9:hugetlb,memory:/docker/c\n1:name=systemd:/y\n");
  CHECK(free_in(folder) == unlimited);
  write_file(folder / "sys/memory/memory.limit_in_bytes",
             "5000\n");  // a container sees its own group as the root
  write_file(folder / "sys/memory/memory.usage_in_bytes", "4000\n");
  write_file(folder / "sys/memory/memory.stat", "cache 1\ninactive_file 7\ntotal_inactive_file 2500\n");
  CHECK(free_in(folder) == 3500);
  write_file(folder / "sys/memory/docker/c/memory.limit_in_bytes", "600\n");
  write_file(folder / "sys/memory/docker/c/memory.usage_in_bytes", "500\n");
  CHECK(free_in(folder) == 100);
}
