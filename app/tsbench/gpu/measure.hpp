// Checking and timing one case on the GPU.
#pragma once

#include <algorithm>
#include <string>

#include "tallskinny/app/tsbench/gpu/energy.hpp"
#include "tallskinny/app/tsbench/gpu/pool.hpp"
#include "tallskinny/app/tsbench/measure.hpp"

namespace ts::bench {

struct GpuMeasured {
  Case described;
  std::string kernel;  ///< the family that ran, where one launch does it all
  Cost cost;
  double roof_seconds = 0;  ///< all bytes at the roof, or all flops at the peak
  Bound bound = Bound::memory;
  Timing ours;
  double graph_seconds = 0;  ///< of one run in a captured graph
  double joules = 0;         ///< of one run; 0: not measured
  std::string vendor;        ///< the fastest of the vendor's ways; empty: it has none
  Timing vendor_timing;
  double vendor_joules = 0;
  double worst_error = 0;  ///< relative to the bound: at most 1, or the case is not timed
  bool right = true, same_bits = true;

  [[nodiscard]] double bytes_per_second() const { return cost.bytes() / ours.median; }
  [[nodiscard]] double roof_share() const { return roof_seconds / ours.median; }
  /// The same of what memory moves where lines have gaps; 0 where they have none.
  [[nodiscard]] double sector_share() const {
    return described.gap == 0 ? 0 : roof_share() * std::max(1.0, described.sector_bytes() / cost.bytes());
  }
  /// How many times faster ours is; 0 without a vendor's way.
  [[nodiscard]] double vendor_ratio() const {
    return vendor.empty() ? 0 : vendor_timing.median / ours.median;
  }
};

struct GpuEffort {
  int repetitions = 7;
  bool peers = true;
  double energy_seconds = 0;  ///< of a loop whose energy is read; 0: it is not
};

/// `roofs`: the device with rates as measured in this run.
[[nodiscard]] GpuMeasured measure(const Context& ctx, GpuPool& pool, const Case& c,
                                  const cuda::DeviceInfo& roofs, const GpuEffort& effort);

}  // namespace ts::bench
