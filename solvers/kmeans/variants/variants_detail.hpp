// Algorithms other than Lloyd's iteration over all rows. Each returns centres with labels; those of bisecting and
// mini-batch are the nearest centres. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding/seeding_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// True if the algorithm runs Lloyd's iteration from first centres.
[[nodiscard]] inline bool iterates(const KMeansOptions& o) noexcept {
  return o.algorithm == KMeansAlgorithm::lloyd || o.algorithm == KMeansAlgorithm::two_level;
}

/// Centres for a problem, by the options' choice of seeding.
using FirstCenters = std::function<Matrix<double>(const KMeansProblem&)>;

/// Sculley 2010, "Web-scale k-means clustering", algorithm 1: each step draws rows, and each centre moves to
/// the mean of all rows that were ever given to it. Centres with less than a hundredth of the rows of the
/// largest are put on rows of a batch now and then. Ends when the smoothed inertia of batches has not
/// improved for ten steps, or after max_iter times n / batch steps.
LloydRun mini_batch(const KMeansProblem& problem, const KMeansOptions& options, const FirstCenters& first,
                    const LloydControl& control);

/// Steinbach, Karypis, Kumar 2000: the cluster of largest inertia is split in two by k-means until there are
/// k.
LloydRun bisecting(const KMeansProblem& problem, const KMeansOptions& options, const LloydControl& control);

/// Sizes differ by one at most: labels minimise inertia under that condition up to 1e-3 of it, by an auction
/// (Bertsekas, Castanon 1989); centres are the means; until the inertia does not fall. 8 n k bytes.
LloydRun balanced(const KMeansProblem& problem, const KMeansOptions& options, const FirstCenters& first,
                  const LloydControl& control);

/// Breathing k-means (Fritzke 2020, arXiv:2006.15666). After Lloyd's algorithm a few centres are added, some iterations
/// made, as many centres of least utility removed, and some iterations made again. If that lowers the inertia, it is
/// kept and repeated; else fewer are added. Unlike in the paper, greedy k-means++ adds centres to the existing ones,
/// and iterations end before convergence. All ranks call it. Works on rows in host memory, each rank on a copy of all,
/// so that bits do not depend on threads, ranks, or where the rows are.
/// @param first finds first centres (k x d). @param control of the run; no progress is reported.
/// @param report called with the number of centres while some are added.
[[nodiscard]] Matrix<double> breathe(const KMeansProblem& problem, const FirstCenters& first, std::uint64_t seed,
                                     const LloydControl& control, const SeedProgress& report);

/// The centres with which KMeansAlgorithm::two_level begins to refine. `report` is called with their number as they are
/// found.
Matrix<double> two_level_centers(const KMeansProblem& problem, const KMeansOptions& options, std::uint64_t stream,
                                 const SeedProgress& report);

}  // namespace ts::inline v0::solvers::kmeans_detail
