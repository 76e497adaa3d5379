// The state of a run as it is stored.
#pragma once

#include "tallskinny/solvers/eigen/values/state.hpp"

namespace ts::test {

/// A copy of a state, which a run lends for a call only.
template <class T>
struct Stored {
  solvers::SavedState<T> state;
  Matrix<T> basis;

  Stored() = default;
  explicit Stored(const solvers::SavedState<T>& s) : basis(Matrix<T>::copy_of(s.basis)) {
    state.numbers = s.numbers, state.tall = s.tall;
    for (const auto& m : s.matrices) state.matrices.push_back(Matrix<T>::copy_of(m.cview()));
    state.basis = basis.cview();
  }
};

}  // namespace ts::test
