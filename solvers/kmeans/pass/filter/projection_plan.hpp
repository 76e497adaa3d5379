// The kernels of projections: pure functions of shapes and device.
#pragma once

#include <optional>

#include "tallskinny/solvers/kmeans/pass/filter/filter.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/plan.hpp"

namespace ts::inline v0::cuda {

/// The form of projections for k centroids of d columns and at most `passes` passes. None where no kernel can take them
/// or, unless they are `wanted`, where they do not pay.
[[nodiscard]] ProjectionForm projection_form(const AssignProblem& problem, index_t passes, const DeviceInfo& device,
                                             bool wanted = false);
/// Plan of the kernel that scores listed centroids; none where no kernel can. `plans` are those of a pass over all
/// centroids.
/// @param bounded scores leave bounds for the next pass.
[[nodiscard]] std::optional<ScorePlan> assign_listed_plan(const AssignProblem& problem, const AssignPlans& plans,
                                                          const DeviceInfo& device, bool bounded = false);
/// Rows of a tile of that kernel.
[[nodiscard]] index_t tile_rows(const ScorePlan& listed);

/// Plan of the kernel that inverts a factor; none where it does not fit.
[[nodiscard]] std::optional<KernelPlan> axes_factor_plan(index_t m, const DeviceInfo& device);
[[nodiscard]] KernelPlan projection_axes_plan(const ProjectionForm& projections, index_t d);
[[nodiscard]] KernelPlan projection_rows_plan(const RowsForm& rows, const ProjectionForm& projections);
[[nodiscard]] KernelPlan projection_centroids_plan(ProjectionNumbers numbers, index_t k);
[[nodiscard]] KernelPlan projection_limits_plan(const RowsForm& rows, const ProjectionForm& projections, index_t steps,
                                                const DeviceInfo& device);
/// @param projections 32 (steps - 1) bytes a row for a number of steps that 3 or 4 divides.
[[nodiscard]] KernelPlan projection_tiles_plan(index_t rows, const ProjectionForm& projections, bool each_row,
                                               const DeviceInfo& device);
/// True if kernels can take bounds of tiles of rows (tile_bounds.hpp), and, unless they are `wanted`, these may pay.
[[nodiscard]] bool tile_bounds_may_pay(const AssignProblem& problem, const DeviceInfo& device, bool wanted = false);
/// Kernels for such projections, or without projections (no columns); with or without bounds of tiles.
[[nodiscard]] FilterCosts filter_costs(const AssignProblem& problem, const ProjectionForm& projections, bool bounds);
[[nodiscard]] KernelPlan bounds_schedule_plan();

}  // namespace ts::inline v0::cuda
