#include "tallskinny/solvers/eigen/hermitian/krylov.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/runtime/gpu/compile_ahead.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/eigen/hermitian/memory_plan.hpp"
#include "tallskinny/solvers/ortho/skeleton.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Adds the seconds of a scope to `total`.
class Timed {
 public:
  explicit Timed(double& total) : total_(total) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

template <class T>
void fill_random(const Context& ctx, std::uint64_t seed, std::uint64_t stream, PlacedView<T> block) {
  const Philox random{seed, stream};
  if (block.space() == Space::host)
    ts::fill_random<T>(ctx, random, block.host());
  else
    ts::fill_random<T>(ctx, random, block.template in<Space::device>());
}

template <class T>
KrylovBasis<T>::KrylovBasis(Context ctx, Operator<T> op, index_t columns, std::uint64_t seed, bool hermitian,
                            bool spills)
    : ctx_(std::move(ctx)),
      op_(std::move(op)),
      space_(op_.space()),
      columns_(columns),
      seed_(seed),
      hermitian_(hermitian),
      v_(ctx_, space_, op_.rows(), columns, spills && space_ == Space::device) {}

namespace {

/// Block steps of `f` columns against ever more columns of `v`, for a Context that rehearses.
template <class T>
void rehearse_block_steps(const Context& ctx, PlacedView<T> basis, index_t f) {
  const PlacedView<const T> v = basis;
  const index_t n = v.rows();
  ortho::Tall<T> tall(ctx);
  PlacedMatrix<T> x(ctx, Space::device, n, f), w(ctx, Space::device, n, f);
  std::vector<real_t<T>> norms(static_cast<std::size_t>(f));
  Matrix<T> g(f, f);
  fill_random<T>(ctx, 0, 0, x.view());
  tall.norms(w.cview(), norms);
  tall.inner(x.cview(), w.cview(), g.view());
  tall.gram(x.cview(), g.view());
  tall.solve(w.view(), g.cview());
  if (v.space() == Space::device && f <= v.cols()) {
    copy_block<T>(ctx, w.cview(), basis.cols(0, f));
    copy_block<T>(ctx, v.cols(0, f), x.view());
  }
  for (index_t before = f; before <= v.cols(); before += f) {
    const auto s = Matrix<T>::zeros(before, f);
    Matrix<T> c(before, f);
    tall.project_out(v.cols(0, before), s.cview(), w.view(), c.view(), g.view());
    tall.project_out(v.cols(0, before), s.cview(), w.view(), HostView<T>{}, g.view());
  }
}

}  // namespace

template <class T>
void prepare_block_steps(const Context& ctx, index_t rows, index_t columns, index_t block) {
  compile_ahead(ctx, [&](const Context& rehearsal) {
    PlacedMatrix<T> v(rehearsal, Space::device, rows, padded_columns(Space::device, columns, sizeof(T)));
    rehearse_block_steps<T>(rehearsal, v.view().cols(0, columns), block);
  });
}

/// The kernels of block steps with blocks of the target width, compiled together.
template <class T>
void KrylovBasis<T>::prepare() {
  if (space_ == Space::host) return;
  compile_ahead(ctx_, [this](const Context& rehearsal) {
    rehearse_block_steps<T>(rehearsal, columns(0, columns_), target_);
  });
}

template <class T>
PlacedMatrix<T> KrylovBasis<T>::random_block(index_t width) {
  PlacedMatrix<T> x(ctx_, space_, rows(), width);
  fill_random<T>(ctx_, seed_, stream_++, x.view());
  return x;
}

template <class T>
index_t KrylovBasis<T>::append_to_f(PlacedView<const T> block) {
  x_is_f_ = false;
  const index_t before = l_ + m_ + f_;
  const index_t width = std::min({block.cols(), columns_ - before, rows() - before});
  if (width <= 0) return 0;
  PlacedMatrix<T> x(ctx_, space_, rows(), width);
  Matrix<T> s(before, width), r(width, width);
  copy_block<T>(ctx_, block.cols(0, width), x.view());
  const auto e =
      ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, columns(0, before), x.view(), s.view(), r.view());
  copy_block<T>(ctx_, x.cview().cols(0, e.rank), columns(before, e.rank));
  auto b = Matrix<T>::zeros(f_ + e.rank, m_);
  for (index_t i = 0; i < f_; ++i)
    for (index_t j = 0; j < m_; ++j) b(i, j) = b_(i, j);
  b_ = std::move(b);
  f_ += e.rank;
  return e.rank;
}

