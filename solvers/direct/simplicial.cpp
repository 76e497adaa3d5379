#include "tallskinny/solvers/direct/simplicial.hpp"

#include <Eigen/OrderingMethods>
#include <algorithm>
#include <array>
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

/// Columns that are solved for at once.
constexpr index_t widest = 8;

/// The usual number of columns as a constant.
template <class Use>
void with_width(index_t width, const Use& use) {
  width == widest ? use(std::integral_constant<index_t, widest>{}) : use(width);
}

/// f(b, x) for some columns after the others.
template <class T, class F>
void by_columns(HostView<const T> b, HostView<T> x, const F& f) {
  for (index_t first = 0; first < b.cols(); first += widest) {
    const index_t width = std::min(widest, b.cols() - first);
    f(b.cols(first, width), x.cols(first, width));
  }
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
  // Beside an eigenvalue refined solves are long, and their rounding is another one each time: it hides what is next.
  constexpr double usable = 1e-10;
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
      if (const SolveError error = solve_error<T>(ctx, a, *this); error.backward < enough) {
        if (error.residual < usable) return error.backward;
        steps_ = 0;
        return inf;
      }
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

/// W = L^-1 W, or with `plus` L W, from the columns of L in turn. Eight numbers of a row stay in registers.
template <class T>
template <class Width>
void Simplicial<T>::lower(T* w, Width p, bool plus) const {
  std::array<T, widest> own;
  for (index_t c = 0; c < n_; ++c) {
    const index_t k = plus ? n_ - 1 - c : c;
    for (index_t j = 0; j < p; ++j) own[at(j)] = plus ? -w[k * p + j] : w[k * p + j];
    for (index_t e = starts_[at(k)]; e < starts_[at(k + 1)]; ++e) {
      T* const to = w + rows_[at(e)] * p;
      const T l = values_[at(e)];
      for (index_t j = 0; j < p; ++j) to[j] -= l * own[at(j)];
    }
  }
}

/// W = L^-H W, or with `plus` L^H W.
template <class T>
template <class Width>
void Simplicial<T>::upper(T* w, Width p, bool plus) const {
  std::array<T, widest> sum;
  for (index_t c = 0; c < n_; ++c) {
    const index_t k = plus ? c : n_ - 1 - c;
    sum.fill(T{});
    for (index_t e = starts_[at(k)]; e < starts_[at(k + 1)]; ++e) {
      const T* const from = w + rows_[at(e)] * p;
      const T l = conjugate(values_[at(e)]);
      for (index_t j = 0; j < p; ++j) sum[at(j)] += l * from[j];
    }
    for (index_t j = 0; j < p; ++j) w[k * p + j] += plus ? sum[at(j)] : -sum[at(j)];
  }
}

template <class T>
void Simplicial<T>::scale(Matrix<T>& w, const std::function<double(double)>& of_pivot) const {
  for (index_t k = 0; k < n_; ++k) {
    const double divisor = of_pivot(pivots_[at(k)]);
    for (index_t j = 0; j < w.cols(); ++j) w(k, j) /= divisor;
  }
}

template <class T>
Matrix<T> Simplicial<T>::taken(HostView<const T> b, bool ordered) const {
  Matrix<T> work(n_, b.cols());
  for (index_t k = 0; k < n_; ++k)
    for (index_t j = 0; j < b.cols(); ++j) work(k, j) = b(ordered ? old_[at(k)] : k, j);
  return work;
}

template <class T>
void Simplicial<T>::left(const Matrix<T>& work, bool ordered, HostView<T> x) const {
  for (index_t k = 0; k < n_; ++k)
    for (index_t j = 0; j < x.cols(); ++j) x(ordered ? old_[at(k)] : k, j) = work(k, j);
}

template <class T>
void Simplicial<T>::solve_once(const Context& ctx, PlacedView<const T> right_sides, PlacedView<T> solutions) const {
  on_host(ctx, right_sides, solutions, [&](HostView<const T> all, HostView<T> solved) {
    by_columns<T>(all, solved, [&](HostView<const T> b, HostView<T> x) {
      auto work = taken(b, true);
      with_width(b.cols(), [&](auto p) { lower(work.data(), p, false); });
      scale(work, [](double d) { return d; });
      with_width(b.cols(), [&](auto p) { upper(work.data(), p, false); });
      left(work, true, x);
    });
  });
}

template <class T>
void Simplicial<T>::apply(const Context&, CholeskyStep step, HostView<const T> all, HostView<T> images) const {
  const bool adjoint = step == CholeskyStep::multiply_adjoint || step == CholeskyStep::solve_adjoint;
  const bool inverse = step == CholeskyStep::solve || step == CholeskyStep::solve_adjoint;
  const bool first = adjoint == inverse;  // D^(1/2) stands at the right of L, and of L^-H
  const auto root = [inverse](double d) { return inverse ? std::sqrt(d) : 1 / std::sqrt(d); };
  by_columns<T>(all, images, [&](HostView<const T> b, HostView<T> x) {
    auto work = taken(b, !first);
    if (first) scale(work, root);
    with_width(b.cols(), [&](auto p) { adjoint ? upper(work.data(), p, !inverse) : lower(work.data(), p, !inverse); });
    if (!first) scale(work, root);
    left(work, first, x);
  });
}

template <class T>
bool Simplicial<T>::definite() const {
  return std::all_of(pivots_.begin(), pivots_.end(), [](double d) { return d > 0; });
}

template <class T>
std::optional<index_t> Simplicial<T>::negative() const {
  return std::count_if(pivots_.begin(), pivots_.end(), [](double d) { return d < 0; });
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, Simplicial)

}  // namespace ts::inline v0::solvers
