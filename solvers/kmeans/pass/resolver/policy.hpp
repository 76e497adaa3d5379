// Policies that specialise the kernels of resolver/kernels, and their arguments.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/arguments.hpp"

namespace ts::inline v0::cuda {

struct DecideArguments {
  RowsArgument x;
  CentroidsArgument c;
  Selection selection;
  const unsigned* undecided;
  const Pair* pairs;
  int* labels;
  SumsArgument sums;
  PassCounts* counts;
  CandidateLists lists;
};

/// resolver/kernels/assign_decide.cuh
struct DecidePolicy {
  DType type = DType::float64;

  static constexpr int threads = 256, blocks_at_once = 2;
  static constexpr int shared_bytes = 384;  ///< static: where warps meet

  TS_POLICY(DecidePolicy, DecideArguments, "solvers/kmeans/pass/resolver/policy.hpp", type);
};

struct VerifyArguments {
  RowsArgument x;
  CentroidsArgument c;
  const int* labels;
  word64* wrong;
};

/// resolver/kernels/assign_verify.cuh
struct VerifyPolicy {
  DType type = DType::float64;

  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(VerifyPolicy, VerifyArguments, "solvers/kmeans/pass/resolver/policy.hpp", type);
};

/// ||x_i - c_label||^2 of each row; the same where less than a number that is kept; the weighted sum of these over
/// a chunk; the largest of a chunk; and of the chunks of a list the rows that are not nearer than a distance.
enum class DistancesTask { own, lower, inertia_of_chunks, largest_of_chunks, listed_chunks };

struct DistancesArguments {
  RowsArgument x = {};
  int d = 0;
  const double* centroids = nullptr;  ///< own, lower
  const int* labels = nullptr;        ///< own, lower, listed_chunks
  const double* weights = nullptr;    ///< of each row, or none
  index_t chunk = 0;                  ///< rows of a chunk
  const int* listed = nullptr;        ///< numbers of chunks
  double least = 0;                   ///< listed_chunks
  word64* found = nullptr;            ///< listed_chunks: how many rows, which is 0 at first
  double* distances = nullptr;        ///< of each row
  double* out = nullptr;              ///< of each chunk; listed_chunks: distance, row and label of such rows, anyhow
  int* nearest = nullptr;             ///< lower: of each row, or none; gets first_number + label
  int first_number = 0;
};

/// resolver/kernels/assign_distances.cuh
struct DistancesPolicy {
  DType type = DType::float64;
  DistancesTask task = DistancesTask::own;

  static constexpr int threads = 256, blocks_at_once = 2;
  static constexpr int lanes = 8;  ///< that share a row, a partial sum each

  TS_POLICY(DistancesPolicy, DistancesArguments, "solvers/kmeans/pass/resolver/policy.hpp", type, task);
};

}  // namespace ts::inline v0::cuda
