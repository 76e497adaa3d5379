// How eigenvalues of a Hermitian matrix are sought: one answer for eigsh() and for programs, which print it.
#pragma once

#include <optional>
#include <string_view>

#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"

namespace ts::inline v0::solvers {

/// What is asked for, as far as that decides.
struct HermitianWish {
  std::optional<double> sigma = {};
  bool interval = false;  ///< all eigenvalues in one
  bool dense = false;     ///< the matrix
  Which which = Which::LA;
  Method method = Method::automatic;
  Precision precision = Precision::float64;
};

/// Where A - sigma M is factorised: sigma, or 0 for SM.
[[nodiscard]] std::optional<double> target_of(const HermitianWish&);

/// Is what is wanted sought through factors of A - sigma M, unless the matrix is decomposed as a whole?
[[nodiscard]] bool seeks_through_factors(const HermitianWish&);

struct HermitianSearch {
  Factorise factorise = Factorise::nothing;
  bool narrow = false;      ///< the iteration sees the matrix in float32
  std::string_view method;  ///< in words
  std::string_view why;     ///< that one, as half a sentence; empty where it is the one that was asked for
};
[[nodiscard]] HermitianSearch search_of(const HermitianWish&, const EigenPlan&);

}  // namespace ts::inline v0::solvers
