// The state of a run in a file, from which the same command goes on.
#pragma once

#include <span>

#include "tallskinny/app/common/checkpoint_file.hpp"
#include "tallskinny/app/tskmeans/options.hpp"

namespace ts::tskmeans {

/// Identity of a run, as hashes: the options that decide its result, and all points and weights.
struct RunKey {
  std::uint64_t settings = 0, points = 0;
};
/// One pass over `rows`, which lie in host memory or are read in blocks: the same for both, for every layout
/// and number of threads and ranks. @param centers of --init FILE, k x d, or none.
[[nodiscard]] RunKey key_of(const Context& ctx, const ProgramOptions& options, index_t k,
                            HostView<const double> centers, const solvers::RowSource& rows,
                            std::span<const double> weights);

/// Writes the state, with the labels of all ranks, which call it together.
void keep_state(app::CheckpointFile& file, const Context& ctx, const RunKey& key, const solvers::KMeansState& state);
/// Reads the state with the labels of this rank's points, whichever number of ranks wrote it.
/// @param k, n, d clusters, points (here) and features of this run, whose starts number `runs`.
/// @throws Error(bad_input) naming the file when it is damaged, or belongs to other points or options, on all ranks.
[[nodiscard]] solvers::KMeansState read_state(const app::CheckpointFile& file, const Context& ctx, const RunKey& key,
                                              index_t k, index_t n, index_t d, int runs);

}  // namespace ts::tskmeans
