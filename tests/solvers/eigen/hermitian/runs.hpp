// Runs of the Hermitian solver for tests.
#pragma once

#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

using solvers::EigenOptions;
using solvers::EigenProblem;
using solvers::Method;
using solvers::Which;
template <class T>
EigenProblem<T> problem_of(const CsrMatrix<T>& a) {
  return {solvers::CsrOperator<T>(a.view())};
}

inline CsrMatrix<double> diagonal(const std::vector<double>& values) {
  CsrMatrix<double> a;
  a.rows = a.cols = static_cast<index_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    a.indices.push_back(static_cast<std::int32_t>(i));
    a.values.push_back(values[i]);
    a.pointers.push_back(static_cast<index_t>(i) + 1);
  }
  return a;
}

inline EigenOptions options_for(index_t nev, Which which, Method method = Method::automatic) {
  return EigenOptions{.nev = nev, .which = which, .method = method};
}

}  // namespace ts::test
