#include "tallskinny/solvers/eigen/krylov/factorisation.hpp"

#include <algorithm>

#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/random_block.hpp"

namespace ts::inline v0::solvers {

template <class T>
KrylovFactorisation<T>::KrylovFactorisation(Context ctx, Operator<T> op, index_t columns, std::uint64_t seed,
                                            bool hermitian, bool spills, std::optional<BasisReach> reach)
    : ctx_(std::move(ctx)),
      op_(std::move(op)),
      space_(op_.space()),
      columns_(columns),
      seed_(seed),
      hermitian_(hermitian),
      basis_(ctx_, space_, op_.rows(), columns, spills && space_ == Space::device),
      reach_(reach.value_or(basis_reach(basis_.space(), all_rows(), columns, sizeof(T)))) {
  clear(0, basis_.width());
}

/// Zeros in columns `first` .. `end` - 1, where operations reach them.
template <class T>
void KrylovFactorisation<T>::clear(index_t first, index_t end) {
  constexpr index_t most_bytes = index_t{64} << 20;
  if (reach_ == BasisReach::in_use || end <= first) return;
  const auto to = columns(first, end - first);
  if (basis_.space() == Space::host) return ortho::set_zero<T>(to.host());
  const index_t line = to.cols() * static_cast<index_t>(sizeof(T));
  const auto fill = [&](T* x, index_t n) { cuda::fill_bytes(ctx_.stream, x, 0, static_cast<std::size_t>(n * line)); };
  if (to.cols() == to.ld()) return fill(to.data(), rows());
  const index_t most = std::min(rows(), std::max<index_t>(1, most_bytes / line));
  DeviceMatrix<T> zeros(ctx_.stream, most, to.cols());
  fill(zeros.data(), most);
  const auto on_device = to.template in<Space::device>();
  for (index_t i = 0; i < rows(); i += most) {
    const index_t n = std::min(most, rows() - i);
    ortho::copy_block<T>(ctx_, zeros.cview().rows(0, n), on_device.rows(i, n));
  }
}

template <class T>
Matrix<T> KrylovFactorisation<T>::of_columns(index_t count, HostView<const T> s, index_t width) const {
  auto all = Matrix<T>::zeros(count, width);
  ortho::copy<T>(s, all.view().block(l_, 0, s.rows(), s.cols()));
  return all;
}

template <class T>
PlacedMatrix<T> KrylovFactorisation<T>::combine(HostView<const T> s, HostView<const T> c) const {
  PlacedMatrix<T> y(ctx_, op_.space(), rows(), s.cols());
  ortho::Tall<T> tall(ctx_);
  if (reach_ == BasisReach::in_use) {
    tall.combine(T{1}, v(), s, T{0}, y.view());
    if (!c.empty()) tall.combine(T{1}, f(), c, T{1}, y.view());
    return y;
  }
  const index_t read = reach(l_ + m_ + f_), width = reach_ == BasisReach::all ? whole_blocks(s.cols()) : s.cols();
  auto factor = of_columns(read, s, width);
  if (!c.empty()) ortho::copy<T>(c, factor.view().block(l_ + m_, 0, c.rows(), c.cols()));
  if (width == s.cols()) {
    tall.combine(T{1}, columns(0, read), factor.cview(), T{0}, y.view());
    return y;
  }
  PlacedMatrix<T> wide(ctx_, op_.space(), rows(), width);
  tall.combine(T{1}, columns(0, read), factor.cview(), T{0}, wide.view());
  ortho::copy_block<T>(ctx_, wide.cview().cols(0, y.cols()), y.view());
  return y;
}

template <class T>
PlacedMatrix<T> KrylovFactorisation<T>::random_block(index_t width) {
  PlacedMatrix<T> x(ctx_, space_, rows(), width);
  fill_random<T>(ctx_, seed_, stream_++, x.view());
  return x;
}

/// At most `most` columns of an orthonormal basis of the block.
template <class T>
void KrylovFactorisation<T>::append_to_f(PlacedView<const T> block, index_t most) {
  x_is_f_ = false;
  const index_t before = l_ + m_ + f_;
  most = std::min({most, columns_ - before, all_rows() - before});
  if (most <= 0) return;
  const bool whole = reach_ != BasisReach::in_use && block.cols() <= all_rows() - before;
  const index_t width = whole ? block.cols() : most;
  PlacedMatrix<T> x(ctx_, space_, rows(), width);
  const index_t read = reach(before);
  Matrix<T> s(read, width), r(width, width);
  ortho::copy_block<T>(ctx_, block.cols(0, width), x.view());
  const auto e = ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, columns(0, read), x.view(), s.view(), r.view());
  const index_t taken = std::min(e.rank, most);
  ortho::copy_block<T>(ctx_, x.cview().cols(0, taken), columns(before, taken));
  auto b = Matrix<T>::zeros(f_ + taken, m_);
  ortho::copy<T>(b_.cview(), b.view().rows(0, f_));
  b_ = std::move(b);
  f_ += taken;
}

