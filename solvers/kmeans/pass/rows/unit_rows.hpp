// Rows by their direction alone, for distances on the sphere.
#pragma once

#include <span>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/per_row.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"

namespace ts::inline v0 {

/// scale[i] = 1 / ||x_i||, or 0 where the norm is zero, below 2^-1000 or not finite. @param x in host memory.
void reciprocal_norms(const Context& ctx, const Rows& x, std::span<double> scale);
/// Computes reciprocal norms of rows on a device, and returns x_i scale[i]: the bits of rows that are scaled where they
/// are used. Waits for the end. @param unit at least n d numbers on the device, n x d of which are the rows returned.
/// @throws Error(invalid_argument) for other shapes or memory.
Rows unit_rows(const Context& ctx, const Rows& x, PerRow<double> unit, std::span<double> scale);

/// labels[i] = 0 for the rows i listed. Returns how many were others. @param rows in the labels' memory.
index_t reset_labels(const Context& ctx, PerRow<std::int32_t> labels, PerRow<const index_t> rows);

}  // namespace ts::inline v0
