// The sentence that a result ends with.
#pragma once

#include <string>

#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"

namespace ts::inline v0::solvers {

/// What else decides what there is to say of a result.
struct Circumstances {
  index_t asked = 0;       ///< pairs, of those that the matrix has
  bool sides = false;      ///< of a target were sought
  bool displaced = false;  ///< what is nearest to the shift may not be to the target
  bool hidden = false;     ///< float32 cannot tell that nothing is missing
};

/// Fills cut_off and reason of a result that is otherwise complete.
template <class T>
void explain(const EigenOptions&, const Circumstances&, index_t rows, EigenResult<T>& result);

}  // namespace ts::inline v0::solvers
