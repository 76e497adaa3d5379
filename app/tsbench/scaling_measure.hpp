// A^H B with the rows of A and B distributed over ranks, each on a GPU of its own or on threads of the processor.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/app/tsbench/case.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::bench {

struct ScalingCase {
  DType type = DType::float64;
  Shape widths{8, 8};
  index_t rows = 0;  ///< of all ranks
};

/// Seconds of one of these: the median over turns, of the slowest rank in each.
struct ScalingMeasured {
  ScalingCase what;
  int ranks = 1;
  double run_to_run = 0, gpu_to_gpu = 0;
  double plain = 0;        ///< a product of the rows here alone, then an all-reduce of as many bytes as C has
  double gathers = 0;      ///< 4 all-gathers of what gpu_to_gpu gathers, as a step of block Lanczos has
  double worst_error = 0;  ///< at both levels, relative to the bound: at most 1, or nothing is timed
  bool same_bits = true;   ///< at gpu_to_gpu those of one rank, on all ranks
  [[nodiscard]] bool right() const noexcept { return worst_error <= 1 && same_bits; }
};

struct ScalingRequest {
  bool gpu = false;  ///< rank r works on GPU r, NCCL between them
  int threads = 1;   ///< of a rank on the processor
  int turns = 1;
  std::function<void(std::string_view)> log;  ///< of rank 0
};

/// Bytes that a rank of `ranks` takes for the largest of these cases.
[[nodiscard]] std::size_t scaling_bytes(const std::vector<ScalingCase>& cases, int ranks);

/// Measures on `ranks` threads of this process, and calls done(measured) on rank 0 after each case.
/// @throws Error(no_device) without a GPU for each rank, or NCCL; Error(out_of_memory).
void measure_scaling(const ScalingRequest& request, int ranks, const std::vector<ScalingCase>& cases,
                     const std::function<void(const ScalingMeasured&)>& done);

}  // namespace ts::bench
