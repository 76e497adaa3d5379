#include "tallskinny/solvers/eigen/hermitian/ritz_basis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/runtime/compile_ahead.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Images A S are updated by recurrence; this often they are computed again.
constexpr index_t refresh_steps = 25;
/// Widths of kernels on a device are multiples of this.
constexpr index_t kernel_columns = 8;

/// S with zero rows and columns after its own.
template <class T>
Matrix<T> padded(const Matrix<T>& s, index_t rows, index_t cols) {
  auto wider = Matrix<T>::zeros(rows, cols);
  ortho::copy<T>(s.cview(), wider.view().block(0, 0, s.rows(), s.cols()));
  return wider;
}

[[noreturn]] void throw_not_finite() {
  throw Error(Errc::bad_input, "the operator or the preconditioner gave NaN or Inf for a finite block");
}

}  // namespace

template <class T>
RitzBasis<T>::RitzBasis(const Context& ctx, const EigenProblem<T>& problem, double sign, index_t batch, index_t limit)
    : ctx_(ctx),
      problem_(problem),
      n_(all_rows(ctx, problem.a.rows())),
      sign_(sign),
      unit_(problem.a.space() == Space::device ? kernel_columns : 1),
      batch_(wide(batch)),
      limit_(limit) {}

/// Columns of a run that begins with `width` in X: on a device one leading dimension serves, and one set of kernels.
template <class T>
index_t RitzBasis<T>::most_columns(index_t width) const noexcept {
  return unit_ == 1 ? 0 : width + (limit_ > 0 ? limit_ : 3 * std::max(width, batch_));
}

template <class T>
void RitzBasis<T>::prepare(index_t width, index_t probe) const {
  if (unit_ == 1) return;
  const bool grows = limit_ > 0;
  compile_ahead(ctx_, [&](const Context& rehearsal) {
    const index_t columns = wide(most_columns(width)) + unit_;
    rehearse(rehearsal, columns, width, grows ? wide(limit_) : wide(3 * width), grows ? batch_ : wide(width));
    if (!problem_.count_below) rehearse(rehearsal, columns, probe, wide(3 * probe + width), wide(probe));
  });
}

template <class T>
void RitzBasis<T>::rehearse(const Context& ctx, index_t columns, index_t x, index_t most, index_t batch) const {
  const auto placed = [&](index_t count) { return PlacedMatrix<T>(ctx, Space::device, problem_.a.rows(), count); };
  ortho::Tall<T> tall(ctx);
  auto s = placed(columns), as = placed(columns), of_x = placed(x), r = placed(x);
  std::vector<double> norms(at(std::max(x, batch)));
  for (const T beta : {T{0}, T{1}}) tall.combine(T{1}, of_x.cview(), Matrix<T>(x, x).cview(), beta, r.view());
  for (index_t m = wide(x); m <= most; m += unit_) {
    const auto v = s.cview().cols(0, m);
    tall.inner(v, as.cview().cols(0, m), Matrix<T>(m, m).view());
    if (limit_ > 0) tall.combine(T{1}, v, Matrix<T>(m, x).cview(), T{0}, of_x.view());
    if (limit_ == 0 || m == most) tall.multiply(s.view().cols(0, m), Matrix<T>(m, std::min(m, wide(2 * x))).cview());
  }
  std::vector<index_t> blocks{x};
  for (index_t b = unit_; b <= batch; b += unit_)
    if (b != x) blocks.push_back(b);
  for (const index_t b : blocks) {
    auto w = placed(b);
    Matrix<T> g(b, b);
    tall.gram(w.cview(), g.view());
    tall.solve(w.view(), g.cview());
    tall.norms(w.cview(), std::span(norms).first(at(b)));
    if (b != x)
      for (const T beta : {T{0}, T{1}}) tall.combine(T{1}, of_x.cview(), Matrix<T>(x, b).cview(), beta, w.view());
    ortho::copy_block<T>(ctx, w.cview(), s.view().cols(0, b));
    for (index_t m = wide(x); m <= most && b <= batch; m += unit_) {
      const auto v = s.cview().cols(0, m);
      const Matrix<T> from(m, b);
      Matrix<T> c(m, b);
      tall.inner(v, w.cview(), c.view());
      tall.inner_and_gram(v, w.cview(), c.view(), g.view());
      tall.project_out(v, from.cview(), w.view(), c.view(), g.view());
      tall.project_out(v, from.cview(), w.view(), HostView<T>{}, g.view());
    }
  }
}

template <class T>
void RitzBasis<T>::reserve(index_t columns) {
  columns = wide(columns) + (unit_ > 1 ? unit_ : 0);
  if (s_.cols() >= columns) return;
  auto s = placed(columns), as = placed(columns);
  const index_t used = wide(l_ + x_ + p_);
  if (used > 0) {
    ortho::copy_block<T>(ctx_, s_.cview().cols(0, used), s.view().cols(0, used));
    ortho::copy_block<T>(ctx_, as_.cview().cols(0, used), as.view().cols(0, used));
  }
  s_ = std::move(s), as_ = std::move(as);
}

