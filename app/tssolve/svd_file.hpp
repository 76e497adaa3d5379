// tssolve --svd: singular values of a file.
#pragma once

#include "tallskinny/app/tssolve/settings.hpp"

namespace ts::app::tssolve {

/// Returns the exit status. Errors are thrown.
int decompose_file(const Settings& settings);

}  // namespace ts::app::tssolve
