// Storage of projections of rows on a device. Read by the run-time compiler, too.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::inline v0 {

/// float16; or integers of 8 bits with a scale for each row and centroid.
enum class ProjectionNumbers { float16, int8 };

/// Form of projections, which plans decide.
struct ProjectionForm {
  index_t columns = 0;  ///< along as many axes; 0: none
  ProjectionNumbers numbers = ProjectionNumbers::float16;
  int from = 2;  ///< passes over all centroids before them

  [[nodiscard]] constexpr index_t bytes() const noexcept {
    return columns * (numbers == ProjectionNumbers::int8 ? 1 : 2);
  }
  /// This form with at most `most` columns, as kernels take them. In float16 where those are too few for integers; none
  /// where they are too few for both.
  [[nodiscard]] constexpr ProjectionForm within(index_t most) const noexcept {
    constexpr index_t step_bytes = 32, least_steps = 3;
    ProjectionForm form = *this;
    if (most < columns) form.columns = most;
    const index_t of_step = numbers == ProjectionNumbers::int8 ? step_bytes : step_bytes / 2, wanted = form.columns;
    index_t steps = wanted / of_step + 1;  // the last is that of limits
    while (steps >= least_steps && steps % 3 != 0 && steps % 4 != 0) --steps;
    form.columns = steps >= least_steps ? (steps - 1) * of_step : 0;
    if (form.columns > 0 || numbers == ProjectionNumbers::float16) return form;
    form.numbers = ProjectionNumbers::float16, form.columns = wanted;
    return form.within(wanted);
  }
};

}  // namespace ts::inline v0
