#include "tallskinny/solvers/direct/simplicial.hpp"

#include <Eigen/OrderingMethods>
#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"

namespace ts::inline v0::solvers {

namespace {

/// The rows in an approximate minimum degree order.
template <class T>
std::vector<std::int32_t> minimum_degree(CsrView<T> a) {
  using Pattern = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>;
  const std::vector<double> ones(at(a.nonzeros()), 1.0);
  const std::vector<std::int32_t> starts(a.pointers, a.pointers + a.rows + 1);
  const Eigen::Map<const Pattern> pattern(static_cast<Eigen::Index>(a.rows), static_cast<Eigen::Index>(a.rows),
                                          static_cast<Eigen::Index>(a.nonzeros()), starts.data(), a.indices,
                                          ones.data());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int32_t> order;
  Eigen::AMDOrdering<std::int32_t>()(Pattern(pattern), order);
  return {order.indices().data(), order.indices().data() + order.size()};
}

}  // namespace

template <class T>
template <class Use>
void Simplicial<T>::walk(CsrView<T> a, index_t k, const Use& use) {
  const auto here = static_cast<std::int32_t>(k);
  seen_[at(k)] = here;
  const index_t row = old_[at(k)];
  for (index_t e = a.pointers[row]; e < a.pointers[row + 1]; ++e)
    for (std::int32_t i = place_[at(a.indices[e])]; i < here && seen_[at(i)] != here; i = parent_[at(i)]) {
      if (parent_[at(i)] < 0) parent_[at(i)] = here;
      seen_[at(i)] = here;
      use(i);
    }
}

template <class T>
Simplicial<T>::Simplicial(CsrView<T> a, const std::vector<int>& order, double most_flops) : n_(a.rows) {
  if (a.nonzeros() > std::numeric_limits<std::int32_t>::max()) return;
  estimate_.by = simplicial_name;
  place_.resize(at(n_));
  if (std::ssize(order) == n_) {
    old_.resize(at(n_));
    for (index_t i = 0; i < n_; ++i) old_[at(order[at(i)] - 1)] = static_cast<std::int32_t>(i);
  } else {
    old_ = minimum_degree(a);
  }
  for (index_t k = 0; k < n_; ++k) place_[at(old_[at(k)])] = static_cast<std::int32_t>(k);
  parent_.assign(at(n_), -1), seen_ = parent_;
  std::vector<index_t> counts(at(n_), 0);
  constexpr double of_type = is_complex<T> ? 4 : 1;
  for (index_t k = 0; k < n_; ++k) {
    // A column that gets its (c + 1)-st entry will take 2 c + 1 flops more.
    estimate_.flops += of_type;
    walk(a, k, [&](index_t i) {
      estimate_.flops += of_type * static_cast<double>(2 * ++counts[at(i)] + 1), ++estimate_.entries;
    });
    if (estimate_.flops > most_flops) return;
  }
  estimate_.bytes = estimate_.entries * (sizeof(T) + sizeof(std::int32_t)) + 40.0 * static_cast<double>(n_);
  starts_.assign(at(n_) + 1, 0);
  for (index_t k = 0; k < n_; ++k) starts_[at(k + 1)] = starts_[at(k)] + counts[at(k)];
  affordable_ = true;
}

template <class T>
std::vector<int> Simplicial<T>::order() const {
  std::vector<int> positions(place_.begin(), place_.end());
  for (int& position : positions) ++position;
  return positions;
}

template <class T>
bool Simplicial<T>::factorise(CsrView<T> a) {
  return factorise(a, 0);
}

template <class T>
double Simplicial<T>::refine(const Context& ctx, CsrView<T> a, double enough) {
  constexpr int most_steps = 3;
  double largest = 0;
  for (index_t e = 0; e < a.nonzeros(); ++e) largest = std::max(largest, std::abs(a.values[e]));
  const double least = std::sqrt(unit_roundoff) * largest;
  if (!(least > 0)) return inf;
  matrix_ = CsrMatrix<T>{a.rows,
                         a.cols,
                         {a.pointers, a.pointers + a.rows + 1},
                         {a.indices, a.indices + a.nonzeros()},
                         {a.values, a.values + a.nonzeros()}};
  const bool broke_down = !(std::abs(pivots_.back()) > 0);
  for (const bool moves : {false, true}) {
    if (moves ? !factorise(a, least) : broke_down) continue;
    for (steps_ = 1; steps_ <= most_steps; ++steps_)
      if (const double error = backward_error<T>(ctx, a, *this); error < enough) return error;
  }
  steps_ = 0;
  return inf;
}

template <class T>
bool Simplicial<T>::factorise(CsrView<T> a, double least) {
  moved_ = 0, steps_ = 0;
  rows_.resize(at(starts_.back())), values_.resize(at(starts_.back()));
  ends_ = starts_, pivots_.assign(at(n_), 0.0);
  std::fill(seen_.begin(), seen_.end(), -1);
  std::vector<T> y(at(n_), T{});  // of L y = the column of A above the diagonal
  std::vector<std::int32_t> pattern;
  for (index_t k = 0; k < n_; ++k) {
    pattern.clear();
    walk(a, k, [&](std::int32_t i) { pattern.push_back(i); });
    std::sort(pattern.begin(), pattern.end());
    const index_t row = old_[at(k)];
    double pivot = 0;
    for (index_t e = a.pointers[row]; e < a.pointers[row + 1]; ++e) {
      const index_t i = place_[at(a.indices[e])];
      if (i < k) y[at(i)] += conjugate(a.values[e]);
      if (i == k) pivot += std::real(a.values[e]);
    }
    for (const index_t i : pattern) {
      const T of_i = std::exchange(y[at(i)], T{});
      index_t& end = ends_[at(i)];
      for (index_t e = starts_[at(i)]; e < end; ++e) y[at(rows_[at(e)])] -= values_[at(e)] * of_i;
      const T l = conjugate(of_i) / pivots_[at(i)];
      pivot -= std::real(l * of_i);
      rows_[at(end)] = static_cast<std::int32_t>(k), values_[at(end)] = l, ++end;
    }
    if (std::abs(pivot) < least) {
      const double before = std::exchange(pivot, pivot < 0 ? -least : least);
      moved_ = std::max(moved_, std::abs(pivot - before));
    }
    if (pivot == 0 || !std::isfinite(pivot)) return false;
    pivots_[at(k)] = pivot;
  }
  return true;
}

template <class T>
void Simplicial<T>::solve(const Context& ctx, Op, PlacedView<const T> right_sides, PlacedView<T> solutions) const {
  if (steps_ == 0) return solve_once(ctx, right_sides, solutions);
  on_host(ctx, right_sides, solutions, [&](HostView<const T> b, HostView<T> x) {
    const auto right = Matrix<T>::copy_of(b);  // X may be B
    Matrix<T> residual(n_, b.cols());
    solve_once(ctx, right.cview(), x);
    for (int step = 0; step < steps_; ++step) {
      spmm(ctx, Op::none, T{-1}, matrix_.view(), HostView<const T>(x), T{0}, residual.view());
      for (index_t i = 0; i < n_ * b.cols(); ++i) residual.data()[i] += right.data()[i];
      solve_once(ctx, residual.cview(), residual.view());
      for (index_t i = 0; i < n_; ++i)
        for (index_t j = 0; j < b.cols(); ++j) x(i, j) += residual(i, j);
    }
  });
}

template <class T>
void Simplicial<T>::solve_once(const Context& ctx, PlacedView<const T> right_sides, PlacedView<T> solutions) const {
  on_host(ctx, right_sides, solutions, [&](HostView<const T> b, HostView<T> x) {
    const index_t p = b.cols();
    Matrix<T> work(n_, p);
    for (index_t k = 0; k < n_; ++k)
      for (index_t j = 0; j < p; ++j) work(k, j) = b(old_[at(k)], j);
    T* const w = work.data();
    for (index_t k = 0; k < n_; ++k)
      for (index_t e = starts_[at(k)]; e < starts_[at(k + 1)]; ++e) {
        T *const to = w + rows_[at(e)] * p, *const from = w + k * p;
        for (index_t j = 0; j < p; ++j) to[j] -= values_[at(e)] * from[j];
      }
    for (index_t k = n_ - 1; k >= 0; --k) {
      T* const to = w + k * p;
      for (index_t j = 0; j < p; ++j) to[j] /= pivots_[at(k)];
      for (index_t e = starts_[at(k)]; e < starts_[at(k + 1)]; ++e) {
        const T l = conjugate(values_[at(e)]);
        const T* const from = w + rows_[at(e)] * p;
        for (index_t j = 0; j < p; ++j) to[j] -= l * from[j];
      }
    }
    for (index_t k = 0; k < n_; ++k)
      for (index_t j = 0; j < p; ++j) x(old_[at(k)], j) = work(k, j);
  });
}

template <class T>
std::optional<index_t> Simplicial<T>::negative() const {
  return std::count_if(pivots_.begin(), pivots_.end(), [](double d) { return d < 0; });
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, Simplicial)

}  // namespace ts::inline v0::solvers
