// One run of tskmeans.
#pragma once

#include "tallskinny/app/common/ranks.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tskmeans/options.hpp"

namespace ts::tskmeans {

/// Reads, clusters (or predicts), writes; returns the exit status.
int run(ProgramOptions options, const app::Ranks& ranks);

}  // namespace ts::tskmeans
