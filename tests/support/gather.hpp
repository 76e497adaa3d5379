// Checks of communicators of several ranks with parts of different lengths.
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

/// Called by all ranks: each sends every other one numbers of its own, in two pieces, and integers are added.
inline bool exchanges_and_adds(Communicator& ranks) {
  const int size = ranks.size(), here = ranks.rank();
  std::vector<std::vector<int>> sent, got;
  for (int r = 0; r < size; ++r) {
    sent.emplace_back(static_cast<std::size_t>(1000 * here + 3), 10 * here + r);
    got.emplace_back(static_cast<std::size_t>(1000 * r + 3), -1);
  }
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (int r = 0; r < size; ++r) {
    if (r == here) continue;
    const auto o = std::as_bytes(std::span(sent[static_cast<std::size_t>(r)]));
    const auto i = std::as_writable_bytes(std::span(got[static_cast<std::size_t>(r)]));
    for (const bool first : {true, false}) {
      out.push_back({r, first ? o.first(8) : o.subspan(8)});
      in.push_back({r, first ? i.first(8) : i.subspan(8)});
    }
  }
  ranks.begin_exchange(out, in)->wait();
  bool right = true;
  for (int r = 0; r < size; ++r)
    for (const int value : got[static_cast<std::size_t>(r)]) right = right && value == (r == here ? -1 : 10 * r + here);
  const auto number = static_cast<std::uint64_t>(here);
  std::vector<std::uint64_t> values = {number, std::uint64_t{1} << 63, ~std::uint64_t{0} - number};
  ranks.add(values);
  const auto all = static_cast<std::uint64_t>(size);
  return right && values[0] == all * (all - 1) / 2 && values[1] == (all % 2) << 63 && values[2] == 0 - all - values[0];
}

}  // namespace ts::test
