#include "tallskinny/solvers/setup/memory_plan.hpp"

#include "tallskinny/solvers/eigen/krylov/basis_memory.hpp"
#include "tallskinny/solvers/ortho/by_parts.hpp"
#include "tallskinny/tests/support/test.hpp"

using solvers::Home;
using solvers::MemoryPlan;

namespace {

solvers::EigenPlan plan_of(index_t n) {
  solvers::EigenOptions options{.nev = 20};
  return solvers::plan_eigen(n, 8, options);
}

solvers::MemoryNeeds needs_of(index_t n, Space space, std::uint64_t device_bytes = 0) {
  return {n, 8, 1000, space, device_bytes};
}

const solvers::MemoryUse* share(const MemoryPlan& plan, std::string_view what, Home home) {
  for (const auto& s : plan.shares)
    if (s.what == what && s.home == home) return &s;
  return nullptr;
}

constexpr index_t n = 1 << 24;

}  // namespace

TEST_CASE("on the processor everything is in host memory") {
  const auto eigen = plan_of(n);
  const auto plan = plan_memory(eigen, needs_of(n, Space::host));
  CHECK_FALSE(plan.spills);
  CHECK(plan.bytes_in(Home::device) == 0);
  CHECK(plan.host_bytes() >= 1000 + eigen.bytes);
  const index_t columns = eigen.max_basis + eigen.block_size;
  REQUIRE(share(plan, "basis", Home::host) != nullptr);
  CHECK(share(plan, "basis", Home::host)->bytes ==
        static_cast<std::uint64_t>(n * solvers::padded_columns(Space::host, columns, 8) * 8));
}

TEST_CASE("a basis that fits is on the device, one that does not in page-locked memory") {
  const auto eigen = plan_of(n);
  const auto whole = plan_memory(eigen, needs_of(n, Space::device));
  CHECK_FALSE(whole.spills);
  REQUIRE(share(whole, "basis", Home::device) != nullptr);
  CHECK(whole.bytes_in(Home::locked) == 0);
  const std::uint64_t all = whole.bytes_in(Home::device), basis = share(whole, "basis", Home::device)->bytes;

  CHECK_FALSE(plan_memory(eigen, needs_of(n, Space::device, all)).spills);
  const auto spilled = plan_memory(eigen, needs_of(n, Space::device, all - 1));
  CHECK(spilled.spills);
  CHECK(share(spilled, "basis", Home::device) == nullptr);
  REQUIRE(share(spilled, "basis", Home::locked) != nullptr);
  CHECK(spilled.bytes_in(Home::locked) > basis / 2);
  CHECK(spilled.bytes_in(Home::device) == all - basis + ortho::passage_bytes);
  CHECK(spilled.host_bytes() == spilled.bytes_in(Home::host) + spilled.bytes_in(Home::locked));
}

TEST_CASE("the basis of an H100 holds 2^24 rows, that of a small GPU does not") {
  const auto eigen = plan_of(n);
  CHECK_FALSE(plan_memory(eigen, needs_of(n, Space::device, std::uint64_t{79} << 30)).spills);
  CHECK(plan_memory(eigen, needs_of(n, Space::device, std::uint64_t{16} << 30)).spills);
}

TEST_CASE("leading dimensions are whole cache lines, on the host an odd number of them") {
  for (index_t columns = 1; columns < 70; ++columns)
    for (const std::size_t bytes : {8, 16}) {
      CAPTURE(columns, bytes);
      const index_t here = solvers::padded_columns(Space::host, columns, bytes);
      const index_t there = solvers::padded_columns(Space::device, columns, bytes);
      const auto size = static_cast<index_t>(bytes);
      CHECK(here >= columns);
      CHECK(here * size % 64 == 0);
      CHECK(here * size / 64 % 2 == 1);
      CHECK(there >= columns);
      CHECK(there * size % 128 == 0);
      CHECK(there * size < columns * size + 128);
    }
}

TEST_CASE("a matrix that is decomposed as a whole takes what its solver says, in both places") {
  solvers::EigenOptions options{.nev = 20, .method = solvers::Method::dense};
  const auto eigen = solvers::plan_eigen(1000, 8, options);
  solvers::MemoryNeeds needs = needs_of(1000, Space::device);
  needs.whole = {5000, 700'000};
  for (const auto& plan : {plan_memory(eigen, needs), plan_general_memory(options, needs)}) {
    REQUIRE(share(plan, "decomposition", Home::host) != nullptr);
    CHECK(share(plan, "decomposition", Home::host)->bytes == 5000);
    REQUIRE(share(plan, "decomposition, then vectors", Home::device) != nullptr);
    CHECK(share(plan, "decomposition, then vectors", Home::device)->bytes == 700'000);
    REQUIRE(share(plan, "matrix", Home::device) != nullptr);
    CHECK(share(plan, "vectors", Home::host)->bytes >= 1000 * 20 * 8);
  }
  needs.space = Space::host;
  CHECK(plan_memory(eigen, needs).bytes_in(Home::device) == 0);
  CHECK(plan_svd_memory(eigen, needs).host_bytes() >= 5000 + eigen.bytes);
  CHECK(plan_svd_memory(eigen, needs).bytes_in(Home::device) == 0);
}
