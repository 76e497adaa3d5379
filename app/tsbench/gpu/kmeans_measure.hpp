// One pass of k-means on the GPU: whether its labels are right, and how long it takes.
#pragma once

#include <algorithm>

#include "tallskinny/app/tsbench/measure.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::bench {

struct KMeansCase {
  index_t n = 0, d = 0, k = 0;
  DType type = DType::float32;
  bool clustered = false;  ///< rows lie around k centres; otherwise they are normal
};

struct KMeansMeasured {
  KMeansCase what;
  Timing pass;          ///< in which no label changes, nor is expected to
  double first = 0;     ///< seconds of the pass in which all rows come from nowhere
  double bytes = 0;     ///< of rows and labels
  double flops = 0;     ///< 2 n d k
  double rescored = 0;  ///< share of the rows that were decided again
  index_t wrong = 0;    ///< labels, of the rows that were compared with all distances in float64
  bool same_bits = false;

  /// What no pass can be faster than, and why.
  struct Limit {
    double seconds;
    const char* by;
  };
  /// All bytes at the read rate, all products at that of 16-bit tensor instructions, or the best and second
  /// best of all scores: for two of them a minimum and a maximum, a maximum, a minimum and a minimum of three
  /// by units with half as many lanes as those that multiply and add in float32.
  [[nodiscard]] Limit limit(const cuda::DeviceInfo& roofs) const {
    constexpr double operations_of_a_score = 2.5, flops_of_an_operation = 4;
    const double scores = static_cast<double>(what.n) * static_cast<double>(what.k);
    return std::max(
        {Limit{bytes / roofs.read_bytes_per_second, "bytes"}, Limit{flops / roofs.half_tensor_flops, "products"},
         Limit{scores * operations_of_a_score * flops_of_an_operation / roofs.float32_flops, "least"}},
        [](const Limit& a, const Limit& b) { return a.seconds < b.seconds; });
  }
};

/// Centroids are those of some steps on a part of the rows, which are repeated to make n.
[[nodiscard]] KMeansMeasured measure_kmeans(const Context& ctx, const KMeansCase& what, int repetitions);

}  // namespace ts::bench
