// Where the points of a run lie, and what the run takes: pure functions of options, points and machine.
#pragma once

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/tskmeans/options.hpp"

namespace ts::tskmeans {

/// Bytes that there are; 0: unknown.
struct Machine {
  bool has_device = false;
  std::uint64_t host_bytes = 0, device_bytes = 0;
};

struct Placement {
  /// All points in host memory.
  bool in_host = true;
  /// All points in the device's memory; without it a device gets them block by block.
  bool on_device = false;
  /// Of the blocks in which the processor reads them, and of those that go to a device; 0: none do.
  std::uint64_t host_block = 0, device_block = 0;
  std::vector<app::MemoryUse> host_uses, device_uses;
};

/// Within --memory (default: what the machine has), of the host and of the device each.
/// @throws Error(out_of_memory) before anything large is allocated, Error(invalid_argument) for points that a
/// device cannot have.
[[nodiscard]] Placement place_points(const ProgramOptions& options, const io::Description& points, index_t k,
                                     const Machine& machine);

/// --dry-run: prints the plan for the described points and `k` clusters.
void print_plan(const ProgramOptions& options, const io::Description& points, index_t k, const Machine& machine);

}  // namespace ts::tskmeans
