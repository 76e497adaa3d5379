// What specialises the kernels of sums/kernels, and their arguments.
#pragma once

#include "tallskinny/gemm/assign/sums/arguments.hpp"

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
  static constexpr char header[] = "tallskinny/gemm/assign/sums/policy.hpp";
  static constexpr char name[] = "ts::cuda::MomentsPolicy";
  using Arguments = MomentsArguments;

  DType type = DType::float64;
  MomentsRound round = MomentsRound::sum;

  static constexpr int threads = 256, blocks_at_once = 2;

  static constexpr void members(auto& p, auto each) { each("type", p.type), each("round", p.round); }
  friend bool operator==(const MomentsPolicy&, const MomentsPolicy&) = default;
};

struct MeansArguments {
  FixedSumsArgument sums;
  int k, d;
  double scale;
  const double *centroids,
      *from;  ///< where centroids once were, row by row, of which the distance is told; or null
  double* means;
  ClusterNews* news;
};

/// sums/kernels/assign_means.cuh, a warp a cluster
struct MeansPolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/sums/policy.hpp";
  static constexpr char name[] = "ts::cuda::MeansPolicy";
  using Arguments = MeansArguments;

  bool move = false;  ///< centroids become means, or are looked at

  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  static constexpr void members(auto& p, auto each) { each("move", p.move); }
  friend bool operator==(const MeansPolicy&, const MeansPolicy&) = default;
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
  static constexpr char header[] = "tallskinny/gemm/assign/sums/policy.hpp";
  static constexpr char name[] = "ts::cuda::SumsSortPolicy";
  using Arguments = SumsSortArguments;

  bool put = false;    ///< entries are put in order, or counted
  bool shared = true;  ///< counters of all clusters fit into shared memory

  static constexpr DType type = DType::float32;
  static constexpr int threads = 1024;
  static constexpr int counter_bytes = 4;  ///< of a cluster

  static constexpr void members(auto& p, auto each) { each("put", p.put), each("shared", p.shared); }
  friend bool operator==(const SumsSortPolicy&, const SumsSortPolicy&) = default;
};

struct SumsPlacesArguments {
  int clusters;
  unsigned *places, *taken;
};

/// sums/kernels/sums_places.cuh
struct SumsPlacesPolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/sums/policy.hpp";
  static constexpr char name[] = "ts::cuda::SumsPlacesPolicy";
  using Arguments = SumsPlacesArguments;

  static constexpr DType type = DType::float32;
  static constexpr int threads = 256;

  static constexpr void members(auto&, auto) {}
  friend bool operator==(const SumsPlacesPolicy&, const SumsPlacesPolicy&) = default;
};

struct SumsAddArguments {
  RowsArgument x;
  const int* labels;
  const unsigned *order, *entries;
  SumsArgument sums;
};

/// sums/kernels/sums_add.cuh: the lanes of a team share a row, or a slab of its columns
struct SumsAddPolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/sums/policy.hpp";
  static constexpr char name[] = "ts::cuda::SumsAddPolicy";
  using Arguments = SumsAddArguments;

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

  static constexpr void members(auto& p, auto each) {
    each("type", p.type), each("d", p.d), each("plain", p.plain), each("vector", p.vector),
        each("alignment", p.alignment), each("pieces", p.pieces), each("rows", p.rows), each("ahead", p.ahead),
        each("weighed", p.weighed);
  }
  friend bool operator==(const SumsAddPolicy&, const SumsAddPolicy&) = default;
};

}  // namespace ts::inline v0::cuda
