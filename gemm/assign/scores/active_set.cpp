#include "tallskinny/gemm/assign/scores/active_set.hpp"

#include <algorithm>
#include <cmath>

namespace ts::inline v0::assign_device {

namespace {

constexpr double worth = 0.6;      // of the time of passes over all rows, above which bounds are not tried
constexpr double most_steps = 64;  // of margin; what is beyond them is not foreseen

}  // namespace

double ActiveSet::cost_of(index_t cols, std::size_t element) noexcept {
  constexpr double sector = 32, lists = 40;  // bytes
  const double row = static_cast<double>(cols) * static_cast<double>(element), streamed = row + 4;
  return std::max(least_cost, 1.25 * (std::max(row, sector) + sector + lists) / streamed);
}

ActiveSet::Pass ActiveSet::next(bool settled, const Steps& last, double drift, double scale, double cost) {
  // Drift is the root of rounded sums of squares, some of which may have vanished.
  constexpr double rounding = 1 + 0x1p-30, vanished = 0x1p-300;
  if (hold_ && scale == scale_ && drift * rounding + vanished < static_cast<double>(margin_)) return Pass::active_rows;
  hold_ = false;
  parts_.clear();
  if (!settled || !std::isfinite(last.most) || last.most == 0 || density_ < 0) return Pass::every_row;
  const double margin = std::min(std::sqrt(last.most / (cost_ * density_)), most_steps * last.most);
  if (!(last.most / margin + cost_ * density_ * margin < worth * cost)) return Pass::every_row;
  margin_ = static_cast<float>(margin), scale_ = scale;
  hold_ = true;
  return Pass::with_margin;
}

void ActiveSet::keep(const Context& ctx, index_t n, const index_t* active, index_t count, bool valid) {
  Part& part = parts_.emplace_back();
  part.count = count;
  hold_ = hold_ && valid && count <= most_kept(n);
  if (!hold_) return;
  part.list = cuda::Memory(ctx.stream, static_cast<std::size_t>(count + 1) * sizeof(index_t));
  auto* const list = static_cast<index_t*>(part.list.data());
  cuda::copy_bytes(ctx.stream, list, &part.count, sizeof(index_t));
  cuda::copy_bytes(ctx.stream, list + 1, active, static_cast<std::size_t>(count) * sizeof(index_t));
  ctx.stream.synchronize();
}

void ActiveSet::passed(Pass pass, index_t n, index_t changed, const Steps& last) {
  const auto rows = static_cast<double>(n);
  if (pass == Pass::with_margin) {
    index_t active = 1;
    for (const Part& part : parts_) active += part.count;
    density_ = static_cast<double>(active) / (rows * static_cast<double>(margin_));
    measured_ = true;
    if (!hold_) parts_.clear();
  } else if (pass == Pass::every_row && !measured_ && last.typical > 0) {
    // Half of the rows nearer to a bisector than that come nearer still, and change their labels.
    density_ = 2 * static_cast<double>(changed + 1) / (rows * last.typical);
  }
}

cuda::Selection ActiveSet::of_part(std::size_t part) const noexcept {
  const auto* const list = static_cast<const index_t*>(parts_[part].list.data());
  return {list + 1, reinterpret_cast<const cuda::word64*>(list)};
}

}  // namespace ts::inline v0::assign_device
