// Sentences of the solvers for users of the programs: solvers name members of their options, users know flags.
#pragma once

#include <string>

namespace ts::app {

/// `max_iterations` (between grave accents) becomes --max-iter, and so on; other words stay.
[[nodiscard]] std::string with_flags(std::string sentence);

}  // namespace ts::app
