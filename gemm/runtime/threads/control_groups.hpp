// The control groups of a process, in versions 1 and 2: who limits memory and processors.
#pragma once

#include <functional>
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

}  // namespace ts::inline v0
