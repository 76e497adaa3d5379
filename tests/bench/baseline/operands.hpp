// Shapes and scalars that the lists of dense operations share.
#pragma once

#include "tallskinny/tests/bench/baseline/results.hpp"
#include "tallskinny/tests/support/operands.hpp"

namespace ts::baseline {

using test::Operand;
using test::Values;
using test::with_views;

/// An n x p and an n x q operand.
struct Shape {
  index_t n, p, q;
};
inline constexpr Shape shapes[] = {{3001, 1, 1},   {3001, 3, 3},  {3001, 8, 8},  {3001, 17, 17},
                                   {1500, 33, 33}, {3001, 3, 17}, {1500, 33, 8}, {5, 8, 3}};

template <class R>
R scalar(std::size_t i) {
  const double re[] = {1, -0.75, 0.5, 1, 2}, im[] = {0, 0, 0.25, -1, 0};
  return test::element<R>(re[i % 5], im[i % 5]);
}
template <class R>
R scalar_or_zero(std::size_t i) {
  return i % 3 == 0 ? R{} : i % 3 == 1 ? R{1} : scalar<R>(i);
}

template <class T>
void add(Hash& hash, Operand<T>& result) {
  hash.add(result.buffer());
}

/// run(context, hash) in every way for each shape; each call is run(way, shape, values, turn, hash), and the
/// turn decides about layouts, gaps and scalars.
template <class T, class Run>
void for_shapes(const std::string& operation, Run&& run) {
  std::size_t turn = static_cast<std::size_t>(dtype_of<T>);
  for (const Shape& s : shapes) {
    ++turn;
    for (const Way& way : ways())
      item(operation + " " + std::string(name_of(dtype_of<T>)) + " n" + std::to_string(s.n) + " p" +
               std::to_string(s.p) + " q" + std::to_string(s.q) + " " + way.name,
           [&](Hash& hash) {
             Values values(turn);
             run(way.ctx, s, values, turn, hash);
           });
  }
}

}  // namespace ts::baseline
