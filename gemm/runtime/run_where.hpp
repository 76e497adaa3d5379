// One call of an operation for tall operands that are in host memory or on a device: the small operands,
// which belong to the host, go there and come back.
#pragma once

#include <cstring>
#include <tuple>

#include "tallskinny/gemm/runtime/gpu/staging.hpp"
#include "tallskinny/gemm/runtime/placed.hpp"

namespace ts::inline v0 {

/// A small matrix of the host that an operation reads, or writes without reading it.
template <class T>
struct In {
  HostView<const T> matrix;
};
template <class T>
struct Out {
  HostView<T> matrix;
};

/// at(v): a tall operand as a view of the space in which the operation runs.
template <Space S>
struct At {
  static constexpr Space space = S;
  template <class T>
  [[nodiscard]] MatrixView<T, S> operator()(PlacedView<T> v) const {
    return v.template in<S>();
  }
};

namespace detail {

/// A small operand while it is on the device.
template <class T, bool written>
class StagedMatrix {
 public:
  using Element = std::conditional_t<written, T, const T>;
  StagedMatrix(const cuda::Stream& stream, HostView<Element> matrix)
      : matrix_(matrix), stretch_(stream.staging().take(bytes_of(matrix))) {
    if constexpr (!written) {
      for_each_row([](T* there, const T* here, std::size_t bytes) { std::memcpy(there, here, bytes); });
      cuda::Staging::upload(stream, stretch_);
    }
  }
  [[nodiscard]] DeviceView<Element> view() const noexcept {
    return DeviceView<Element>::unchecked(static_cast<T*>(stretch_.device), matrix_.rows(), matrix_.cols(),
                                          matrix_.cols());
  }
  void download(const cuda::Stream& stream) const {
    if constexpr (written) cuda::Staging::download(stream, stretch_);
  }
  void unpack() const {
    if constexpr (written)
      for_each_row([](const T* there, T* here, std::size_t bytes) { std::memcpy(here, there, bytes); });
  }
  [[nodiscard]] static std::size_t bytes_of(HostView<const T> m) noexcept {
    return static_cast<std::size_t>(m.rows() * m.cols()) * sizeof(T);
  }

 private:
  template <class Move>
  void for_each_row(const Move& move) const {
    if (matrix_.empty()) return;
    auto* there = static_cast<T*>(stretch_.host);
    for (index_t i = 0; i < matrix_.rows(); ++i)
      move(there + i * matrix_.cols(), matrix_.data() + i * matrix_.ld(),
           static_cast<std::size_t>(matrix_.cols()) * sizeof(T));
  }

  HostView<Element> matrix_;
  cuda::Staging::Stretch stretch_;
};

template <class T>
StagedMatrix<T, false> staged(const cuda::Stream& stream, In<T> in) {
  return {stream, in.matrix};
}
template <class T>
StagedMatrix<T, true> staged(const cuda::Stream& stream, Out<T> out) {
  return {stream, out.matrix};
}

template <class Small>
inline constexpr bool is_written = false;
template <class T>
inline constexpr bool is_written<Out<T>> = true;

}  // namespace detail

/// use(at, small...): `at` gives tall operands as views of `space`, and the small matrices are views of the
/// same space. On a device it waits only if something is written.
template <class Use, class... Small>
void run_where(const Context& ctx, Space space, const Use& use, Small... small) {
  if (space == Space::host) return use(At<Space::host>{}, small.matrix...);
  const cuda::Stream& stream = ctx.stream;
  const auto bytes = [](const auto& m) {
    using T = typename std::decay_t<decltype(m)>::value_type;
    return cuda::Staging::rounded(static_cast<std::size_t>(m.rows() * m.cols()) * sizeof(T));
  };
  stream.staging().begin(stream, (std::size_t{0} + ... + bytes(small.matrix)));
  const std::tuple there{detail::staged(stream, small)...};
  std::apply([&](const auto&... each) { use(At<Space::device>{}, each.view()...); }, there);
  if constexpr ((detail::is_written<Small> || ...)) {
    std::apply([&](const auto&... each) { (each.download(stream), ...); }, there);
    stream.staging().finish(stream);
    std::apply([](const auto&... each) { (each.unpack(), ...); }, there);
  }
}

}  // namespace ts::inline v0
