// One search beside a shift. For the .cpp files of this folder alone.
#pragma once

#include <vector>

#include "tallskinny/solvers/eigen/semidefinite/semidefinite.hpp"

namespace ts::inline v0::solvers {

/// The eigenvalues beside a target, in the order of what was asked.
template <class T>
[[nodiscard]] SemidefiniteResult<T> search_beside(const Context&, const SemidefinitePencil<T>&, const EigenOptions&,
                                                  double target, HostView<const T> initial = {},
                                                  const Checkpointing<T>& checkpointing = {});

/// The pairs of these numbers, in this order.
template <class T>
void arrange(SemidefiniteResult<T>& result, const std::vector<index_t>& order);

}  // namespace ts::inline v0::solvers
