#include "tallskinny/solvers/eigen/transform/semidefinite.hpp"

#include <Eigen/OrderingMethods>
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/direct/eigen_sparse.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Pivots, relative to the diagonal of M, that are zero to rounding; and what of a column may be left with one of them,
/// or be below zero.
constexpr double least_pivot = 1e-13, most_left = 1e-12;

/// A dense matrix of so many rows is factorised with pivots where one without them loses digits.
constexpr index_t most_dense_rows = 3000;

[[noreturn]] void fail_indefinite() {
  throw Error(
      Errc::bad_input,
      "the mass matrix is indefinite: where A is positive definite, exchange the two matrices, for M x = mu A x "
      "has mu = 1 / lambda (mode='buckling' of eigsh() in Python does so); eigs() in Python takes any M");
}

/// Row by row, in a sparse order and without pivots (Davis 2006, Direct Methods for Sparse Linear Systems, 4.7).
template <class T>
class RowByRow {
 public:
  using Entry = std::pair<std::int32_t, T>;

  explicit RowByRow(CsrView<T> mass) : m_(detail::sparse_of(mass)), n_(mass.rows), columns(at(n_)) {
    Eigen::AMDOrdering<std::int64_t>()(m_, order);
    place_.resize(at(n_)), parent_.assign(at(n_), -1), seen_.assign(at(n_), -1);
    diagonal_.assign(at(n_), 0.0), pivots_ = diagonal_, row_.assign(at(n_), T{});
    for (index_t k = 0; k < n_; ++k) place_[at(old(k))] = k;
    for (index_t k = 0; k < n_ && !failed; ++k) eliminate(k);
  }

 private:
  detail::Sparse<T> m_;
  index_t n_;
  std::vector<index_t> place_, parent_, seen_;
  std::vector<double> diagonal_, pivots_;
  std::vector<T> row_;

 public:
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int64_t> order;
  std::vector<std::vector<Entry>> columns;  ///< of L, in the order of elimination; empty where the pivot is zero
  bool failed = false;                      ///< M is indefinite, or pivots are needed

  /// The row of M that is the k-th.
  [[nodiscard]] index_t old(index_t k) const { return order.indices()(k); }

 private:
  /// Takes up row k of M, and finds where that of L has entries.
  std::vector<index_t> enter(index_t k) {
    std::vector<index_t> pattern;
    seen_[at(k)] = k;
    for (typename detail::Sparse<T>::InnerIterator entry(m_, old(k)); entry; ++entry) {
      index_t i = place_[at(entry.row())];
      if (i == k) diagonal_[at(k)] = std::real(entry.value());
      if (i >= k) continue;
      row_[at(i)] = conjugate(entry.value());
      for (; seen_[at(i)] != k; i = parent_[at(i)]) {
        if (parent_[at(i)] < 0) parent_[at(i)] = k;
        seen_[at(i)] = k, pattern.push_back(i);
      }
    }
    std::sort(pattern.begin(), pattern.end());
    return pattern;
  }

  void eliminate(index_t k) {
    const auto pattern = enter(k);
    const double whole = diagonal_[at(k)];
    double left = whole;
    for (const index_t j : pattern) {
      const T x = std::exchange(row_[at(j)], T{});
      if (pivots_[at(j)] == 0) {
        failed = failed || std::abs(x) > most_left * std::sqrt(std::max(whole * diagonal_[at(j)], 0.0));
        continue;
      }
      const T l = x / pivots_[at(j)];
      for (const auto& [i, value] : columns[at(j)])
        if (i > j) row_[at(i)] -= l * conjugate(value);
      left -= std::norm(l);
      columns[at(j)].emplace_back(static_cast<std::int32_t>(k), l);
    }
    row_[at(k)] = T{};
    if (whole < 0) fail_indefinite();
    failed = failed || left < -most_left * whole || !std::isfinite(left);
    if (left <= least_pivot * whole) return;
    pivots_[at(k)] = std::sqrt(left);
    columns[at(k)].emplace_back(static_cast<std::int32_t>(k), T(pivots_[at(k)]));
  }
};

