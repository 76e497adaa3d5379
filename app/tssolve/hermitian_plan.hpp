// Runs with Hermitian matrices before they solve: what they take, what --dry-run shows, what they read.
#pragma once

#include "tallskinny/app/tssolve/run.hpp"

namespace ts::app::tssolve {

[[nodiscard]] solvers::HermitianRequest request_of(const Settings& settings, const io::Description& input);

void plan_hermitian(Run& run);
void show_hermitian(Run& run);
[[nodiscard]] Loaded read_planned(Run& run);

/// Decides if ranks share the matrix; if not, gives the reason why the first one works alone.
[[nodiscard]] RanksPlan who_works(const Settings& settings, const io::Description& input, const Device& device);

}  // namespace ts::app::tssolve
