// The parts of a sum over rows: each is added up by itself, then all are gathered and added in their order.
#pragma once

#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

/// At level gpu_to_gpu the units of all rows, of which the slab here has some; else a part for each rank.
struct RowParts {
  index_t rows = 0;       ///< here
  index_t part_rows = 0;  ///< of every part here but the last
  index_t first = 0;      ///< part here
  index_t here = 1;       ///< parts here
  index_t count = 1;      ///< parts of the whole
  bool units = false;
  [[nodiscard]] bool one() const noexcept { return count == 1 && !units; }
};

/// All rows in one part: a process that is alone, at level run_to_run.
[[nodiscard]] constexpr RowParts whole_rows(index_t rows) noexcept { return {rows, rows, 0, 1, 1, false}; }

/// @throws Error(invalid_argument) at level gpu_to_gpu when the Context does not say how rows are distributed
/// over several ranks, when slabs do not begin where units do, or when `rows` are not those of this rank's
/// slab.
[[nodiscard]] RowParts row_parts(const Context& ctx, const char* operation, index_t rows);

/// Whether operands without rows take part in an operation all the same, because other ranks have some.
[[nodiscard]] inline bool distributed(const Context& ctx) noexcept { return ctx.communicator->size() > 1; }

/// Parts of `size` doubles each, of which those here are there, in memory of the host or of ctx.stream's
/// device: gets those of the other ranks. False: they are not all there yet (Communicator::all_gather).
[[nodiscard]] bool gather_parts(const Context& ctx, const RowParts& parts, double* data, index_t size);
[[nodiscard]] bool gather_device_parts(const Context& ctx, const RowParts& parts, double* data, index_t size);

/// The first of all parts becomes their sum, added in their order.
void add_parts(const RowParts& parts, double* data, index_t size) noexcept;

}  // namespace ts::inline v0
