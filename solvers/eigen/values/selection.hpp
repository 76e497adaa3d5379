// Which of the sorted Ritz values are wanted: always the first few from the low end and the first few from
// the high end.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

struct Ends {
  index_t low = 0, high = 0;
  [[nodiscard]] index_t total() const noexcept { return low + high; }
};

/// The indices of `ends` among m values, ascending.
[[nodiscard]] std::vector<index_t> indices_of(Ends ends, index_t m);

/// The k wanted of `ascending` values (at most all of them). `which` is LA, SA, LM or BE here: a target has
/// been turned into LM of the inverse before.
[[nodiscard]] Ends wanted_ends(std::span<const double> ascending, Which which, index_t k);

/// `ends` with `extra` values more, as far as there are as many: at the wanted end, half at each for BE; by magnitude
/// those that come next, at least a quarter of them at each end.
[[nodiscard]] Ends grown_ends(std::span<const double> ascending, Which which, Ends ends, index_t extra);

/// A value below `low` or above `high` would belong to the wanted set.
struct Thresholds {
  double low, high;
};
[[nodiscard]] Thresholds thresholds(std::span<const double> ascending, Which which, Ends ends);

/// The indices of values in the order in which these rise; equal ones keep their order.
[[nodiscard]] std::vector<index_t> rising_order(const std::vector<double>& values);

/// The columns of A that are named, in this order.
template <class T>
[[nodiscard]] Matrix<T> columns_of(const Matrix<T>& a, const std::vector<index_t>& which) {
  Matrix<T> chosen(a.rows(), static_cast<index_t>(which.size()));
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < chosen.cols(); ++j) chosen(i, j) = a(i, which[at(j)]);
  return chosen;
}

/// The length of each column.
template <class T>
[[nodiscard]] std::vector<double> lengths(const Matrix<T>& x) {
  std::vector<double> squares(at(x.cols()));
  for (index_t i = 0; i < x.rows(); ++i)
    for (index_t j = 0; j < x.cols(); ++j) squares[at(j)] += std::norm(x(i, j));
  for (double& s : squares) s = std::sqrt(s);
  return squares;
}

}  // namespace ts::inline v0::solvers
