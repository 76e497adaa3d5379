// The program's one job: read, solve, report.
#pragma once

#include "tallskinny/app/tssolve/settings.hpp"

namespace ts::app::tssolve {

/// Returns the exit status.
[[nodiscard]] int solve_file(Settings settings);

}  // namespace ts::app::tssolve
