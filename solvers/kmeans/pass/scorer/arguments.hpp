// Arguments of the kernels that score rows. Read by the run-time compiler, too.
#pragma once

#include "tallskinny/solvers/kmeans/pass/resolver/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/arguments.hpp"

namespace ts::inline v0::cuda {

/// Largest norms over all centroids c (shifted and scaled): of c, of the lower of its two parts, and of what both
/// leave.
struct Largest {
  float norm, low, rest;
};

/// Output of a kernel with scores: pairs of centroids for rows that it does not decide.
struct PairsArgument {
  Pair* of_row = nullptr;
  unsigned* marks = nullptr;  ///< of rows with a pair that no other kernel need score again
};

/// Output of a kernel with scores for listed rows: candidates, the centroids whose scores do not decide. For each
/// position below `positions` at most `most_candidates`, and their number, which is 0 at first. On input the second of
/// a row's pair is its limit, as scores are compared. assign_minima.cuh gives rows positions itself, which it counts
/// behind the counts of all.
inline constexpr int most_candidates = 16;
struct CandidatesArgument {
  int *numbers = nullptr, *counts = nullptr;
  int positions = 0;
};

/// Arguments of all kernels that score rows; each takes what it needs.
struct ScoresArguments {
  RowsArgument x;
  Selection selection;
  const void* centroids;  ///< as assign_prepare.cuh makes them ready for the kernel
  const float* origins;   ///< where their scores begin
  float per_unit;         ///< of scores to units of their origin; to 2^-23 of one where keys keep scores
  float row_norm;         ///< of raw rows, at most
  unsigned one, margin;   ///< 1, which compilers must not know; units within which narrow scores decide nothing
  const Largest* largest;
  const double* shift;
  double scale;
  int* labels;
  unsigned* undecided;
  PairsArgument pairs;
  SumsArgument sums;
  PassCounts* counts;
  CandidateLists lists;
  CandidatesArgument candidates;
};

}  // namespace ts::inline v0::cuda
