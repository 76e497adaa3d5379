#include "tallskinny/gemm/assign/loose_rows.hpp"

#include <algorithm>
#include <cmath>

namespace ts::assign_device {

namespace {

constexpr double worth = 0.6;      // of the time of passes over all rows, above which bounds are not tried
constexpr double most_steps = 64;  // of room; what is beyond them is not foreseen

}  // namespace

double LooseRows::cost_of(index_t cols, std::size_t element) noexcept {
  constexpr double sector = 32, lists = 40;  // bytes
  const double row = static_cast<double>(cols) * static_cast<double>(element), streamed = row + 4;
  return std::max(least_cost, 1.25 * (std::max(row, sector) + sector + lists) / streamed);
}

LooseRows::Pass LooseRows::next(bool settled, const Steps& last, double drift, double scale) {
  // Drift is the root of rounded sums of squares, some of which may have vanished.
  constexpr double slack = 1 + 0x1p-30, vanished = 0x1p-300;
  if (hold_ && scale == scale_ && drift * slack + vanished < static_cast<double>(room_))
    return Pass::loose_rows;
  hold_ = false;
  parts_.clear();
  if (!settled || !std::isfinite(last.most) || last.most == 0 || density_ < 0) return Pass::every_row;
  const double room = std::min(std::sqrt(last.most / (cost_ * density_)), most_steps * last.most);
  if (!(last.most / room + cost_ * density_ * room < worth)) return Pass::every_row;
  room_ = static_cast<float>(room), scale_ = scale;
  hold_ = true;
  return Pass::with_room;
}

void LooseRows::keep(const Context& ctx, index_t n, const index_t* loose, index_t count, bool valid) {
  Part& part = parts_.emplace_back();
  part.count = count;
  hold_ = hold_ && valid && count <= most_kept(n);
  if (!hold_) return;
  part.list = cuda::Memory(ctx.stream, static_cast<std::size_t>(count + 1) * sizeof(index_t));
  auto* const list = static_cast<index_t*>(part.list.data());
  cuda::copy_bytes(ctx.stream, list, &part.count, sizeof(index_t));
  cuda::copy_bytes(ctx.stream, list + 1, loose, static_cast<std::size_t>(count) * sizeof(index_t));
  ctx.stream.synchronize();
}

void LooseRows::passed(Pass pass, index_t n, index_t changed, const Steps& last) {
  const auto rows = static_cast<double>(n);
  if (pass == Pass::with_room) {
    index_t loose = 1;
    for (const Part& part : parts_) loose += part.count;
    density_ = static_cast<double>(loose) / (rows * static_cast<double>(room_));
    measured_ = true;
    if (!hold_) parts_.clear();
  } else if (pass == Pass::every_row && !measured_ && last.typical > 0) {
    // Half of the rows nearer to a bisector than that come nearer still, and change their labels.
    density_ = 2 * static_cast<double>(changed + 1) / (rows * last.typical);
  }
}

SelectionArgument LooseRows::of_part(std::size_t part) const noexcept {
  const auto* const list = static_cast<const index_t*>(parts_[part].list.data());
  return {list + 1, reinterpret_cast<const std::uint64_t*>(list)};
}

}  // namespace ts::assign_device