template <class T>
void KrylovBasis<T>::fill_with_random() {
  // A random block loses rank only where no room is left; a few tries settle it.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const index_t before = l_ + m_ + f_;
    const index_t missing = std::min({target_ - f_, columns_ - before, rows() - before});
    if (missing <= 0) return;
    const auto x = random_block(missing);
    append_to_f(x.cview());
  }
}

template <class T>
void KrylovBasis<T>::replace_operator(Operator<T> op, index_t columns_applied, double noise) {
  expects(op.rows() == rows(), "the operator has another number of rows than the basis");
  op_ = std::move(op), weight_ = columns_applied, noise_ = noise, norm_ = 0;
}

template <class T>
void KrylovBasis<T>::start(PlacedView<const T> block, index_t width) {
  l_ = m_ = f_ = 0;
  h_ = Matrix<T>(0, 0), b_ = Matrix<T>(0, 0);
  target_ = std::max(width, block.cols());
  prepare();
  if (block.cols() > 0) append_to_f(block);
  fill_with_random();
}

template <class T>
bool KrylovBasis<T>::can_expand() const noexcept {
  return f_ > 0 && l_ + m_ + 2 * f_ <= columns_;
}

/// Where V and F leave fewer directions of the space than W has columns, noise would count as rank: any basis
/// Q of what is left will do, with W = [L V F] S + Q R.
template <class T>
ortho::Extension KrylovBasis<T>::complete_space(PlacedView<T> w, HostView<T> s, HostView<T> r) {
  const index_t before = s.rows(), room = rows() - before;
  ortho::Tall<T> tall(ctx_);
  tall.inner(columns(0, before), w, s);
  if (!ortho::all_finite(HostView<const T>(s))) return {};
  ortho::Extension e;
  e.rung = ortho::Rung::chol_qr;
  PlacedMatrix<T> q = random_block(room);
  if (room > 0) {
    Matrix<T> t(before, room), u(room, room);
    e.rank =
        ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, columns(0, before), q.view(), t.view(), u.view())
            .rank;
    tall.inner(q.cview().cols(0, e.rank), w, r.rows(0, e.rank));
    copy_block<T>(ctx_, q.cview().cols(0, e.rank), w.cols(0, e.rank));
  }
  e.dead = w.cols() - e.rank;
  return e;
}

template <class T>
void KrylovBasis<T>::expand() {
  const index_t n = rows(), f = f_, before = l_ + m_ + f;
  if (x_.cols() != f) x_ = PlacedMatrix<T>(ctx_, space_, n, f), w_ = PlacedMatrix<T>(ctx_, space_, n, f);
  const auto x = x_.view(), w = w_.view();
  ortho::Tall<T> tall(ctx_);
  if (!x_is_f_) copy_block<T>(ctx_, columns(l_ + m_, f), x);
  {
    const Timed timed(seconds_.applying);
    op_.apply(ctx_, x, w);
    std::vector<real_t<T>> norms(static_cast<std::size_t>(f));
    tall.norms(w, norms);  // on a device the first to wait for the product
    note_norm(*std::max_element(norms.begin(), norms.end()));
  }
  const Timed timed(seconds_.orthogonalising);
  ++steps_, applications_ += weight_ * f;

  constexpr real_t<T> half = 0.5;
  auto s = Matrix<T>::zeros(before, f);
  // What the recurrence knows of [L V F]^H A F where A is Hermitian: zero for L, B^H for V; the block on the
  // diagonal is computed.
  if (hermitian_) {
    for (index_t i = 0; i < m_; ++i)
      for (index_t j = 0; j < f; ++j) s(l_ + i, j) = conjugate(b_(j, i));
    Matrix<T> d(f, f);
    tall.inner(x, w, d.view());
    for (index_t i = 0; i < f; ++i)
      for (index_t j = 0; j < f; ++j) s(l_ + m_ + i, j) = half * (d(i, j) + conjugate(d(j, i)));
  }
  Matrix<T> r(f, f);
  ortho::BcgsiPlusA method;
  method.noise_scale = noise_ * norm_;
  const auto e = n - before < f ? complete_space(w, s.view(), r.view())
                                : ortho::orthonormalise<T>(ctx_, method, columns(0, before), w, s.view(),
                                                           r.view(), hermitian_);
  if (e.rung == ortho::Rung::failed)
    throw Error(
        Errc::bad_input,
        "the operator gave NaN or Inf for a finite block: the matrix has values that are not finite or "
        "too large to square");
  dead_ += e.dead;

  auto h = Matrix<T>::zeros(m_ + f, m_ + f);
  for (index_t i = 0; i < m_; ++i)
    for (index_t j = 0; j < m_; ++j) h(i, j) = h_(i, j);
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
  b_ = Matrix<T>::zeros(e.rank, m_ + f);
  for (index_t i = 0; i < e.rank; ++i)
    for (index_t j = 0; j < f; ++j) b_(i, m_ + j) = r(i, j);
  m_ += f;
  f_ = e.rank;
  copy_block<T>(ctx_, w.cols(0, f_), columns(l_ + m_, f_));
  x_is_f_ = f_ == f;
  if (x_is_f_) std::swap(x_, w_);
  fill_with_random();
}

