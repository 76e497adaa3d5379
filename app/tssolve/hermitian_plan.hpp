// Runs with Hermitian matrices before they solve: what they take, what --dry-run shows, what they read.
#pragma once

#include "tallskinny/app/tssolve/run.hpp"
#include "tallskinny/solvers/driver/hermitian_search.hpp"

namespace ts::app::tssolve {

/// What is asked for.
[[nodiscard]] solvers::HermitianWish wish_of(const Settings& settings, const io::Description& input);
/// How that is sought, once the run has a plan.
[[nodiscard]] solvers::HermitianSearch search_of(const Run& run);

void plan_hermitian(Run& run);
void show_hermitian(Run& run);
[[nodiscard]] Loaded read_planned(Run& run);

/// Whether ranks work together on it, or why the first one works alone.
[[nodiscard]] RanksPlan who_works(const Settings& settings, const io::Description& input, const Device& device);

}  // namespace ts::app::tssolve
