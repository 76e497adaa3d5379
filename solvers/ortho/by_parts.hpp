// Products of a basis that stays in host memory with a block that is elsewhere: the rows of the basis pass
// through memory beside the block, part by part and in order. The parts depend on the shape alone, and so do
// the bits.
#pragma once

#include <algorithm>
#include <optional>

#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"

namespace ts::inline v0::ortho {

/// The memory through which a basis passes.
inline constexpr std::size_t passage_bytes = std::size_t{128} << 20;

/// V in host memory, on its way to blocks in S.
template <Space S, class T>
struct Passing {
  const Context& ctx;
  HostView<const T> v;
  T* memory = nullptr;  ///< for rows_at_once rows of V
  index_t rows_at_once = 1;

  /// f(i, part) for parts V(i .. i + part.rows() - 1, :) in S, at least for one, in order. What f starts in a
  /// stream may still run when the next part arrives behind it.
  template <class F>
  void for_each_part(const F& f) const {
    index_t i = 0;
    do {
      const index_t rows = std::min(rows_at_once, v.rows() - i);
      const auto part = MatrixView<T, S>::unchecked(memory, rows, v.cols(), v.cols());
      const auto from = v.rows(i, rows);
      if constexpr (S == Space::host) {
        copy_block<T>(ctx, from, part);
      } else {
        const auto bytes = static_cast<double>(rows * v.cols()) * sizeof(T);
        const Profile::Piece piece(ctx, "basis from host memory", {bytes, bytes, 0}, std::nullopt, S);
        copy(ctx.stream, part, from);
      }
      f(i, MatrixView<const T, S>(part));
      i += rows;
    } while (i < v.rows());
  }
};

/// Rows of `columns` elements that `bytes` hold; whole multiples of 256 where there are so many.
template <class T>
[[nodiscard]] constexpr index_t rows_of_a_part(index_t columns, std::size_t bytes) noexcept {
  const auto line = std::max<index_t>(1, columns) * static_cast<index_t>(sizeof(T));
  const index_t rows = std::max<index_t>(1, static_cast<index_t>(bytes) / line);
  return rows < 256 ? rows : rows / 256 * 256;
}

/// S = V^H W
template <Space S, class T>
void inner_by_parts(const Passing<S, T>& v, MatrixView<const T, S> w, MatrixView<T, S> s) {
  v.for_each_part([&](index_t i, auto part) {
    tsmttsm(v.ctx, Op::adjoint, T{1}, part, w.rows(i, part.rows()), i == 0 ? T{} : T{1}, s);
  });
}

/// W = W - V S, and S_next = V^H W with the new W unless S_next is empty.
template <Space S, class T>
void project_out_by_parts(const Passing<S, T>& v, MatrixView<const T, S> s, MatrixView<T, S> w,
                          MatrixView<T, S> s_next) {
  v.for_each_part([&](index_t i, auto part) {
    const auto rows = w.rows(i, part.rows());
    tsmm(v.ctx, Op::none, T{-1}, part, s, T{1}, rows);
    if (!s_next.empty())
      tsmttsm(v.ctx, Op::adjoint, T{1}, part, MatrixView<const T, S>(rows), i == 0 ? T{} : T{1}, s_next);
  });
}

/// Y = alpha V S + beta Y
template <Space S, class T>
void combine_by_parts(const Passing<S, T>& v, T alpha, MatrixView<const T, S> s, T beta, MatrixView<T, S> y) {
  v.for_each_part([&](index_t i, auto part) { tsmm(v.ctx, Op::none, alpha, part, s, beta, y.rows(i, part.rows())); });
}

}  // namespace ts::inline v0::ortho
