// What a reader process can be asked about an object: members of Node, known by their place in a list.
#pragma once

#include <cstdint>
#include <tuple>

#include "tallskinny/io/hdf5/message.hpp"

namespace ts::inline v0::io::hdf5 {

inline constexpr auto all_calls = std::tuple(
    &Node::children, &Node::address, &Node::attributes, &Node::text_attribute, &Node::integer_attribute, &Node::dims,
    &Node::element_type, &Node::members, &Node::chunk_rows, &Node::raw_pieces, &Node::chunk_grid, &Node::missing_rows,
    &Node::filters, &Node::outside, &Node::chunk_places, &Node::integers, &Node::text);

inline constexpr std::uint8_t call_count = std::tuple_size_v<decltype(all_calls)>;
inline constexpr std::uint8_t call_find = call_count,
                              call_read = call_count + 1;  ///< these two are no members

template <auto call>
constexpr std::uint8_t number_of() {
  std::uint8_t number = 0, found = call_count;
  const auto compare = [&](auto other) {
    if constexpr (std::is_same_v<decltype(other), std::remove_const_t<decltype(call)>>)
      if (other == call) found = number;
    ++number;
  };
  std::apply([&](auto... others) { (compare(others), ...); }, all_calls);
  return found;
}

}  // namespace ts::inline v0::io::hdf5
