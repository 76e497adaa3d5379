// The bodies of skeletons, and of the muscles that are not in ../muscle_detail.hpp, on operations that are counted.
// Shapes are checked, R is zero on entry.
#pragma once

#include "tallskinny/solvers/ortho/compared/skeleton.hpp"
#include "tallskinny/solvers/ortho/muscle_detail.hpp"

namespace ts::inline v0::ortho::detail {

template <class T>
Factored factorise(Tall<T>&, const Muscle&, PlacedView<T> x, HostView<T> r);
template <class T>
Factored factorise(Tall<T>&, MixedCholQr, PlacedView<T> x, HostView<T> r);
template <class T>
Factored factorise(Tall<T>&, RandomisedCholQr, PlacedView<T> x, HostView<T> r);
template <class T>
Factored factorise(Tall<T>&, Tsqr, PlacedView<T> x, HostView<T> r);

template <class T>
Orthonormalised run(Tall<T>&, BcgsiPlusA, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, const Bcgs&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, const BcgsiPlus&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, const BcgsPip&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, const BcgsPipiPlus&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, const BlockMgs&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, const BcgsiPlusA1s&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, const BcgsiPlusP1s&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, const BcgsiPlusP2s&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, const BcgsiPlusAdaptive&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Orthonormalised run(Tall<T>&, RandomisedBcgs, HostView<T> x, HostView<T> r, index_t width);

/// Whether all columns of a block were found, to overwrite X with Q.
template <class T>
[[nodiscard]] bool factorise_in_full(Tall<T>& tall, const Muscle& muscle, HostView<T> x, HostView<T> r) {
  const Factored f = factorise<T>(tall, muscle, x, r);
  return f.rung != Rung::failed && f.rank == x.cols();
}

}  // namespace ts::inline v0::ortho::detail
