// Shares of memory, computed before anything large is allocated.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::inline v0::solvers {

/// `locked`: host memory that a device reads and writes by itself.
enum class Home { host, locked, device };

/// A use of memory: its purpose, place and bytes.
struct MemoryUse {
  std::string what;
  std::uint64_t bytes = 0;
  Home home = Home::host;
};

/// The largest number there is, where the sum is larger.
[[nodiscard]] inline std::uint64_t total_bytes(const std::vector<MemoryUse>& uses) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t sum = 0;
  for (const MemoryUse& use : uses) sum = use.bytes > most - sum ? most : sum + use.bytes;
  return sum;
}

/// @throws Error(out_of_memory) saying how much `what` takes when that is more than `available` bytes (0:
/// unknown).
inline void expect_memory(const std::string& what, const std::vector<MemoryUse>& uses, std::uint64_t available) {
  const std::uint64_t needed = total_bytes(uses);
  if (available != 0 && needed > available)
    throw Error(Errc::out_of_memory, what + " takes " + human_bytes(needed) + " of memory, but only " +
                                         human_bytes(available) + " are available");
}

}  // namespace ts::inline v0::solvers
