// Blocks of random numbers, wherever they are.
#pragma once

#include "tallskinny/gemm/runtime/placed.hpp"

namespace ts::inline v0::solvers {

/// X = the numbers of this seed and stream, where X is (gemm/random/fill_random.hpp): of distributed rows those of the
/// slab that ctx.slabs gives this rank.
template <class T>
void fill_random(const Context&, std::uint64_t seed, std::uint64_t stream, PlacedView<T> x);

}  // namespace ts::inline v0::solvers
