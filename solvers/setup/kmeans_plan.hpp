// Where the points of a k-means run lie, and what the run takes: decided beforehand from sizes alone.
#pragma once

#include <memory>
#include <optional>

#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/setup/memory.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

namespace ts::inline v0::solvers {

/// Facts about the points that are known before they are read.
struct PointsShape {
  std::string name;  ///< for sentences
  index_t rows = 0, cols = 0, nonzeros = 0;
  DType type = DType::float64;
  std::uint64_t bytes = 0;  ///< in memory
  bool sparse = false;
  bool by_rows = false;  ///< they can be read in blocks of rows, again and again
};

/// Uses of a run beyond KMeansOptions that take memory or passes.
struct KMeansUses {
  bool predicts = false;  ///< labels for given centres, without clustering
  bool transforms = false, measures = false, weighted = false;
  bool verifies = false;    ///< labels, in a pass more
  std::size_t results = 1;  ///< numbers of clusters in one run
  int threads = 1;
};

/// Bytes that there are; 0: unknown.
struct MachineMemory {
  bool has_device = false;
  std::uint64_t host_bytes = 0, device_bytes = 0;
};

/// Where the points of a run are.
struct Placement {
  /// All points in host memory. Those that pass by once, to be labelled, are read block by block if they can be.
  bool in_host = true;
  /// All points in the device's memory; without it, and where they pass by once, a device gets them block by block.
  bool on_device = false;
  /// Bytes of the blocks in which the processor reads points, and of those that go to a device; 0: no blocks.
  std::uint64_t host_block = 0, device_block = 0;
  std::vector<MemoryUse> host_uses, device_uses;
};

/// @param options its `clusters` are the most there will be; centres and weights are not looked at.
/// @throws Error(out_of_memory) before anything large is allocated, Error(invalid_argument) for points that a
/// device cannot have.
[[nodiscard]] Placement place_points(const KMeansOptions& options, const KMeansUses& uses, const PointsShape& points,
                                     const MachineMemory& machine);

/// Points where a Placement puts them.
class PlacedRows {
 public:
  /// @param in_host all rows, which must outlive this, if they are to be there. @param read makes the origin of
  /// those that are not.
  PlacedRows(const Placement& place, const std::optional<Rows>& in_host, const std::function<RowOrigin()>& read,
             const cuda::Stream& stream);
  /// For the processor.
  [[nodiscard]] const RowSource& here() const { return *here_; }
  /// On the device if there is one, for what runs there.
  [[nodiscard]] const RowSource& to_iterate() const { return there_ ? *there_ : *here_; }
  /// Those that pass by in blocks, if that is how they are used.
  [[nodiscard]] const StreamedRows* streamed() const { return dynamic_cast<const StreamedRows*>(&to_iterate()); }

 private:
  std::unique_ptr<RowSource> here_;
  std::optional<DeviceRows> on_device_;
  std::unique_ptr<RowSource> there_;
};

}  // namespace ts::inline v0::solvers
