// The commands of tsdata; each reads its own options and returns the exit status.
#pragma once

#include "tallskinny/app/common/options.hpp"

namespace ts::tsdata {

int gen(app::Arguments arguments);
int convert(app::Arguments arguments);
int info(app::Arguments arguments);

}  // namespace ts::tsdata