template <class T>
void KrylovFactorisation<T>::fill_with_random() {
  // A random block loses rank only where no room is left; a few tries settle it.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const index_t before = l_ + m_ + f_;
    const index_t missing = std::min({target_ - f_, columns_ - before, all_rows() - before});
    if (missing <= 0) return;
    const auto x = random_block(reach_ == BasisReach::in_use ? missing : target_);
    append_to_f(x.cview(), missing);
  }
}

template <class T>
void KrylovFactorisation<T>::replace_operator(Operator<T> op, index_t columns_applied, double noise) {
  expects(op.rows() == rows(), "the operator has another number of rows than the basis");
  op_ = std::move(op), weight_ = columns_applied, noise_ = noise, norm_ = 0;
}

template <class T>
void KrylovFactorisation<T>::start(PlacedView<const T> block, index_t width) {
  clear(0, l_ + m_ + f_);
  l_ = m_ = f_ = 0;
  h_ = Matrix<T>(0, 0), b_ = Matrix<T>(0, 0);
  target_ = std::max(width, block.cols());
  prepare();
  if (block.cols() > 0) append_to_f(block, block.cols());
  fill_with_random();
}

template <class T>
bool KrylovFactorisation<T>::can_expand() const noexcept {
  return f_ > 0 && l_ + m_ + 2 * f_ <= columns_;
}

/// Where V and F leave fewer directions of the space than W has columns, noise would count as rank: any basis
/// Q of what is left will do, with W = [L V F] S + Q R.
template <class T>
ortho::Extension KrylovFactorisation<T>::complete_space(PlacedView<T> w, HostView<T> s, HostView<T> r) {
  const index_t before = s.rows(), room = all_rows() - before;
  ortho::Tall<T> tall(ctx_);
  tall.inner(columns(0, before), w, s);
  if (!ortho::all_finite(HostView<const T>(s))) return {};
  ortho::Extension e;
  e.rung = ortho::Rung::chol_qr;
  PlacedMatrix<T> q = random_block(room);
  if (room > 0) {
    Matrix<T> t(before, room), u(room, room);
    e.rank = ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, columns(0, before), q.view(), t.view(), u.view()).rank;
    tall.inner(q.cview().cols(0, e.rank), w, r.rows(0, e.rank));
    ortho::copy_block<T>(ctx_, q.cview().cols(0, e.rank), w.cols(0, e.rank));
  }
  e.dead = w.cols() - e.rank;
  return e;
}

/// W = A X.
template <class T>
void KrylovFactorisation<T>::apply_to(PlacedView<const T> x, PlacedView<T> w) {
  const Timed timed(work_.seconds.applying);
  op_.apply(ctx_, x, w);
  std::vector<real_t<T>> norms(at(w.cols()));
  ortho::Tall<T>(ctx_).norms(w, norms);  // on a device the first to wait for the product
  note_norm(*std::max_element(norms.begin(), norms.end()));
}

/// What is known of S = [L V F]^H A F where A is Hermitian: zero for L, B^H for V; the block on the diagonal,
/// F^H A F, is computed.
template <class T>
Matrix<T> KrylovFactorisation<T>::known_coefficients(PlacedView<const T> x, PlacedView<const T> w) const {
  constexpr real_t<T> half = 0.5;
  const index_t f = f_;
  auto s = Matrix<T>::zeros(reach(l_ + m_ + f), f);
  if (!hermitian_) return s;
  for (index_t i = 0; i < m_; ++i)
    for (index_t j = 0; j < f; ++j) s(l_ + i, j) = conjugate(b_(j, i));
  Matrix<T> d(f, f);
  ortho::Tall<T>(ctx_).inner(x, w, d.view());
  for (index_t i = 0; i < f; ++i)
    for (index_t j = 0; j < f; ++j) s(l_ + m_ + i, j) = half * (d(i, j) + conjugate(d(j, i)));
  return s;
}

