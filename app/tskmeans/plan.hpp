// --dry-run: what a run would take.
#pragma once

#include "tallskinny/app/tskmeans/options.hpp"

namespace ts::tskmeans {

/// Prints the plan for the described points and `k` clusters.
void print_plan(const ProgramOptions& options, const io::Description& points, index_t k);
/// @throws Error(out_of_memory) before anything large is allocated.
void expect_memory(const ProgramOptions& options, const io::Description& points, index_t k);

}  // namespace ts::tskmeans
