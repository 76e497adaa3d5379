// Values as bytes: the questions to a reader process and its answers, which are believed no more than a file.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tallskinny/io/hdf5/node.hpp"

namespace ts::inline v0::io::hdf5 {

template <class E>
inline constexpr E greatest{};  ///< enumerator
template <>
inline constexpr Errc greatest<Errc> = Errc::interrupted;
template <>
inline constexpr DType greatest<DType> = static_cast<DType>(std::size(every_dtype) - 1);
template <>
inline constexpr MemoryType greatest<MemoryType> = MemoryType::int64;
template <>
inline constexpr Filter greatest<Filter> = Filter::lzf;
template <>
inline constexpr ElementType::Kind greatest<ElementType::Kind> = ElementType::Kind::other;

// The members of the structures that are sent.
inline auto members_of(ElementType& x) { return std::tie(x.kind, x.text, x.read_as); }
inline auto members_of(Node::Member& x) { return std::tie(x.name, x.type, x.width); }
inline auto members_of(Node::RawPieces& x) { return std::tie(x.bytes, x.offsets); }
inline auto members_of(Node::ChunkGrid& x) { return std::tie(x.rows, x.cols, x.element_bytes, x.filters); }
inline auto members_of(Node::Rows& x) { return std::tie(x.begin, x.end); }
inline auto members_of(Node::UsedFilter& x) { return std::tie(x.number, x.name, x.available); }
inline auto members_of(Node::StoredChunk& x) { return std::tie(x.row, x.col, x.offset, x.bytes, x.skipped); }

/// An answer that is sent before its question.
struct Answered {
  std::string question, answer;
};
inline auto members_of(Answered& x) { return std::tie(x.question, x.answer); }

class Message {
 public:
  Message() = default;
  explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

  template <class T>
  Message& put(const T& x) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      bytes_.append(reinterpret_cast<const char*>(&x), sizeof x);
    else if constexpr (std::is_convertible_v<T, std::string_view>)
      put(std::string_view(x).size()).bytes_.append(std::string_view(x));
    else
      put_parts(x);
    return *this;
  }

  /// The next value. @throws std::runtime_error where there is none.
  template <class T>
  [[nodiscard]] T get() {
    T x{};
    get_into(x);
    return x;
  }

 private:
  template <class E>
  void put_parts(const std::vector<E>& list) {
    put(list.size());
    for (const E& element : list) put(element);
  }
  template <class E>
  void put_parts(const std::optional<E>& maybe) {
    put(maybe.has_value());
    if (maybe) put(*maybe);
  }
  template <class T>
  void put_parts(const T& x) {
    std::apply([this](const auto&... member) { (this->put(member), ...); }, members_of(const_cast<T&>(x)));
  }

  [[nodiscard]] std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) throw std::runtime_error("a message ends early");
    at_ += count;
    return std::string_view(bytes_).substr(at_ - count, count);
  }
  template <class T>
  void get_into(T& x) {
    if constexpr (std::is_same_v<T, bool>) {
      x = get<unsigned char>() != 0;
    } else if constexpr (std::is_enum_v<T>) {
      using Number = std::underlying_type_t<T>;
      const auto number = get<Number>();
      if (number < 0 || number > static_cast<Number>(greatest<T>)) throw std::runtime_error("no such enumerator");
      x = static_cast<T>(number);
    } else if constexpr (std::is_arithmetic_v<T>) {
      std::memcpy(&x, take(sizeof x).data(), sizeof x);
    } else if constexpr (std::is_same_v<T, std::string>) {
      x = take(get<std::size_t>());
    } else {
      get_parts(x);
    }
  }
  template <class E>
  void get_parts(std::vector<E>& list) {
    auto count = get<std::size_t>();
    if (count > bytes_.size() - at_) throw std::runtime_error("a message ends early");
    for (list.reserve(count); count > 0; --count) list.push_back(get<E>());
  }
  template <class E>
  void get_parts(std::optional<E>& maybe) {
    if (get<bool>()) maybe = get<E>();
  }
  template <class T>
  void get_parts(T& x) {
    std::apply([this](auto&... member) { (this->get_into(member), ...); }, members_of(x));
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

/// Questions about an object that a reader process answers: members of Node, known by their place in this list.
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
