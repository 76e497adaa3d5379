// The table of kernels of one instruction set.
#pragma once

#include "tallskinny/gemm/cpu/dots.hpp"
#include "tallskinny/gemm/cpu/move.hpp"
#include "tallskinny/gemm/cpu/narrow.hpp"
#include "tallskinny/gemm/cpu/tile.hpp"

namespace ts::inline v0::cpu::TS_ISA {

template <class R>
constexpr RealKernels<R> real_kernels = {
    Vec<R>::lanes, tile_rows, tile_vectors* Vec<R>::lanes, inner<R>, outer<R>, dots<R>, store<R>, stream<R>};

template <class E>
constexpr NarrowKernels<E> narrow_kernels = {narrow_inner<E>, narrow_outer<E>};

template <class... E>
constexpr std::tuple<NarrowKernels<E>...> narrow_table(std::tuple<NarrowKernels<E>...>*) {
  return {narrow_kernels<E>...};
}
template <class... E>
constexpr std::tuple<WidenKernel<E>...> widen_table(std::tuple<WidenKernel<E>...>*) {
  return {WidenKernel<E>{widen<E>}...};
}

constexpr Kernels make_table(const char* name) {
  return {name,
          has_permute,
          real_kernels<double>,
          real_kernels<float>,
          narrow_table(static_cast<decltype(Kernels::narrow_kernels)*>(nullptr)),
          widen_table(static_cast<decltype(Kernels::widen)*>(nullptr)),
          publish};
}

}  // namespace ts::inline v0::cpu::TS_ISA
