// Interface of filters on a device: they list the centroids that may be nearest before all columns are multiplied.
#pragma once

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/tall_operand.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_plan.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

namespace ts::inline v0::assign_device {

/// State of a pass that a filter may use.
struct FilterPass {
  const cuda::AssignPlans& plans;
  const cuda::ScorePlan& listed;
  const double *centroids, *shift;  ///< k x d; of d columns
  const float *half_norms, *origins;
  const cuda::Largest* largest;
  double scale;
  double origin;  ///< of scores
  float beyond;   ///< the origin of what must not be listed
  PerRow<const std::int32_t> labels;
  cuda::word64* kept;
};

/// Arguments of the kernel that scores listed centroids.
struct ListedCentroids {
  cuda::Selection rows;  ///< all, those of a cluster together
  const void* centroids;
  const float* origins;
  cuda::CandidateLists lists;
};

class CandidateFilter {
 public:
  CandidateFilter() = default;
  CandidateFilter(const CandidateFilter&) = delete;
  CandidateFilter& operator=(const CandidateFilter&) = delete;
  virtual ~CandidateFilter() = default;
  /// True if it needs bounds that scores leave.
  [[nodiscard]] virtual bool bounded() const noexcept = 0;
  /// Sets the centroids (k x d). Call before candidates(); may use the stream's workspace. Asynchronous.
  virtual void set_centroids(const Context& ctx, const double* centroids) = 0;
  /// The centroids of the pass. Asynchronous.
  [[nodiscard]] virtual ListedCentroids candidates(const Context& ctx, const FilterPass& pass) = 0;
};

/// Centroids in whole chunks; float16 numbers of a centroid, row by row: at most whole stages of assign_groups.cuh.
inline index_t padded_to_chunks(index_t k) {
  return cuda::ceil_div(k, cuda::projection_chunk) * cuda::projection_chunk;
}
inline index_t row_columns(index_t d) { return 16 * (cuda::column_steps(d) + 3); }

}  // namespace ts::inline v0::assign_device
