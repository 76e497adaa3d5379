// What a run on many ranks takes, told from sizes and a description of the machine: it needs neither MPI nor ranks.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/setup/kmeans_plan.hpp"
#include "tallskinny/solvers/setup/memory.hpp"

namespace ts::inline v0::solvers {

/// Rates as measured or as data sheets state them: a prediction is no better than these. What is a rank's, each rank
/// of a node has at once.
struct MachineModel {
  std::string name;
  bool gpu = false;  ///< a rank is a GPU, and its memory that of the GPU
  index_t ranks_per_node = 1;
  double memory_bytes = 0;              ///< of a rank
  double memory_bytes_per_second = 0;   ///< of a rank
  double flops_per_second = 0;          ///< of a rank, in float64
  double narrow_flops_per_second = 0;   ///< the same in float32
  double message_seconds = 0;           ///< latency between nodes
  double network_bytes_per_second = 0;  ///< of a node, each way
  double node_message_seconds = 0;      ///< latency within a node
  double node_bytes_per_second = 0;     ///< of a rank within its node, each way
  double read_bytes_per_second = 0;     ///< of the file system, for all ranks together
  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

/// Of the rank that has the most rows.
struct RankCost {
  double moved = 0;  ///< bytes that its memory reads and writes
  double flops = 0;
  double messages = 0;  ///< that follow each other
  double sent = 0;      ///< bytes
  double memory_seconds = 0, arithmetic_seconds = 0, latency_seconds = 0, network_seconds = 0;
  /// Memory and arithmetic overlap; messages are waited for.
  [[nodiscard]] double seconds() const noexcept;
  friend bool operator==(const RankCost&, const RankCost&) = default;
};

/// A run on so many ranks, in seconds and bytes.
struct RankPrediction {
  index_t ranks = 1;
  index_t working = 1;  ///< that have rows
  index_t rows = 0;     ///< of the rank that has the most
  double steps = 0;     ///< assumed: typical_passes of k-means, typical_steps of block Lanczos
  RankCost start;       ///< before the first step and after the last
  RankCost step;
  double read_seconds = 0, write_seconds = 0;
  std::vector<MemoryUse> memory;    ///< of a rank
  std::vector<std::string> limits;  ///< what does not fit, or does not help, a sentence each
  [[nodiscard]] double seconds() const noexcept;
};

/// Collectives at which a message is long: then pieces go round in a ring instead of doubling.
/// Source: Thakur, Rabenseifner, Gropp 2005, Optimization of collective communication operations in MPICH.
inline constexpr double long_message = 512 * 1024;
/// Every rank gets `bytes` that all have together.
void add_all_gather(const MachineModel&, index_t ranks, double bytes, RankCost&) noexcept;
/// Every rank gets sums of so many bytes: reduce-scatter, then all-gather (Rabenseifner).
void add_all_reduce(const MachineModel&, index_t ranks, double bytes, RankCost&) noexcept;
/// One message each way with so many neighbours.
void add_exchange(const MachineModel&, index_t ranks, index_t neighbours, double bytes, RankCost&) noexcept;

/// Lloyd's iteration that reads all points in each pass (bounds skip some), with k-means++ where it is asked for.
/// @param points all of them, dense. @throws Error(invalid_argument) for sparse ones, or no rank.
[[nodiscard]] RankPrediction predict_kmeans(const MachineModel&, const KMeansOptions&, const PointsShape& points,
                                            index_t ranks);

/// What is known of a Hermitian matrix before it is read.
struct EigenShape {
  index_t rows = 0, entries = 0;
  std::size_t element_bytes = 8;
  index_t halo = 0;  ///< rows of X that a rank needs from each of its two neighbours
};
/// Of a grid with equally many points each way, cut into slabs: a plane. What a matrix is taken for before it is read.
[[nodiscard]] index_t halo_of_grid(index_t rows) noexcept;

/// Block Lanczos at level gpu_to_gpu: rows in slabs of whole units (row_slabs.hpp).
/// @param plan of all rows. @throws Error(invalid_argument) for no rank.
[[nodiscard]] RankPrediction predict_hermitian(const MachineModel&, const EigenPlan& plan, const EigenShape& matrix,
                                               index_t ranks);

}  // namespace ts::inline v0::solvers
