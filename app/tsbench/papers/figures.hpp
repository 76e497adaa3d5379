// What the papers behind the engine show, as cases that can be measured again.
#pragma once

#include <span>
#include <string_view>

#include "tallskinny/app/tsbench/case.hpp"

namespace ts::bench {

struct Figure {
  std::string_view id;      ///< "B3"
  std::string_view source;  ///< paper and figure
  std::string_view says;    ///< its own figures
  /// The cases, each named by a table such as "fig. 12"; `large`: what only a GPU measures in seconds.
  std::vector<Case> (*cases)(bool large);
};

/// In the order of their numbers; B0, which measures memory instead of operations, has no cases.
[[nodiscard]] std::span<const Figure> figures() noexcept;

}  // namespace ts::bench
