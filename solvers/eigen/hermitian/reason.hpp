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
  index_t there = 0;       ///< of those asked, as many as the sides of the target have, as far as counts tell
  bool undecided = false;  ///< fewer than that were found there, or bounds do not tell the side of some
  bool displaced = false;  ///< what is nearest to the shift may not be to the target
  bool hidden = false;     ///< float32 cannot tell that nothing is missing
};

/// Fills the reason of a result that is otherwise complete.
template <class T>
void explain(const EigenOptions&, const Circumstances&, index_t rows, EigenResult<T>& result);

/// Says how many copies of the last value `nev` cuts off, or at least how many there are; empty where it cuts none.
/// @param centred the set is the nearest to a number or the farthest from it, on both sides
template <class T>
[[nodiscard]] std::string cut_sentence(const EigenResult<T>&, const std::string& quantity, bool centred = false);

}  // namespace ts::inline v0::solvers
