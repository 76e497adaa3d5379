// Better optima than one start leads to, on small data. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/variants/variants_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Breathing k-means (Fritzke 2020, arXiv:2006.15666): after Lloyd's algorithm a few centres are added, some iterations
/// made, as many centres of least utility removed, and some iterations made again. What lowers the inertia is kept, and
/// tried again; else fewer are added. Unlike there, centres are added by greedy k-means++ after those that are there,
/// and iterations end before convergence. All ranks call. All of this works on rows in host memory, each rank on a copy
/// of all, so that bits do not depend on threads, ranks, or where the rows are.
/// @param first finds first centres (k x d). @param control of the run, of which nothing is told.
/// @param chosen is told how many centres there are while some are added.
[[nodiscard]] Matrix<double> breathe(const KMeansProblem& problem, const FirstCenters& first, std::uint64_t seed,
                                     const LloydControl& control, const Chosen& chosen);

}  // namespace ts::inline v0::solvers::kmeans_detail
