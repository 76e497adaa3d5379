#include "tallskinny/solvers/eigen/chebyshev.hpp"

#include <cmath>

#include "tallskinny/gemm/backend/profile.hpp"
#include "tallskinny/solvers/eigen/krylov.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Y = alpha W + beta X + gamma Y; gamma = 0 never reads Y. All contiguous.
template <class T>
void combine(const Context& ctx, double alpha, const PlacedMatrix<T>& w, double beta,
             const PlacedMatrix<T>& x, double gamma, PlacedMatrix<T>& y) {
  using R = real_t<T>;
  if (y.space() == Space::device) {
    Matrix<T> identity(w.cols(), w.cols());
    ortho::set_identity(identity.view());
    ortho::Tall<T> tall(ctx);
    tall.combine(static_cast<R>(beta), x.cview(), identity.cview(), static_cast<R>(gamma), y.view());
    return tall.combine(static_cast<R>(alpha), w.cview(), identity.cview(), T{1}, y.view());
  }
  const index_t count = w.rows() * w.cols();
  const auto bytes = static_cast<double>(count) * sizeof(T);
  const Profile::Piece piece(ctx, "sums of blocks", {(gamma == 0 ? 2 : 3) * bytes, bytes, 0}, dtype_of<T>);
  const T* const pw = w.cview().data();
  const T* const px = x.cview().data();
  T* const py = y.view().data();
  const auto a = static_cast<R>(alpha), b = static_cast<R>(beta), c = static_cast<R>(gamma);
#pragma omp parallel for simd num_threads(ctx.thread_count()) schedule(static)
  for (index_t i = 0; i < count; ++i) py[i] = a * pw[i] + b * px[i] + (c == 0 ? T{} : c * py[i]);
}

}  // namespace

/// Y = on_a A X + on_x X + on_y Y, with on_x = -centre on_a
template <class T>
void ChebyshevFilter<T>::step(const Context& ctx, double on_a, double on_x, const PlacedMatrix<T>& x,
                              double on_y, PlacedMatrix<T>& y) const {
  if (a_.update(ctx, static_cast<real_t<T>>(on_a), transform_.centre, x.cview(), static_cast<real_t<T>>(on_y),
                y.view()))
    return;
  auto& w = memory_->w;
  if (w.space() != x.space() || w.rows() != x.rows() || w.cols() != x.cols())
    w = PlacedMatrix<T>(ctx, x.space(), x.rows(), x.cols());
  a_.apply(ctx, x.cview(), w.view());
  combine(ctx, on_a, w, on_x, x, on_y, y);
}

template <class T>
void ChebyshevFilter<T>::apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
  const index_t n = x.rows(), p = x.cols();
  const double c = transform_.centre, e = transform_.half_width;
  auto& before = memory_->before;
  auto& now = memory_->now;
  for (PlacedMatrix<T>* block : {&before, &now})
    if (block->space() != x.space() || block->rows() != n || block->cols() != p)
      *block = PlacedMatrix<T>(ctx, x.space(), n, p);
  copy_block<T>(ctx, x, before.view());
  step(ctx, 1 / e, -c / e, before, 0.0, now);  // T_1 = (A - c) / e
  for (index_t k = 1; k < transform_.degree; ++k) {
    step(ctx, 2 / e, -2 * c / e, now, -1.0, before);  // T_{k+1} = 2 (A - c) / e T_k - T_{k-1}
    std::swap(before, now);
  }
  copy_block<T>(ctx, now.cview(), y);
}

std::optional<SpectralTransform> choose_filter(double leading, double edge, double far, index_t longest) {
  const double spread = std::abs(far - edge), gap = std::abs(edge - leading);
  if (!(spread > 0) || !(gap > 1e-12 * spread)) return std::nullopt;
  // T_d(1 + 2 gap / spread) is about cosh(2 d sqrt(gap / spread)).
  const double wanted = std::min(2 / std::sqrt(gap / spread), static_cast<double>(longest));
  const auto degree = 2 * static_cast<index_t>(wanted / 2) + 1;
  if (degree < 5) return std::nullopt;
  return chebyshev_transform(edge, far, degree);
}

#define TS_INSTANTIATE(T) template class ChebyshevFilter<T>;
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
