// The program's one job: read, solve, report.
#pragma once

#include "tallskinny/app/common/ranks.hpp"
#include "tallskinny/app/tssolve/settings.hpp"

namespace ts::app::tssolve {

/// Returns the exit status. @throws Error that names options as the command line does.
[[nodiscard]] int solve_file(Settings settings, const Ranks& ranks);

}  // namespace ts::app::tssolve
