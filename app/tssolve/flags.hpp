// Sentences of the solvers for users of the program: solvers name members of their options, users know flags.
#pragma once

#include <string>

namespace ts::app::tssolve {

/// `max_iterations` (between grave accents) becomes --max-iter, and so on; other words stay.
[[nodiscard]] std::string with_flags(std::string sentence);

}  // namespace ts::app::tssolve
