#include "tallskinny/solvers/eigen/hermitian/ritz_basis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Images A S are updated by recurrence; this often they are computed again.
constexpr index_t refresh_steps = 25;

[[noreturn]] void throw_not_finite() {
  throw Error(Errc::bad_input, "the operator or the preconditioner gave NaN or Inf for a finite block");
}

}  // namespace

template <class T>
RitzBasis<T>::RitzBasis(const Context& ctx, const EigenProblem<T>& problem, double sign, index_t batch, index_t limit)
    : ctx_(ctx), problem_(problem), n_(all_rows(ctx, problem.a.rows())), sign_(sign), batch_(batch), limit_(limit) {}

template <class T>
void RitzBasis<T>::reserve(index_t columns) {
  if (s_.cols() >= columns) return;
  auto s = placed(columns), as = placed(columns);
  const index_t used = l_ + x_ + p_;
  if (used > 0) {
    ortho::copy_block<T>(ctx_, s_.cview().cols(0, used), s.view().cols(0, used));
    ortho::copy_block<T>(ctx_, as_.cview().cols(0, used), as.view().cols(0, used));
  }
  s_ = std::move(s), as_ = std::move(as);
}

template <class T>
void RitzBasis<T>::apply_to(index_t first, index_t count) {
  problem_.a.apply(ctx_, s(first, count), as(first, count));
  work_.applications += count;
}

template <class T>
void RitzBasis<T>::start(PlacedView<const T> block) {
  x_ = p_ = 0;
  c_ = {};
  const index_t width = std::min(block.cols(), n_ - l_);
  reserve(l_ + 3 * width);
  ortho::copy_block<T>(ctx_, block.cols(0, width), s(0, width));
  Matrix<T> c(l_, width), r(width, width);
  x_ =
      ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, s_.cview().cols(0, l_), s(0, width), c.view(), r.view()).rank;
  apply_to(0, x_);
  project(x_);
}

template <class T>
void RitzBasis<T>::project(index_t width) {
  const index_t m = x_ + p_;
  Matrix<T> h(m, m);  // H = S^H A S = C Theta C^H
  ortho::Tall<T> tall(ctx_);
  tall.inner(s(0, m), as(0, m), h.view());
  const auto e = ortho::hermitian_eigen<T>(h.cview());
  if (!(std::isfinite(e.values.empty() ? 0 : e.values.front()))) throw_not_finite();
  Matrix<T> c(m, width);
  values_.resize(at(width));
  for (index_t j = 0; j < width; ++j) {
    const index_t from = sign_ > 0 ? j : m - 1 - j;
    values_[at(j)] = e.values[at(from)];
    for (index_t i = 0; i < m; ++i) c(i, j) = e.vectors(i, from);
  }
  if (m + batch_ <= limit_) {  // another step fits in: X = S C stands beside the basis
    x_ = width, p_ = m - width, c_ = std::move(c);
    current_ = placed(width), image_ = placed(width);
    tall.combine(T{1}, s(0, m), c_.cview(), T{0}, current_.view());
    tall.combine(T{1}, as(0, m), c_.cview(), T{0}, image_.view());
  } else {
    compress(c, p_ == 0 ? Matrix<T>(m, 0) : beside(c));
  }
  std::vector<index_t> all(at(x_));
  std::iota(all.begin(), all.end(), index_t{0});
  residuals_.resize(at(x_));
  auto r = placed(x_);
  residuals_of(all, r.view());
  tall.norms(r.cview(), residuals_);
}

/// Coefficients of what is kept beside X = S C. LOBPCG: what it has outside of the old X. A grown basis: the
/// old X.
template <class T>
Matrix<T> RitzBasis<T>::beside(const Matrix<T>& c) const {
  const index_t m = c.rows(), old = std::min(x_, m);
  auto kept = Matrix<T>::copy_of(c.cview());
  for (index_t j = 0; j < c.cols(); ++j)
    if (limit_ == 0) {
      for (index_t i = 0; i < old; ++i) kept(i, j) = T{};
    } else {
      for (index_t i = 0; i < m; ++i)
        kept(i, j) = i < c_.rows() && j < c_.cols() ? c_(i, j) : T(c_.cols() == 0 && i == j ? 1 : 0);
    }
  return kept;
}