/// Columns of L by the largest pivots (xPSTRF), of M scaled to a unit diagonal.
/// @throws Error(bad_input) where M is indefinite.
template <class T>
Matrix<T> with_pivots(CsrView<T> mass) {
  const index_t n = mass.rows;
  auto left = Matrix<T>::zeros(n, n);
  std::vector<double> scale(at(n));
  for_each_entry(mass, [&](index_t i, index_t j, const T& x) { left(i, j) += x; });
  for (index_t i = 0; i < n; ++i) scale[at(i)] = std::sqrt(std::max(std::real(left(i, i)), 0.0));
  double largest = 0;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      if (left(i, j) != T{} && scale[at(i)] * scale[at(j)] == 0) fail_indefinite();
      if (left(i, j) != T{}) left(i, j) /= scale[at(i)] * scale[at(j)];
    }
  Matrix<T> columns(n, n);
  index_t rank = 0;
  for (; rank < n; ++rank) {
    index_t pivot = 0;
    for (index_t i = 0; i < n; ++i) {
      if (std::real(left(i, i)) < -most_left * static_cast<double>(n)) fail_indefinite();
      if (std::real(left(i, i)) > std::real(left(pivot, pivot))) pivot = i;
    }
    const double root = std::sqrt(std::max(std::real(left(pivot, pivot)), 0.0));
    if (root * root <= least_pivot) break;
    std::vector<T> l(at(n));
    for (index_t i = 0; i < n; ++i) l[at(i)] = left(i, pivot) / root;
    for (index_t i = 0; i < n; ++i) {
      if (l[at(i)] == T{}) continue;
      for (index_t j = 0; j < n; ++j) left(i, j) -= l[at(i)] * conjugate(l[at(j)]);
    }
    for (index_t i = 0; i < n; ++i) columns(i, rank) = l[at(i)] * scale[at(i)];
  }
  for (index_t i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(left.data()[i]));
  if (largest > most_left * static_cast<double>(n)) fail_indefinite();
  return Matrix<T>::copy_of(columns.cview().cols(0, rank));
}

}  // namespace

template <class T>
SemidefiniteMass<T>::SemidefiniteMass(CsrView<T> mass) : n_(mass.rows) {
  const RowByRow<T> rows(mass);
  if (rows.failed) {
    if (n_ > most_dense_rows) fail_indefinite();
    const Matrix<T> columns = with_pivots(mass);
    for (index_t c = 0; c < columns.cols(); ++c) {
      for (index_t i = 0; i < n_; ++i)
        if (columns(i, c) != T{}) rows_.push_back(static_cast<std::int32_t>(i)), values_.push_back(columns(i, c));
      starts_.push_back(static_cast<index_t>(rows_.size()));
    }
    return;
  }
  for (const auto& column : rows.columns) {
    if (column.empty()) continue;
    for (const auto& [k, value] : column)
      rows_.push_back(static_cast<std::int32_t>(rows.old(k))), values_.push_back(value);
    starts_.push_back(static_cast<index_t>(rows_.size()));
  }
}

template <class T>
void SemidefiniteMass<T>::apply(HostView<const T> y, HostView<T> x) const {
  for (index_t i = 0; i < n_; ++i)
    for (index_t j = 0; j < x.cols(); ++j) x(i, j) = T{};
  for (index_t c = 0; c < rank(); ++c)
    for (index_t e = starts_[at(c)]; e < starts_[at(c + 1)]; ++e)
      for (index_t j = 0; j < x.cols(); ++j) x(rows_[at(e)], j) += values_[at(e)] * y(c, j);
}

template <class T>
void SemidefiniteMass<T>::apply_adjoint(HostView<const T> x, HostView<T> y) const {
  for (index_t c = 0; c < rank(); ++c) {
    for (index_t j = 0; j < y.cols(); ++j) y(c, j) = T{};
    for (index_t e = starts_[at(c)]; e < starts_[at(c + 1)]; ++e)
      for (index_t j = 0; j < y.cols(); ++j) y(c, j) += conjugate(values_[at(e)]) * x(rows_[at(e)], j);
  }
}

template <class T>
std::optional<index_t> SemidefinitePencil<T>::negative(double t) const {
  const auto factors = shifts.factorised(t);
  if (!factors || !factors->certain) return std::nullopt;
  return factors->solver->negative();
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, SemidefiniteMass)
TS_FOR_EACH_SOLVER_TYPE(TS_STRUCT, SemidefinitePencil)

}  // namespace ts::inline v0::solvers