template <class T>
Ritz<T> KrylovBasis<T>::ritz() const {
  const Timed timed(seconds_.small);
  const Profile::Piece piece(ctx_, "projected problems", {}, std::nullopt);
  auto e = ortho::hermitian_eigen<T>(h_.cview());
  Ritz<T> out{{e.values.begin(), e.values.end()},
              std::move(e.vectors),
              std::vector<double>(static_cast<std::size_t>(m_))};
  const auto bs = ortho::product<T>(b_.cview(), out.coefficients.cview());
  for (index_t j = 0; j < m_; ++j) {
    double sum = 0;
    for (index_t i = 0; i < f_; ++i) sum += std::norm(bs(i, j));
    out.residuals[static_cast<std::size_t>(j)] = std::sqrt(sum);
  }
  return out;
}

/// F moves to where it stands behind p columns of V.
template <class T>
void KrylovBasis<T>::move_f_behind(index_t p) {
  const auto from = columns(l_ + m_, f_), to = columns(l_ + p, f_);
  if (p == m_) return;
  if (v_.space() == Space::host || p + f_ <= m_) return copy_block<T>(ctx_, from, to);
  PlacedMatrix<T> between(ctx_, space_, rows(), f_);  // a device copies in no known order
  copy_block<T>(ctx_, from, between.view());
  copy_block<T>(ctx_, between.cview(), to);
}

template <class T>
void KrylovBasis<T>::restart(const Ritz<T>& ritz, const std::vector<index_t>& keep) {
  const Timed timed(seconds_.restarting);
  const auto p = static_cast<index_t>(keep.size());
  Matrix<T> s(m_, p);
  for (index_t j = 0; j < p; ++j)
    for (index_t i = 0; i < m_; ++i) s(i, j) = ritz.coefficients(i, keep[static_cast<std::size_t>(j)]);
  note_norm(std::max(std::abs(ritz.values.front()), std::abs(ritz.values.back())));
  if (p > 0) ortho::Tall<T>(ctx_).multiply(columns(l_, m_), s.cview());
  move_f_behind(p);
  b_ = ortho::product<T>(b_.cview(), s.cview());
  h_ = Matrix<T>::zeros(p, p);
  for (index_t j = 0; j < p; ++j) {
    const auto k = static_cast<std::size_t>(keep[static_cast<std::size_t>(j)]);
    h_(j, j) = static_cast<real_t<T>>(ritz.values[k]);
    // Converged to the last digit: its coupling is rounding noise (hard locking).
    if (ritz.residuals[k] <= roundoff_of<T> * norm_)
      for (index_t i = 0; i < f_; ++i) b_(i, j) = T{};
  }
  m_ = p;
}

template <class T>
void KrylovBasis<T>::compress(HostView<const T> s) {
  const Timed timed(seconds_.restarting);
  const index_t p = s.cols();
  if (p > 0) ortho::Tall<T>(ctx_).multiply(columns(l_, m_), s);
  move_f_behind(p);
  b_ = ortho::product<T>(b_.cview(), s);
  const auto hs = ortho::product<T>(h_.cview(), s);
  auto h = Matrix<T>::zeros(p, p);
  for (index_t k = 0; k < m_; ++k)  // S^H (H S)
    for (index_t i = 0; i < p; ++i)
      for (index_t j = 0; j < p; ++j) h(i, j) += conjugate(s(k, i)) * hs(k, j);
  h_ = std::move(h);
  m_ = p;
}

template <class T>
void KrylovBasis<T>::widen(PlacedView<const T> block) {
  append_to_f(block);
  target_ = std::max(target_, f_);
}

template <class T>
void KrylovBasis<T>::lock_and_refresh(index_t width) {
  l_ += m_;
  m_ = f_ = 0;
  h_ = Matrix<T>(0, 0), b_ = Matrix<T>(0, 0);
  target_ = width;
  fill_with_random();
}

