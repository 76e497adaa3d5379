// Plans where the points of a run lie and what the run takes, by the options of the program.
#pragma once

#include "tallskinny/app/common/ranks.hpp"
#include "tallskinny/app/tskmeans/options.hpp"
#include "tallskinny/solvers/setup/kmeans_plan.hpp"

namespace ts::tskmeans {

/// Decides which of `ranks` ranks work: all where the algorithm is distributed and there are points for each, else rank
/// 0.
[[nodiscard]] app::RanksPlan who_works(const ProgramOptions& options, const io::Description& points, int ranks);

/// Within --memory (default: what the machine has), of the host and of the device each. @throws Error like
/// solvers::place_points.
[[nodiscard]] solvers::Placement place_points(const ProgramOptions& options, const io::Description& points, index_t k,
                                              const solvers::MachineMemory& machine);

/// --dry-run: prints the plan for the described points and `k` clusters.
/// @param here those that this process has of the points, which memory is planned for
void print_plan(const ProgramOptions& options, const io::Description& points, const io::Description& here, index_t k,
                const solvers::MachineMemory& machine);

}  // namespace ts::tskmeans
