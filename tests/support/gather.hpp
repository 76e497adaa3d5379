// What every communicator of several ranks must be able to do with parts of different lengths.
#pragma once

#include <vector>

#include "tallskinny/gemm/runtime/communicator.hpp"

namespace ts::test {

/// Called by all ranks, of which rank r brings 7 r bytes: whether this one has the bytes of all afterwards.
inline bool gathers_parts(Communicator& ranks) {
  std::vector<std::size_t> offsets = {0};
  for (int r = 0; r < ranks.size(); ++r) offsets.push_back(offsets.back() + static_cast<std::size_t>(7 * r));
  const auto own = static_cast<std::size_t>(ranks.rank());
  std::vector<std::byte> data(offsets.back());
  for (std::size_t i = offsets[own]; i < offsets[own + 1]; ++i) data[i] = static_cast<std::byte>(i);
  bool right = ranks.all_gather(data.data(), offsets);
  for (std::size_t i = 0; i < data.size(); ++i) right = right && data[i] == static_cast<std::byte>(i);
  return right;
}

}  // namespace ts::test
