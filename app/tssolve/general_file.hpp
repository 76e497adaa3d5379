// tssolve --general: eigenvalues of a matrix that need not be Hermitian.
#pragma once

#include "tallskinny/app/tssolve/settings.hpp"

namespace ts::app::tssolve {

/// Returns the exit status. Errors are thrown.
int solve_general_file(const Settings& settings);

}  // namespace ts::app::tssolve