/// V takes in F, where A F = [L V F] S + F' R: H <- [H, S_V; B, S_F] (Hermitian: B = S_V^H), B <- [0, R].
template <class T>
void KrylovFactorisation<T>::take_in(HostView<const T> s, HostView<const T> r) {
  constexpr real_t<T> half = 0.5;
  const index_t f = f_;
  auto h = Matrix<T>::zeros(m_ + f, m_ + f);
  ortho::copy<T>(h_.cview(), h.view().block(0, 0, m_, m_));
  for (index_t j = 0; j < f; ++j) {
    for (index_t i = 0; i < m_; ++i) {
      h(i, m_ + j) = s(l_ + i, j);
      h(m_ + j, i) = hermitian_ ? conjugate(s(l_ + i, j)) : b_(j, i);
    }
    for (index_t i = 0; i < f; ++i) {
      const T block = s(l_ + m_ + i, j);
      h(m_ + i, m_ + j) = hermitian_ ? half * (block + conjugate(s(l_ + m_ + j, i))) : block;
    }
  }
  h_ = std::move(h);
  b_ = Matrix<T>::zeros(r.rows(), m_ + f);
  ortho::copy<T>(r, b_.view().cols(m_, f));
  m_ += f, f_ = r.rows();
}

template <class T>
void KrylovFactorisation<T>::expand() {
  const index_t n = rows(), f = f_, before = l_ + m_ + f;
  if (x_.cols() != f) x_ = PlacedMatrix<T>(ctx_, space_, n, f), w_ = PlacedMatrix<T>(ctx_, space_, n, f);
  const auto x = x_.view(), w = w_.view();
  if (!x_is_f_) ortho::copy_block<T>(ctx_, columns(l_ + m_, f), x);
  apply_to(x, w);  // W = A F
  const Timed timed(work_.seconds.orthogonalising);
  ++work_.steps, work_.applications += weight_ * f;

  // W = [L V F] S + F' R
  auto s = known_coefficients(x, w);
  Matrix<T> r(f, f);
  ortho::BcgsiPlusA method;
  method.noise_scale = noise_ * norm_;
  const auto e = all_rows() - before < f
                     ? complete_space(w, s.view().rows(0, before), r.view())
                     : ortho::orthonormalise<T>(ctx_, method, columns(0, s.rows()), w, s.view(), r.view(), hermitian_);
  if (e.rung == ortho::Rung::failed)
    throw Error(Errc::bad_input,
                "the operator gave NaN or Inf for a finite block: the matrix has values that are not finite or "
                "too large to square");
  work_.dead += e.dead;
  take_in(s.cview(), r.cview().rows(0, e.rank));
  ortho::copy_block<T>(ctx_, w.cols(0, f_), columns(l_ + m_, f_));
  x_is_f_ = f_ == f;
  if (x_is_f_) std::swap(x_, w_);
  fill_with_random();
}

/// F moves to where it stands behind p columns of V.
template <class T>
void KrylovFactorisation<T>::move_f_behind(index_t p) {
  const auto from = columns(l_ + m_, f_), to = columns(l_ + p, f_);
  if (p == m_) return;
  if (basis_.space() == Space::host || p + f_ <= m_) return ortho::copy_block<T>(ctx_, from, to);
  PlacedMatrix<T> between(ctx_, space_, rows(), f_);  // a device copies in no known order
  ortho::copy_block<T>(ctx_, from, between.view());
  ortho::copy_block<T>(ctx_, between.cview(), to);
}