template <class T>
typename KrylovBasis<T>::Saved KrylovBasis<T>::save() const {
  Saved saved{PlacedMatrix<T>(ctx_, space_, rows(), f_), Matrix<T>::copy_of(h_.cview()),
              Matrix<T>::copy_of(b_.cview()), target_};
  copy_block<T>(ctx_, columns(l_ + m_, f_), saved.f.view());
  return saved;
}

template <class T>
void KrylovBasis<T>::unlock(const Saved& saved) {
  m_ = saved.h.rows(), f_ = saved.f.cols(), target_ = saved.width;
  x_is_f_ = false;
  l_ -= m_;
  h_ = Matrix<T>::copy_of(saved.h.cview());
  b_ = Matrix<T>::copy_of(saved.b.cview());
  copy_block<T>(ctx_, saved.f.cview(), columns(l_ + m_, f_));
}

template <class T>
void KrylovBasis<T>::exchange(StateArchive<T>& archive) {
  archive(stream_, l_, m_, f_, target_, weight_, norm_, steps_, applications_, dead_, h_, b_);
  const index_t count = l_ + m_ + f_;
  const bool fits = l_ >= 0 && m_ >= 0 && f_ >= 0 && count <= columns_ && h_.rows() == m_ &&
                    h_.cols() == m_ && b_.rows() == f_ && b_.cols() == m_;
  if (!fits) throw Error(Errc::bad_input, "the stored state of the run is damaged");
  HostView<const T> basis;
  if (v_.space() == Space::host) {
    basis = columns(0, count).host();
  } else if (!archive.loading()) {
    stored_ = Matrix<T>(rows(), count);
    copy_block<T>(ctx_, columns(0, count), stored_.view());
    basis = stored_.cview();
  }
  const auto stored = archive.basis(basis);
  if (!archive.loading()) return;
  if (stored.rows() != rows() || stored.cols() != count)
    throw Error(Errc::bad_input, "the stored basis has other sizes than the run");
  copy_block<T>(ctx_, stored, columns(0, count));
  x_is_f_ = false;
}

template <class T>
void KrylovBasis<T>::exchange(StateArchive<T>& archive, Saved& saved) const {
  Matrix<T> f;
  if (!archive.loading()) {
    f = Matrix<T>(saved.f.rows(), saved.f.cols());
    copy_block<T>(ctx_, saved.f.cview(), f.view());
  }
  archive(f, saved.h, saved.b, saved.width);
  if (!archive.loading()) return;
  saved.f = PlacedMatrix<T>(ctx_, space_, f.rows(), f.cols());
  copy_block<T>(ctx_, f.cview(), saved.f.view());
}

template <class T>
PlacedMatrix<T> KrylovBasis<T>::combine(HostView<const T> s) const {
  PlacedMatrix<T> y(ctx_, space_, rows(), s.cols());
  ortho::Tall<T>(ctx_).combine(T{1}, columns(l_, m_), s, T{0}, y.view());
  return y;
}

template <class T>
PlacedMatrix<T> KrylovBasis<T>::combine(HostView<const T> s, HostView<const T> c) const {
  auto y = combine(s);
  ortho::Tall<T>(ctx_).combine(T{1}, columns(l_ + m_, f_), c, T{1}, y.view());
  return y;
}

template <class T>
PlacedMatrix<T> KrylovBasis<T>::image(PlacedView<const T> x) {
  const Timed timed(seconds_.applying);
  PlacedMatrix<T> y(ctx_, space_, rows(), x.cols());
  op_.apply(ctx_, x, y.view());
  applications_ += weight_ * x.cols();
  return y;
}

template <class T>
double estimate_norm(const Context& ctx, const Operator<T>& a, std::uint64_t seed, index_t& applications) {
  KrylovBasis<T> basis(ctx, a, norm_columns, seed ^ 0x9e3779b97f4a7c15u);
  basis.start(HostView<const T>{}, norm_block);
  while (basis.can_expand()) basis.expand();
  applications += basis.applications();
  if (basis.size() == 0) return basis.norm();
  const auto ritz = basis.ritz();
  return std::max({basis.norm(), std::abs(ritz.values.front()), std::abs(ritz.values.back())});
}

#define TS_INSTANTIATE(T)                                                                        \
  template class KrylovBasis<T>;                                                                 \
  template double estimate_norm<T>(const Context&, const Operator<T>&, std::uint64_t, index_t&); \
  template void fill_random<T>(const Context&, std::uint64_t, std::uint64_t, PlacedView<T>);     \
  template void prepare_block_steps<T>(const Context&, index_t, index_t, index_t);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
