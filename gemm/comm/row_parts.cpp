#include "tallskinny/gemm/comm/row_parts.hpp"

#include <string>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0 {

namespace {

[[noreturn]] void refuse(const char* operation, const std::string& why) {
  throw Error(Errc::invalid_argument, std::string(operation) + ": " + why);
}

RowParts units_of_slab(const Context& ctx, const char* operation, index_t rows) {
  const RowSlabs& slabs = ctx.slabs;
  const int rank = ctx.communicator->rank(), size = ctx.communicator->size();
  if (slabs.empty() || slabs.slabs() != size)
    refuse(operation, "at level gpu_to_gpu the Context's slabs must say how the rows are distributed over its " +
                          std::to_string(size) + " ranks");
  if (slabs.rows(rank) != rows)
    refuse(operation, "the operands have " + std::to_string(rows) + " rows but the slab of rank " +
                          std::to_string(rank) + " has " + std::to_string(slabs.rows(rank)));
  const index_t unit = row_unit(slabs.rows());
  for (int r = 0; r < size; ++r)
    if (slabs.begin(r) % unit != 0 && slabs.begin(r) != slabs.rows())
      refuse(operation, "at level gpu_to_gpu slabs of " + std::to_string(slabs.rows()) +
                            " rows begin at multiples of " + std::to_string(unit) + " (RowSlabs::of_units), not at " +
                            std::to_string(slabs.begin(r)));
  const index_t first = (slabs.begin(rank) + unit - 1) / unit;
  return {rows, unit, first, (rows + unit - 1) / unit, (slabs.rows() + unit - 1) / unit, true};
}

/// Where the parts of each rank begin, in bytes.
std::vector<std::size_t> offsets_of(const Context& ctx, const RowParts& parts, index_t size) {
  const int ranks = ctx.communicator->size();
  std::vector<std::size_t> offsets;
  for (int r = 0; r <= ranks; ++r) {
    const index_t part = parts.units ? (ctx.slabs.begin(r) + parts.part_rows - 1) / parts.part_rows : r;
    offsets.push_back(static_cast<std::size_t>(part * size) * sizeof(double));
  }
  return offsets;
}

}  // namespace

RowParts row_parts(const Context& ctx, const char* operation, index_t rows) {
  const int rank = ctx.communicator->rank(), size = ctx.communicator->size();
  if (size > 1 && ctx.implementation == Implementation::reference)
    refuse(operation, "the reference implementation knows one rank only");
  if (ctx.determinism == Determinism::run_to_run) return {rows, rows, rank, 1, size, false};
  if (size > 1) return units_of_slab(ctx, operation, rows);
  const index_t unit = row_unit(rows), units = (rows + unit - 1) / unit;
  return {rows, unit, 0, units, units, true};
}

bool gather_parts(const Context& ctx, const RowParts& parts, double* data, index_t size) {
  if (!distributed(ctx)) return true;
  return ctx.communicator->all_gather(reinterpret_cast<std::byte*>(data), offsets_of(ctx, parts, size));
}

void add_parts(const RowParts& parts, double* data, index_t size) noexcept {
  for (index_t part = 1; part < parts.count; ++part)
    for (index_t i = 0; i < size; ++i) data[i] += data[part * size + i];
}

bool gather_device_parts(const Context& ctx, const RowParts& parts, double* data, index_t size) {
  if (!distributed(ctx) || ctx.stream.rehearsal() != nullptr) return true;
  return ctx.communicator->all_gather(ctx.stream, reinterpret_cast<std::byte*>(data), offsets_of(ctx, parts, size));
}

}  // namespace ts::inline v0
