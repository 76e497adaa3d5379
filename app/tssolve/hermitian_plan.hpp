// Runs with Hermitian matrices before they solve: what they take, what --dry-run shows, what they read.
#pragma once

#include "tallskinny/app/tssolve/run.hpp"

namespace ts::app::tssolve {

/// Where A - sigma I is factorised: --sigma, or 0 for SM.
[[nodiscard]] std::optional<double> target_of(const Settings& settings);

/// Does the iteration see the matrix in float32?
[[nodiscard]] bool is_narrow(const Settings& settings, const solvers::EigenPlan& plan);

/// Is what is wanted sought through factors of A - sigma M, unless the matrix is decomposed as a whole?
[[nodiscard]] bool seeks_through_factors(const Settings& settings, const io::Description& input);

void plan_hermitian(Run& run);
void show_hermitian(Run& run);
/// Will A - sigma I be factorised, however much that takes?
[[nodiscard]] bool needs_factors(const Run& run);
[[nodiscard]] Loaded read_planned(Run& run);

/// Whether ranks work together on it, or why the first one works alone.
[[nodiscard]] RanksPlan who_works(const Settings& settings, const io::Description& input, const Device& device);

}  // namespace ts::app::tssolve
