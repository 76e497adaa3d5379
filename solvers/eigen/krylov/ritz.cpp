#include "tallskinny/solvers/eigen/krylov/ritz.hpp"

#include <algorithm>

#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers {

template <class T>
Ritz<T> ritz_of(KrylovFactorisation<T>& krylov) {
  const Timed timed(krylov.work().seconds.small);
  const Profile::Piece piece(krylov.context(), "projected problems", {}, std::nullopt);
  auto e = ortho::hermitian_eigen<T>(krylov.h().cview());  // H S = S Theta
  auto residuals = lengths(ortho::product<T>(krylov.b().cview(), e.vectors.cview()));
  return {{e.values.begin(), e.values.end()}, std::move(e.vectors), std::move(residuals)};
}

template <class T>
void thick_restart(KrylovFactorisation<T>& krylov, const Ritz<T>& ritz, const std::vector<index_t>& keep) {
  const Timed timed(krylov.work().seconds.restarting);
  const auto s = columns_of(ritz.coefficients, keep);
  krylov.note_norm(std::max(std::abs(ritz.values.front()), std::abs(ritz.values.back())));
  auto h = Matrix<T>::zeros(s.cols(), s.cols());
  auto b = ortho::product<T>(krylov.b().cview(), s.cview());
  for (index_t j = 0; j < s.cols(); ++j) {
    const std::size_t k = at(keep[at(j)]);
    h(j, j) = static_cast<real_t<T>>(ritz.values[k]);
    // Converged to the last digit: its coupling is rounding noise (hard locking).
    if (ritz.residuals[k] <= roundoff_of<T> * krylov.norm())
      for (index_t i = 0; i < b.rows(); ++i) b(i, j) = T{};
  }
  krylov.shrink(s.cview(), std::move(h), std::move(b));
}

template <class T>
void compress(KrylovFactorisation<T>& krylov, HostView<const T> s) {
  const Timed timed(krylov.work().seconds.restarting);
  const auto hs = ortho::product<T>(krylov.h().cview(), s);
  auto h = Matrix<T>::zeros(s.cols(), s.cols());
  for (index_t k = 0; k < s.rows(); ++k)  // S^H (H S)
    for (index_t i = 0; i < s.cols(); ++i)
      for (index_t j = 0; j < s.cols(); ++j) h(i, j) += conjugate(s(k, i)) * hs(k, j);
  krylov.shrink(s, std::move(h), ortho::product<T>(krylov.b().cview(), s));
}

template <class T>
PlacedMatrix<T> combine(const KrylovFactorisation<T>& krylov, HostView<const T> s) {
  return krylov.combine(s);
}

template <class T>
PlacedMatrix<T> combine(const KrylovFactorisation<T>& krylov, HostView<const T> s, HostView<const T> c) {
  return krylov.combine(s, c);
}

template <class T>
PlacedMatrix<T> image(KrylovFactorisation<T>& krylov, PlacedView<const T> x) {
  const Timed timed(krylov.work().seconds.applying);
  PlacedMatrix<T> y(krylov.context(), krylov.op().space(), krylov.rows(), x.cols());
  krylov.op().apply(krylov.context(), x, y.view());
  krylov.work().applications += krylov.weight() * x.cols();
  return y;
}

template <class T>
SpectrumEnds estimate_ends(const Context& ctx, const Operator<T>& a, std::uint64_t seed, index_t& applications) {
  KrylovFactorisation<T> krylov(ctx, a, norm_columns, seed ^ 0x9e3779b97f4a7c15u);
  krylov.start(HostView<const T>{}, norm_block);
  while (krylov.can_expand()) krylov.expand();
  applications += krylov.work().applications;
  if (krylov.size() == 0) return {krylov.norm()};
  const auto ritz = ritz_of(krylov);
  const double low = ritz.values.front(), high = ritz.values.back();
  return {std::max({krylov.norm(), std::abs(low), std::abs(high)}), low, high};
}

template <class T>
double estimate_norm(const Context& ctx, const Operator<T>& a, std::uint64_t seed, index_t& applications) {
  return estimate_ends(ctx, a, seed, applications).norm;
}

#define TS_INSTANTIATE(T)                                                                \
  template PlacedMatrix<T> combine<T>(const KrylovFactorisation<T>&, HostView<const T>); \
  template PlacedMatrix<T> combine<T>(const KrylovFactorisation<T>&, HostView<const T>, HostView<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, ritz_of)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, thick_restart)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, compress)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, image)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, estimate_ends)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, estimate_norm)

}  // namespace ts::inline v0::solvers