template <class T>
PlacedView<T> RitzBasis<T>::fresh(index_t width) {
  if (unit_ == 1) return s(x_ + p_, width);
  if (fresh_.cols() != width) fresh_ = placed(width);
  return fresh_.view();
}

template <class T>
void RitzBasis<T>::append(index_t rank) {
  const index_t after = x_ + p_;
  if (unit_ > 1) ortho::copy_block<T>(ctx_, fresh_.cview(), s(after, fresh_.cols()));
  (after == 0 ? x_ : p_) += rank;
  clear_tail();
  apply_to(after, wide(rank));
}

template <class T>
void RitzBasis<T>::clear_tail() {
  if (unit_ == 1) return;
  if (zeros_.cols() == 0) {
    zeros_ = placed(unit_);
    const auto bytes = static_cast<std::size_t>(zeros_.rows() * unit_) * sizeof(T);
    cuda::fill_bytes(ctx_.stream, zeros_.view().data(), 0, bytes);
  }
  for (auto* basis : {&s_, &as_}) ortho::copy_block<T>(ctx_, zeros_.cview(), basis->view().cols(l_ + x_ + p_, unit_));
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
  reserve(std::max(l_ + 3 * std::max(width, batch_), most_columns(width)));
  clear_tail();
  const auto first = fresh(width);
  ortho::copy_block<T>(ctx_, block.cols(0, width), first);
  Matrix<T> c(basis().cols(), width), r(width, width);
  append(ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, basis(), first, c.view(), r.view()).rank);
  project(x_);
}

template <class T>
void RitzBasis<T>::project(index_t width) {
  const index_t m = x_ + p_, all_columns = wide(m);
  Matrix<T> h(all_columns, all_columns);  // H = S^H A S = C Theta C^H
  ortho::Tall<T> tall(ctx_);
  tall.inner(s(0, all_columns), as(0, all_columns), h.view());
  const auto e = ortho::hermitian_eigen<T>(h.cview().block(0, 0, m, m));
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
    const Matrix<T> of_all = padded(c_, all_columns, width);
    tall.combine(T{1}, s(0, all_columns), of_all.cview(), T{0}, current_.view());
    tall.combine(T{1}, as(0, all_columns), of_all.cview(), T{0}, image_.view());
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
  const Matrix<T> of_all =
      padded(Matrix<T>::copy_of(both.cview().cols(0, width + p)), wide(m), std::min(wide(width + p), wide(m)));
  for (const auto& columns : {s(0, wide(m)), as(0, wide(m))}) ortho::Tall<T>(ctx_).multiply(columns, of_all.cview());
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
bool RitzBasis<T>::expand(std::vector<index_t> active) {
  const index_t most = n_ - (l_ + x_ + p_);
  for (index_t j = 0; j < x_ && !active.empty() && at(wide(std::ssize(active))) != active.size(); ++j)
    if (std::find(active.begin(), active.end(), j) == active.end()) active.push_back(j);
  const index_t width = std::min(static_cast<index_t>(active.size()), most);
  if (width <= 0) return false;
  ++work_.steps;
  reserve(l_ + std::max(3 * std::max(x_, batch_), x_ + p_ + std::max(width, batch_)));
  const index_t piece = unit_ == 1 ? x_ + p_ : batch_;
  for (index_t j = 0; work_.steps % refresh_steps == 0 && j < x_ + p_; j += piece)
    apply_to(j, wide(std::min(piece, x_ + p_ - j)));
  const auto w = fresh(width);
  if (problem_.preconditioner) {  // W = K R
    auto r = placed(width);
    residuals_of(active, r.view());
    problem_.preconditioner->apply(ctx_, r.cview(), w);
  } else {
    residuals_of(active, w);
  }
  Matrix<T> c(basis().cols(), width), t(width, width);
  const auto e = ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, basis(), w, c.view(), t.view());
  if (e.rung == ortho::Rung::failed) throw_not_finite();
  work_.dead += e.dead;
  if (e.rank == 0) return false;
  append(e.rank);
  project(x_);
  return true;
}

template <class T>
PlacedMatrix<T> RitzBasis<T>::lock(index_t count) {
  auto others = placed(x_ - count);
  ortho::copy_block<T>(ctx_, s(count, x_ - count), others.view());
  l_ += count, x_ = p_ = 0;
  clear_tail();
  return others;
}

template <class T>
void RitzBasis<T>::unlock(index_t count) {
  l_ -= count, x_ += count, p_ = 0;
  clear_tail();
}

template <class T>
void RitzBasis<T>::keep(std::vector<double> values, std::vector<double> residuals) {
  x_ = static_cast<index_t>(values.size());
  values_ = std::move(values), residuals_ = std::move(residuals);
  clear_tail();
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, RitzBasis)

}  // namespace ts::inline v0::solvers
