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

/// Widths of kernels on a device: 8, 16, 24, 32, 48, 64, 96, 128 and so on.
constexpr index_t least_step = 8;
index_t step_of(index_t count) noexcept {
  index_t step = least_step;
  while (count > 4 * step) step *= 2;
  return step;
}

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
      padded_(problem.a.space() == Space::device),
      batch_(wide(batch)),
      limit_(limit) {}

template <class T>
void RitzBasis<T>::prepare(index_t width, index_t probe) const {
  if (!padded_) return;
  const bool grows = limit_ > 0;
  compile_ahead(ctx_, [&](const Context& rehearsal) {
    rehearse(rehearsal, width, width, grows ? limit_ : 3 * width, grows ? batch_ : width);
    rehearse(rehearsal, probe, probe, grows ? limit_ + width : 3 * probe + width, grows ? batch_ : probe);
  });
}

template <class T>
void RitzBasis<T>::rehearse(const Context& ctx, index_t x, index_t least, index_t most, index_t batch) const {
  const auto placed = [&](index_t columns) { return PlacedMatrix<T>(ctx, Space::device, problem_.a.rows(), columns); };
  ortho::Tall<T> tall(ctx);
  auto s = placed(wide(most)), as = placed(wide(most)), of_x = placed(x), r = placed(x);
  std::vector<double> norms(at(std::max(x, wide(batch))));
  for (const T beta : {T{0}, T{1}}) tall.combine(T{1}, of_x.cview(), Matrix<T>(x, x).cview(), beta, r.view());
  tall.norms(r.cview(), std::span(norms).first(at(x)));
  for (index_t m = wide(least); m <= wide(most); m = wide(m + 1)) {
    const auto v = s.cview().cols(0, m);
    tall.inner(v, as.cview().cols(0, m), Matrix<T>(m, m).view());
    tall.combine(T{1}, v, Matrix<T>(m, x).cview(), T{0}, of_x.view());
    tall.multiply(s.view().cols(0, m), Matrix<T>(m, m).cview());
  }
  std::vector<index_t> blocks;
  for (index_t b = 1; b <= wide(std::max(batch, x)); ++b)
    if ((narrow(b) == b && b <= batch) || b == x) blocks.push_back(b);
  for (const index_t b : blocks) {
    auto w = placed(b);
    Matrix<T> g(b, b);
    tall.gram(w.cview(), g.view());
    tall.solve(w.view(), g.cview());
    tall.norms(w.cview(), std::span(norms).first(at(b)));
    for (const T beta : {T{0}, T{1}}) tall.combine(T{1}, of_x.cview(), Matrix<T>(x, b).cview(), beta, w.view());
    ortho::copy_block<T>(ctx, w.cview(), s.view().cols(0, b));
    for (index_t m = wide(least); m <= wide(most); m = wide(m + 1)) {
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
index_t RitzBasis<T>::wide(index_t count) const noexcept {
  if (!padded_) return count;
  const index_t step = step_of(count);
  return (count + step - 1) / step * step;
}

template <class T>
index_t RitzBasis<T>::narrow(index_t count) const noexcept {
  if (!padded_ || count <= 1) return count;
  constexpr index_t few = 4;
  if (count < least_step) return count < few ? 1 : few;
  const index_t step = step_of(count);
  return count / step * step;
}

template <class T>
void RitzBasis<T>::reserve(index_t columns) {
  if (padded_) columns += step_of(columns) - 1;  // whatever part of them is read in a wider kernel
  if (s_.cols() >= columns) return;
  auto s = placed(columns), as = placed(columns);
  if (padded_)
    for (auto* basis : {&s, &as})
      cuda::fill_bytes(ctx_.stream, basis->view().data(), 0,
                       static_cast<std::size_t>(basis->rows() * columns) * sizeof(T));
  const index_t used = l_ + x_ + p_;
  if (used > 0) {
    ortho::copy_block<T>(ctx_, s_.cview().cols(0, used), s.view().cols(0, used));
    ortho::copy_block<T>(ctx_, as_.cview().cols(0, used), as.view().cols(0, used));
  }
  s_ = std::move(s), as_ = std::move(as);
}

template <class T>
void RitzBasis<T>::clear(index_t first, index_t count) {
  if (!padded_ || count <= 0) return;
  if (zeros_.cols() == 0) {
    zeros_ = placed(least_step);
    cuda::fill_bytes(ctx_.stream, zeros_.view().data(), 0,
                     static_cast<std::size_t>(zeros_.rows() * least_step) * sizeof(T));
  }
  // Columns beyond the last are zero already: one width serves.
  for (auto* basis : {&s_, &as_})
    for (index_t j = first; j < first + count; j += least_step)
      ortho::copy_block<T>(ctx_, zeros_.cview(), basis->view().cols(j, least_step));
}

template <class T>
PlacedView<T> RitzBasis<T>::fresh(index_t width) {
  if (!padded_) return s(x_ + p_, width);
  if (fresh_.cols() != width) fresh_ = placed(width);
  return fresh_.view();
}

template <class T>
void RitzBasis<T>::append(index_t rank) {
  const index_t after = x_ + p_;
  if (padded_) {
    ortho::copy_block<T>(ctx_, fresh_.cview(), s(after, fresh_.cols()));
    clear(l_ + after + rank, fresh_.cols() - rank);
  }
  (after == 0 ? x_ : p_) += rank;
  apply_to(after, wide(rank));
}

template <class T>
void RitzBasis<T>::apply_to(index_t first, index_t count) {
  problem_.a.apply(ctx_, s(first, count), as(first, count));
  work_.applications += count;
}

template <class T>
void RitzBasis<T>::start(PlacedView<const T> block) {
  clear(l_, x_ + p_);
  x_ = p_ = 0;
  c_ = {};
  const index_t width = std::min(block.cols(), n_ - l_);
  reserve(l_ + 3 * std::max(width, batch_));
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
      padded(Matrix<T>::copy_of(both.cview().cols(0, width + p)), wide(m), padded_ ? wide(m) : width + p);
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
  const index_t width = narrow(std::min(static_cast<index_t>(active.size()), n_ - (l_ + x_ + p_)));
  if (width <= 0) return false;
  active.resize(at(width));
  ++work_.steps;
  reserve(l_ + std::max(3 * std::max(x_, batch_), x_ + p_ + std::max(width, batch_)));
  for (index_t j = 0; work_.steps % refresh_steps == 0 && j < x_ + p_; j += batch_)
    apply_to(j, wide(std::min(batch_, x_ + p_ - j)));
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
  clear(l_ + count, x_ - count);
  l_ += count, x_ = p_ = 0;
  return others;
}

template <class T>
void RitzBasis<T>::unlock(index_t count) {
  l_ -= count, x_ += count, p_ = 0;
}

template <class T>
void RitzBasis<T>::keep(std::vector<double> values, std::vector<double> residuals) {
  const auto width = static_cast<index_t>(values.size());
  clear(l_ + width, x_ - width);
  x_ = width;
  values_ = std::move(values), residuals_ = std::move(residuals);
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, RitzBasis)

}  // namespace ts::inline v0::solvers
