// How many threads to use, and the control groups that limit processors and memory.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ts::inline v0 {

/// Where the kernel tells of control groups.
struct ControlGroups {
  std::string of_process = "/proc/self/cgroup";  ///< the list of a process's groups
  std::string mounted = "/sys/fs/cgroup";
};

/// Calls visit(folder, unified) for the groups in which `controller` ("memory", "cpu") may limit the process,
/// from its own on the way to the root. `unified`: of version 2.
void for_each_control_group(const ControlGroups& groups, std::string_view controller,
                            const std::function<void(const std::string& folder, bool unified)>& visit);

/// The number of threads of everything that is not told one, at least 1: what set_default_threads() said,
/// else the first number in OMP_NUM_THREADS, else this process's share of available_processors(). Of these the share of
/// a rank, where ranks are threads.
[[nodiscard]] int default_threads() noexcept;

/// For the whole process, as a program's option --threads does; 0: no wish.
void set_default_threads(int threads) noexcept;

/// From now on as many processes, this one among them, have the same processors: default_threads() is a share of them
/// where nobody said a number.
void share_processors(int processes) noexcept;

/// From now on as many ranks are threads of this process: default_threads() is what each of them has of those that
/// the process has, whoever said their number.
void share_threads(int ranks) noexcept;

/// Processors that this process may keep busy, at least 1: those of its affinity mask, of which its control
/// groups may leave fewer.
[[nodiscard]] int available_processors();

/// The least quota of processor time that control groups leave, in whole processors, rounded up; nothing
/// without one.
[[nodiscard]] std::optional<int> processor_quota(const ControlGroups& groups = {});

/// The first number of a list such as OMP_NUM_THREADS, "4" or "4,2"; nothing unless it is at least 1.
[[nodiscard]] std::optional<int> first_of_thread_list(std::string_view text) noexcept;

}  // namespace ts::inline v0