template <class T>
void KrylovFactorisation<T>::shrink(HostView<const T> s, Matrix<T> h, Matrix<T> b) {
  if (reach_ == BasisReach::in_use) {
    if (s.cols() > 0) ortho::Tall<T>(ctx_).multiply(columns(l_, m_), s);
    move_f_behind(s.cols());
  } else {
    // [L V F 0] <- [L V 0 0] [I 0; 0 S], and F behind it
    const index_t read = reach(l_ + m_ + f_);
    PlacedMatrix<T> f(ctx_, space_, rows(), f_);
    ortho::copy_block<T>(ctx_, columns(l_ + m_, f_), f.view());
    auto factor = of_columns(read, HostView<const T>{}, read);
    for (index_t i = 0; i < l_; ++i) factor(i, i) = T{1};
    ortho::copy<T>(s, factor.view().block(l_, l_, s.rows(), s.cols()));
    ortho::Tall<T>(ctx_).multiply(columns(0, read), factor.cview());
    ortho::copy_block<T>(ctx_, f.cview(), columns(l_ + s.cols(), f_));
  }
  h_ = std::move(h), b_ = std::move(b);
  m_ = s.cols();
}

template <class T>
void KrylovFactorisation<T>::widen(PlacedView<const T> block) {
  append_to_f(block, block.cols());
  if (f_ <= target_) return;
  target_ = f_;
  prepare();
}

template <class T>
void KrylovFactorisation<T>::drop_residual(index_t width) {
  clear(l_ + m_, l_ + m_ + f_);
  f_ = 0, target_ = width, x_is_f_ = false;
  b_ = Matrix<T>(0, m_);
}

template <class T>
typename KrylovFactorisation<T>::Saved KrylovFactorisation<T>::lock(index_t width) {
  Saved saved{PlacedMatrix<T>(ctx_, space_, rows(), f_), std::move(h_), std::move(b_), target_};
  ortho::copy_block<T>(ctx_, f(), saved.f.view());
  clear(l_ + m_, l_ + m_ + f_);
  l_ += m_;
  m_ = f_ = 0;
  h_ = Matrix<T>(0, 0), b_ = Matrix<T>(0, 0);
  target_ = width;
  fill_with_random();
  return saved;
}

template <class T>
void KrylovFactorisation<T>::unlock(const Saved& saved) {
  clear(l_, l_ + m_ + f_);
  m_ = saved.h.rows(), f_ = saved.f.cols(), target_ = saved.width;
  x_is_f_ = false;
  l_ -= m_;
  h_ = Matrix<T>::copy_of(saved.h.cview());
  b_ = Matrix<T>::copy_of(saved.b.cview());
  ortho::copy_block<T>(ctx_, saved.f.cview(), columns(l_ + m_, f_));
}

template <class T>
void KrylovFactorisation<T>::exchange(StateArchive<T>& archive) {
  archive(stream_, l_, m_, f_, target_, weight_, norm_);
  archive(work_.steps, work_.applications, work_.dead, h_, b_);
  const index_t count = l_ + m_ + f_;
  const bool fits = l_ >= 0 && m_ >= 0 && f_ >= 0 && count <= columns_ && h_.rows() == m_ && h_.cols() == m_ &&
                    b_.rows() == f_ && b_.cols() == m_;
  if (!fits) throw Error(Errc::bad_input, "the stored state of the run is damaged");
  HostView<const T> held;
  if (basis_.space() == Space::host) {
    held = columns(0, count).host();
  } else if (!archive.loading()) {
    stored_ = Matrix<T>(rows(), count);
    ortho::copy_block<T>(ctx_, columns(0, count), stored_.view());
    held = stored_.cview();
  }
  const auto stored = archive.basis(held);
  if (!archive.loading()) return;
  if (stored.rows() != rows() || stored.cols() != count)
    throw Error(Errc::bad_input, "the stored basis has other sizes than the run");
  clear(0, basis_.width());
  ortho::copy_block<T>(ctx_, stored, columns(0, count));
  x_is_f_ = false;
}

template <class T>
void KrylovFactorisation<T>::exchange(StateArchive<T>& archive, Saved& saved) const {
  Matrix<T> f;
  if (!archive.loading()) {
    f = Matrix<T>(saved.f.rows(), saved.f.cols());
    ortho::copy_block<T>(ctx_, saved.f.cview(), f.view());
  }
  archive.tall(f);
  archive(saved.h, saved.b, saved.width);
  if (!archive.loading()) return;
  saved.f = PlacedMatrix<T>(ctx_, space_, f.rows(), f.cols());
  ortho::copy_block<T>(ctx_, f.cview(), saved.f.view());
}

TS_FOR_EACH_RESULT_TYPE(TS_CLASS, KrylovFactorisation)

}  // namespace ts::inline v0::solvers
