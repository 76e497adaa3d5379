#include "tallskinny/gemm/runtime/threads/control_groups.hpp"

#include <fstream>

namespace ts::inline v0 {

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
