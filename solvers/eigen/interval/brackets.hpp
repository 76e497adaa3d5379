// Where eigenvalues are, from counts alone.
#pragma once

#include <optional>
#include <vector>

#include "tallskinny/solvers/eigen/values/problem.hpp"

namespace ts::inline v0::solvers {

/// So many eigenvalues lie below a number, for certain.
struct Counted {
  double shift = 0;
  index_t below = 0;
};

/// The two numbers nearest to an end of an interval between which it lies, or both the end, where counts are certain.
struct CountedEnd {
  Counted low, high;
};

/// Nothing where no such numbers are found.
/// @param step where the end itself has no certain count, how far from it the first trial is
[[nodiscard]] std::optional<CountedEnd> count_around(double end, double step, const CountBelow&);

/// Between `low` and `high` lie `copies` eigenvalues, which counts do not tell apart.
struct Bracket {
  double low = 0, high = 0;
  index_t copies = 0;
};

/// How narrow a bracket shall be: relative to the numbers in it, or absolute where they are smaller.
struct BracketWidth {
  double relative = 0, least = 0;
};

/// All eigenvalues between two counts, rising, by bisection: each costs about two counts where a guess is right, else
/// one for each digit of 2. A bracket is wider than asked for where counts within it are not certain. Nothing where
/// counts contradict each other.
/// @param guesses rising
[[nodiscard]] std::optional<std::vector<Bracket>> bracket_eigenvalues(Counted low, Counted high,
                                                                      const std::vector<double>& guesses, BracketWidth,
                                                                      const CountBelow&);

}  // namespace ts::inline v0::solvers
