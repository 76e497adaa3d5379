#include "tallskinny/gemm/comm/slab_collector.hpp"

#include <algorithm>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0 {

void SlabCollector::begin(int slab) noexcept {
  slab_ = slab;
  call_ = 0;
  if (slab == 0) kept_.clear();
}

bool SlabCollector::all_gather(std::byte* data, std::span<const std::size_t> offsets) {
  if (slab_ == 0) kept_.emplace_back(offsets.back());
  expects(call_ < kept_.size() && kept_[call_].size() == offsets.back(),
          "slabs of rows: every slab must make the calls that slab 0 made");
  std::vector<std::byte>& kept = kept_[call_++];
  const auto slab = static_cast<std::size_t>(slab_);
  std::copy(data + offsets[slab], data + offsets[slab + 1], kept.begin() + static_cast<std::ptrdiff_t>(offsets[slab]));
  if (slab_ + 1 < slabs_) return false;
  std::copy(kept.begin(), kept.end(), data);
  return true;
}

}  // namespace ts::inline v0
