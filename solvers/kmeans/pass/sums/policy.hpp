// Policies that specialise the kernels of sums/kernels, and their arguments.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/arguments.hpp"

namespace ts::inline v0::cuda {

struct MomentsArguments {
  RowsArgument x;
  int d;
  index_t chunk;  ///< rows of a chunk
  const double *shift, *mean;
  double* out;
  word64* first;
};
enum class MomentsRound { sum, spread, first_not_finite };

/// sums/kernels/assign_moments.cuh
struct MomentsPolicy {
  DType type = DType::float64;
  MomentsRound round = MomentsRound::sum;

  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(MomentsPolicy, MomentsArguments, "solvers/kmeans/pass/sums/policy.hpp", type, round);
};

struct MeansArguments {
  FixedSumsArgument sums;
  int k, d;
  double scale;
  const double* centroids;
  double* means;
  ClusterUpdate* updates;
};

/// sums/kernels/assign_means.cuh, a warp a cluster
struct MeansPolicy {
  bool move = false;  ///< centroids become means, or are looked at

  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(MeansPolicy, MeansArguments, "solvers/kmeans/pass/sums/policy.hpp", move);
};

struct SumsSortArguments {
  int count;
  MovesArgument moves;
  const int* labels;
  int clusters;
  unsigned *places, *order;
};

/// sums/kernels/sums_sort.cuh
struct SumsSortPolicy {
  bool put = false;    ///< entries are put in order, or counted
  bool shared = true;  ///< counters of all clusters fit into shared memory
  bool few = false;    ///< so few clusters that lanes of a warp would wait for each other: equal ones count together

  static constexpr DType type = DType::float32;
  static constexpr int threads = 1024;
  static constexpr int counter_bytes = 4;  ///< of a cluster

  TS_POLICY(SumsSortPolicy, SumsSortArguments, "solvers/kmeans/pass/sums/policy.hpp", put, shared, few);
};

struct SumsPlacesArguments {
  int clusters;
  unsigned *places, *taken;
};

/// sums/kernels/sums_places.cuh
struct SumsPlacesPolicy {
  static constexpr DType type = DType::float32;
  static constexpr int threads = 256;

  TS_POLICY(SumsPlacesPolicy, SumsPlacesArguments, "solvers/kmeans/pass/sums/policy.hpp");
};

struct SumsAddArguments {
  RowsArgument x;
  const int* labels;
  const unsigned *order, *entries;
  SumsArgument sums;
};

/// sums/kernels/sums_add.cuh: the lanes of a team share a row, or a slab of its columns
struct SumsAddPolicy {
  DType type = DType::float64;
  int d = 1;             ///< columns
  bool plain = true;     ///< the elements of a row lie side by side, without scales
  int vector = 1;        ///< elements of one load
  int alignment = 8;     ///< of it
  int pieces = 1;        ///< such loads of a lane for each row
  int rows = 1;          ///< loaded at once
  bool ahead = false;    ///< the next so many are loaded while others are added
  bool weighed = false;  ///< rows have weights, or a column needs factors that are not to be multiplied

  static constexpr int threads = 256, blocks_at_once = 2;
  static constexpr int least_stretch = 16, most_stretch = 256;             ///< entries of a team
  [[nodiscard]] constexpr int columns() const { return vector * pieces; }  ///< of a lane
  [[nodiscard]] constexpr int team() const {
    int lanes = 1;
    while (lanes < (d + columns() - 1) / columns() && lanes < 32) lanes *= 2;
    return lanes;
  }
  [[nodiscard]] constexpr int slab() const { return team() * columns(); }
  [[nodiscard]] constexpr int slabs() const { return (d + slab() - 1) / slab(); }

  TS_POLICY(SumsAddPolicy, SumsAddArguments, "solvers/kmeans/pass/sums/policy.hpp", type, d, plain, vector, alignment,
            pieces, rows, ahead, weighed);
};

}  // namespace ts::inline v0::cuda
