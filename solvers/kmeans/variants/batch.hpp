// Many k-means problems of one shape in one call: codebooks of product quantisers, ensembles of seeds.
#pragma once

#include <span>
#include <vector>

#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::inline v0::solvers {

/// kmeans() of each of these B blocks of rows, which are of one shape and type, and in one memory. Problem b has the
/// seed options.seed + b, and its result the bits of kmeans() with that seed. The same rows may be given several times.
///
/// In host memory each problem runs on one thread of ctx. Large problems that would leave threads without one run on
/// all threads, one after the other. On a device several run at a time, each on a stream of its own
/// beside ctx.stream and a thread of the host, as long as they have 2^22 rows together: memory as of kmeans() for each
/// of up to 8. An allocator of the stream (cuda::DeviceAllocator) must serve several threads.
/// @param options weights: of n rows, for all problems alike, or of B n rows; centers: k x d, or B k x d. on_progress
/// is called by one thread at a time, where KMeansProgress::run counts the restarts of all problems; if it asks to
/// stop, Error(interrupted) is thrown. Not: on_state, resume, split_centers.
/// @throws as kmeans(), in a sentence that names the problem; Error(invalid_argument) for no problem, for problems of
/// several shapes, and on several ranks.
[[nodiscard]] std::vector<KMeansResult> kmeans_batch(const Context& ctx, std::span<const Rows> problems,
                                                     const KMeansOptions& options);

/// Blocks of equal length, in order: B problems whose rows lie one after the other.
/// @throws Error(invalid_argument) unless there are B n rows, B >= 1.
[[nodiscard]] std::vector<Rows> equal_blocks(const Rows& rows, index_t blocks);

}  // namespace ts::inline v0::solvers
