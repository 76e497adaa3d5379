// From a matrix in memory to the problem that solve_svd is given, its columns centred where that is asked for.
#pragma once

#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/solvers/svd/svd.hpp"

namespace ts::inline v0::solvers {

template <class T>
struct SvdAssembled {
  SvdProblem<T> problem;
  std::vector<T> means;  ///< of the columns, where they were subtracted
  DeviceCopy<T> there;   ///< of the matrix, where ctx has a stream
};

/// Subtracts the mean of each column in place, and returns the means.
template <class T>
std::vector<T> centre_columns(const Context&, Matrix<T>& dense);

/// A sparse matrix is centred by a correction of every product, a dense one by centre_columns() before. The matrix must
/// outlive the problem.
/// @throws Error(invalid_argument) for a dense matrix that is to be centred here.
template <class T>
[[nodiscard]] SvdAssembled<T> assemble_svd(const Context&, const AnyView<T>& matrix, bool centre = false);

/// ||A||_F^2. A dense matrix has been centred by now; of a sparse one
/// sum |a_ij - mu_j|^2 = sum |a_ij|^2 - m sum |mu_j|^2.
template <class T>
[[nodiscard]] double squares_of(const Context&, const AnyView<T>& matrix, const std::vector<T>& means);

/// The share of the variance `squares` that each component explains, sigma^2 / squares.
[[nodiscard]] std::vector<double> variance_ratios(const std::vector<double>& sigma, double squares);

}  // namespace ts::inline v0::solvers
