#include "tallskinny/gemm/assign/sums/launch.hpp"

#include <algorithm>

#include "tallskinny/gemm/assign/sums/plan.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::assign_device {

namespace {

/// Whether all factors of a column and of a row that weighs 1 have a product in float64.
bool factors_multiply(const FixedPoint& unit) {
  const double largest =
      unit.to_units.empty() ? 0 : *std::max_element(unit.to_units.begin(), unit.to_units.end());
  return largest * (unit.weight_to_units * unit.one) <= 0x1p1000;
}

}  // namespace

void add_moves(const Context& ctx, const Rows& x, PerRow<const std::int32_t> labels, const FixedPoint& unit,
               const SumsArgument& to, index_t clusters, index_t moves, const SumsRoom& room) {
  if (moves == 0) return;
  const cuda::DeviceInfo& device = ctx.stream.device();
  const RowsArgument rows(x);
  const auto k = static_cast<int>(clusters), count = static_cast<int>(moves);
  std::uint32_t* const entries = room.places + clusters;  // how many there are
  const index_t most_entries = to.moves.rows == nullptr ? moves : 2 * moves;
  cuda::fill_bytes(ctx.stream, room.places, 0,
                   static_cast<std::size_t>(clusters + 1) * sizeof(std::uint32_t));
  const auto sort = [&](cuda::SumsTask task) {
    cuda::launch(ctx, cuda::sums_sort_plan(task, clusters, moves, device), count, to.moves, labels.data, k,
                 room.places, room.order);
  };
  sort(cuda::SumsTask::count);
  cuda::launch(ctx, cuda::sums_places_plan(clusters), k, room.places, entries);
  sort(cuda::SumsTask::order);
  const bool weighed = to.weights != nullptr || !factors_multiply(unit);
  cuda::launch(ctx,
               cuda::sums_add_plan(cuda::assign_problem(x, clusters, false), weighed, most_entries, device),
               rows, labels.data, room.order, entries, to);
}

}  // namespace ts::assign_device
