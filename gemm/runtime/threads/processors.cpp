#include "tallskinny/gemm/runtime/threads/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace ts::inline v0 {

namespace {

std::atomic<int> wished = 0, sharers = 1, ranks_here = 1;

/// Processors in the affinity mask of this thread, 0 if the kernel does not tell.
int processors_of_affinity() {
  // Machines may have more processors than cpu_set_t has bits.
  for (std::size_t sets = 1; sets <= 64; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    const std::size_t bytes = sets * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) return CPU_COUNT_S(bytes, mask.data());
    if (errno != EINVAL) break;
  }
  return 0;
}

std::optional<int> threads_of_environment() noexcept {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? std::nullopt : first_of_thread_list(text);
}

int detected_threads() noexcept {
  try {
    return available_processors();
  } catch (const std::exception&) {  // no memory for the names of files
    return 1;
  }
}

/// `quota` microseconds in each `period`, as processors.
std::optional<int> processors_of(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return std::nullopt;
  return static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, 1e6));
}

std::optional<int> quota_in(const std::string& folder, bool unified) {
  double quota = 0, period = 0;  // "max" and -1, which say that there is none, leave no positive number
  if (unified) {
    std::ifstream(folder + "/cpu.max") >> quota >> period;
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  return processors_of(quota, period);
}

}  // namespace

std::optional<int> first_of_thread_list(std::string_view text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int threads = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), threads);
  const bool ends = end == text.data() + text.size() || *end == ',' || *end == ' ' || *end == '\t';
  if (failure != std::errc{} || !ends || threads < 1) return std::nullopt;
  return threads;
}

std::optional<int> processor_quota(const ControlGroups& groups) {
  std::optional<int> least;
  for_each_control_group(groups, "cpu", [&](const std::string& folder, bool unified) {
    if (const auto quota = quota_in(folder, unified)) least = std::min(*quota, least.value_or(*quota));
  });
  return least;
}

int available_processors() {
  int processors = processors_of_affinity();
  if (processors == 0) processors = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::min(processors, processor_quota().value_or(processors)));
}

int default_threads() noexcept {
  static const std::optional<int> told = threads_of_environment();
  static const int detected = detected_threads();
  const int wish = wished, of_process = wish > 0 ? wish : told.value_or(detected / sharers);
  return std::max(1, of_process / ranks_here);
}

void share_processors(int processes) noexcept { sharers = processes; }

void share_threads(int ranks) noexcept { ranks_here = ranks; }

void set_default_threads(int threads) noexcept { wished = threads; }

void for_each_control_group(const ControlGroups& groups, std::string_view controller,
                            const std::function<void(const std::string& folder, bool unified)>& visit) {
  std::ifstream in(groups.of_process);
  std::string line;
  // "number:controllers:/group"; version 2 has the number 0 and no controllers
  while (std::getline(in, line)) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = line.starts_with("0::");
    if (!unified && controllers.find("," + std::string(controller) + ",") == std::string::npos) continue;
    const std::string root = groups.mounted + (unified ? "" : "/" + std::string(controller));
    // In a container the group's own path may not be mounted, but its root is: every ancestor counts.
    for (std::string group = line.substr(second + 1);;) {
      while (group.ends_with('/')) group.pop_back();
      visit(root + group, unified);
      if (group.empty()) break;
      group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
    }
  }
}

}  // namespace ts::inline v0
