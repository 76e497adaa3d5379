// What tsbench can do, one file each.
#pragma once

#include "tallskinny/app/common/options.hpp"

namespace ts::bench {

/// tsbench plan OP TYPE n m k
int plan_command(app::Arguments arguments);
/// tsbench engine
int engine_command(app::Arguments arguments);
/// tsbench gpu
int gpu_command(app::Arguments arguments);
/// tsbench tune
int tune_command(app::Arguments arguments);
/// tsbench pack
int pack_command(app::Arguments arguments);
/// tsbench kernel OP TYPE n m k
int kernel_command(app::Arguments arguments);

}  // namespace ts::bench
