// The table of row kernels of one instruction set.
#pragma once

#include "tallskinny/gemm/cpu/sparse.hpp"
#include "tallskinny/gemm/cpu/squares.hpp"
#include "tallskinny/gemm/cpu/substitution.hpp"

namespace ts::inline v0::cpu::TS_ISA {

template <class... S>
constexpr auto sparse_table(std::tuple<S...>*) {
  const auto one = []<class T, class I>(SparseKernels<T, I>*) {
    SparseKernels<T, I> kernels{gather<T, I>, scatter<T, I>, nullptr};
    if constexpr (std::is_same_v<T, result_t<T>>) kernels.step = step<T, I>;
    return kernels;
  };
  return std::tuple<S...>{one(static_cast<S*>(nullptr))...};
}
template <class... S>
constexpr auto squares_table(std::tuple<S...>*) {
  const auto one = []<class E>(SquareKernels<E>*) { return SquareKernels<E>{squares<E>}; };
  return std::tuple<S...>{one(static_cast<S*>(nullptr))...};
}
template <class... S>
constexpr auto substitution_table(std::tuple<S...>*) {
  const auto one = []<class C>(SubstitutionKernels<C>*) { return substitution_kernels<C>; };
  return std::tuple<S...>{one(static_cast<S*>(nullptr))...};
}

constexpr RowKernels make_row_table() {
  return {sparse_table(static_cast<decltype(RowKernels::sparse)*>(nullptr)),
          squares_table(static_cast<decltype(RowKernels::squares)*>(nullptr)),
          substitution_table(static_cast<decltype(RowKernels::substitution)*>(nullptr))};
}

}  // namespace ts::inline v0::cpu::TS_ISA
