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

constexpr Kernels make_table(const char* name) {
  return {name,
          has_permute,
          real_kernels<double>,
          real_kernels<float>,
          narrow_kernels<double>,
          narrow_kernels<float>,
          narrow_kernels<float16>,
          narrow_kernels<bfloat16>,
          {widen<float16>, widen<bfloat16>, publish}};
}

}  // namespace ts::inline v0::cpu::TS_ISA
