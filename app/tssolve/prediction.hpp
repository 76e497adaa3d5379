// --dry-run --ranks --machine: what a rank would take.
#pragma once

#include "tallskinny/app/tssolve/settings.hpp"

namespace ts::app::tssolve {

/// Prints it, and returns the exit status. @throws Error(invalid_argument) for what rank 0 would do alone.
[[nodiscard]] int predict(const Settings& settings, const io::Description& input);

}  // namespace ts::app::tssolve
