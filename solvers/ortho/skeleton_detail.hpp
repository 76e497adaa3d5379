// The bodies of the skeletons, on operations that are counted. Shapes are checked, R is zero on entry.
#pragma once

#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/solvers/ortho/skeleton.hpp"

namespace ts::ortho::detail {

/// One block against a basis, by the default.
template <class T>
Extension extend(Tall<T>&, BcgsiPlusA, PlacedView<const T> v, PlacedView<T> x, HostView<T> s, HostView<T> r,
                 bool known);

template <class T>
Outcome run(Tall<T>&, BcgsiPlusA, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, const Bcgs&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, const BcgsiPlus&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, const BcgsPip&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, const BcgsPipiPlus&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, const BlockMgs&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, const BcgsiPlusA1s&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, const BcgsiPlusP1s&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, const BcgsiPlusP2s&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, const BcgsiPlusAdaptive&, HostView<T> x, HostView<T> r, index_t width);
template <class T>
Outcome run(Tall<T>&, RandomisedBcgs, HostView<T> x, HostView<T> r, index_t width);

/// Whether all columns of a block were found, to overwrite X with Q.
template <class T>
[[nodiscard]] bool factorise_in_full(Tall<T>& tall, const Muscle& muscle, HostView<T> x, HostView<T> r) {
  const Factored f = factorise<T>(tall, muscle, x, r);
  return f.rung != Rung::failed && f.rank == x.cols();
}

}  // namespace ts::ortho::detail