/// The first columns of the basis become X = S C, those after it an orthonormal basis of what `beside` has
/// outside of X.
template <class T>
void RitzBasis<T>::compress(const Matrix<T>& c, Matrix<T> beside) {
  // Of m directions no more than m - width lie beside C, whatever rounding makes of it.
  const index_t m = c.rows(), width = c.cols(), most = std::min(beside.cols(), m - width);
  Matrix<T> t(width, most), r(most, most), both(m, width + most);
  const index_t p = most == 0 ? 0
                              : ortho::orthonormalise<T>(alone(ctx_), ortho::BcgsiPlusA{}, c.cview(),
                                                         beside.view().cols(0, most), t.view(), r.view())
                                    .rank;
  ortho::copy<T>(c.cview(), both.view().cols(0, width));
  ortho::copy<T>(beside.cview().cols(0, p), both.view().cols(width, p));
  for (const auto& basis : {s(0, m), as(0, m)}) ortho::Tall<T>(ctx_).multiply(basis, both.cview().cols(0, width + p));
  x_ = width, p_ = p;
  c_ = {};
}

template <class T>
void RitzBasis<T>::settle() {
  if (c_.cols() == 0) return;
  const Matrix<T> c = std::move(c_);
  compress(c, Matrix<T>(c.rows(), 0));
}

/// R = (A X - X Theta) E, where E picks the columns named.
template <class T>
void RitzBasis<T>::residuals_of(const std::vector<index_t>& which, PlacedView<T> r) {
  auto pick = Matrix<T>::zeros(x_, r.cols()), scaled = Matrix<T>::zeros(x_, r.cols());
  for (index_t j = 0; j < r.cols(); ++j) {
    const index_t from = which[at(j)];
    pick(from, j) = 1, scaled(from, j) = values_[at(from)];
  }
  ortho::Tall<T> tall(ctx_);
  tall.combine(T{1}, ax(), pick.cview(), T{0}, r);
  tall.combine(T{-1}, x(), scaled.cview(), T{1}, r);
}

template <class T>
bool RitzBasis<T>::expand(const std::vector<index_t>& active) {
  const index_t before = l_ + x_ + p_;
  const index_t width = std::min(static_cast<index_t>(active.size()), n_ - before);
  if (width <= 0) return false;
  ++work_.steps;
  reserve(l_ + std::max(3 * std::max(x_, batch_), x_ + p_ + batch_));
  if (work_.steps % refresh_steps == 0) apply_to(0, x_ + p_);
  const auto w = s(x_ + p_, width);
  if (problem_.preconditioner) {  // W = K R
    auto r = placed(width);
    residuals_of(active, r.view());
    problem_.preconditioner->apply(ctx_, r.cview(), w);
  } else {
    residuals_of(active, w);
  }
  Matrix<T> c(before, width), t(width, width);
  const auto e = ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, s_.cview().cols(0, before), w, c.view(), t.view());
  if (e.rung == ortho::Rung::failed) throw_not_finite();
  work_.dead += e.dead;
  if (e.rank == 0) return false;
  apply_to(x_ + p_, e.rank);
  p_ += e.rank;
  project(x_);
  return true;
}

template <class T>
PlacedMatrix<T> RitzBasis<T>::lock(index_t count) {
  auto others = placed(x_ - count);
  ortho::copy_block<T>(ctx_, s(count, x_ - count), others.view());
  l_ += count, x_ = p_ = 0;
  return others;
}

template <class T>
void RitzBasis<T>::unlock(index_t count) {
  l_ -= count, x_ += count, p_ = 0;
}

template <class T>
void RitzBasis<T>::keep(std::vector<double> values, std::vector<double> residuals) {
  x_ = static_cast<index_t>(values.size());
  values_ = std::move(values), residuals_ = std::move(residuals);
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, RitzBasis)

}  // namespace ts::inline v0::solvers
