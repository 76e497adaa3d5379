#include "tallskinny/io/memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0::io {

namespace {

constexpr auto most = std::numeric_limits<std::uint64_t>::max();
std::atomic<int> sharers = 1;

std::optional<std::uint64_t> first_number(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

/// The value of a key in a file of lines "key value", 0 if it is not there.
std::uint64_t value_in(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  std::string word;
  std::uint64_t value = 0;
  while (in >> word >> value)
    if (word == key) return value;
  return 0;
}

/// Bytes that a control group may still use: its limit less its use. Cached file pages that are inactive count as free,
/// since the kernel gives them back when memory is short.
std::uint64_t left_by(const std::string& folder, const char* limit_file, const char* used_file, const char* inactive) {
  const auto limit = first_number(folder + "/" + limit_file), used = first_number(folder + "/" + used_file);
  if (!limit || !used) return most;  // "max", or no controller of memory
  const std::uint64_t held = *used - std::min(*used, value_in(folder + "/memory.stat", inactive));
  return *limit - std::min(*limit, held);
}

}  // namespace

std::uint64_t product(std::initializer_list<index_t> factors) noexcept {
  std::uint64_t result = 1;
  bool overflow = false;
  for (const index_t f : factors) {
    if (f == 0) return 0;
    overflow |= __builtin_mul_overflow(result, static_cast<std::uint64_t>(f), &result);
  }
  return overflow ? most : result;
}

std::uint64_t sum(std::initializer_list<std::uint64_t> terms) noexcept {
  std::uint64_t result = 0;
  for (const std::uint64_t t : terms)
    if (__builtin_add_overflow(result, t, &result)) return most;
  return result;
}

std::uint64_t control_group_free(const ControlGroups& groups) {
  std::uint64_t least = most;
  for_each_control_group(groups, "memory", [&least](const std::string& folder, bool unified) {
    if (unified) {
      for (const char* limit : {"memory.max", "memory.high"})
        least = std::min(least, left_by(folder, limit, "memory.current", "inactive_file"));
    } else {
      least = std::min(least, left_by(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"));
    }
  });
  return least;
}

std::uint64_t available_memory() {
  std::uint64_t least = control_group_free({});
  std::ifstream in("/proc/meminfo");
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kilobytes = 0;
    if (words >> key >> kilobytes && key == "MemAvailable:") least = std::min(least, kilobytes * 1024);
  }
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY)
    least = std::min<std::uint64_t>(least, address_space.rlim_cur);
  return least == most ? least : least / static_cast<std::uint64_t>(sharers.load());
}

void share_memory(int processes) noexcept { sharers = processes; }

std::string readable_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> units = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

void require_memory(std::uint64_t bytes, std::uint64_t limit, const std::string& name) {
  const std::uint64_t there = limit != 0 ? limit : available_memory();
  if (bytes > there)
    throw Error(Errc::out_of_memory, name + " needs " +
                                         (bytes == most ? "more than 2^64 bytes" : readable_bytes(bytes)) +
                                         " of memory to read; " + readable_bytes(there) +
                                         (limit != 0 ? " are allowed" : " are free on this machine"));
}

}  // namespace ts::inline v0::io
