// --dry-run: what a run would take.
#pragma once

#include "tallskinny/app/tskmeans/options.hpp"

namespace ts::tskmeans {

/// Prints the plan for the described points and `k` clusters.
void print_plan(const ProgramOptions& options, const io::Description& points, index_t k);
/// 0 when everything fits into --memory (default: what the machine has); else the size of the blocks in which
/// the points are to be read. @throws Error(out_of_memory) before anything large is allocated.
[[nodiscard]] std::uint64_t block_bytes(const ProgramOptions& options, const io::Description& points,
                                        index_t k);

}  // namespace ts::tskmeans
