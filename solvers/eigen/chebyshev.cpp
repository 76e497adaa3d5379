#include "tallskinny/solvers/eigen/chebyshev.hpp"

#include <cmath>

#include "tallskinny/solvers/eigen/krylov.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Y = alpha W + beta X + gamma Y; gamma = 0 never reads Y. All contiguous.
template <class T>
void combine(const Context& ctx, double alpha, const Matrix<T>& w, double beta, const Matrix<T>& x,
             double gamma, Matrix<T>& y) {
  const index_t count = w.rows() * w.cols();
  const T* const pw = w.data();
  const T* const px = x.data();
  T* const py = y.data();
#pragma omp parallel for simd num_threads(ctx.thread_count()) schedule(static)
  for (index_t i = 0; i < count; ++i)
    py[i] = alpha * pw[i] + beta * px[i] + (gamma == 0 ? T{} : gamma * py[i]);
}

}  // namespace

template <class T>
void ChebyshevFilter<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  const index_t n = x.rows(), p = x.cols();
  const double c = transform_.centre, e = transform_.half_width;
  auto& [before, now, w] = *memory_;
  for (Matrix<T>* block : {&before, &now, &w})
    if (block->rows() != n || block->cols() != p) *block = Matrix<T>(n, p);
  copy_block<T>(ctx, x, before.view());
  a_.apply(ctx, before.cview(), w.view());
  combine(ctx, 1 / e, w, -c / e, before, 0.0, now);  // T_1 = (A - c) / e
  for (index_t k = 1; k < transform_.degree; ++k) {
    a_.apply(ctx, now.cview(), w.view());
    combine(ctx, 2 / e, w, -2 * c / e, now, -1.0, before);  // T_{k+1} = 2 (A - c) / e T_k - T_{k-1}
    std::swap(before, now);
  }
  copy_block<T>(ctx, now.cview(), y);
}

std::optional<SpectralTransform> choose_filter(double leading, double edge, double far) {
  const double spread = std::abs(far - edge), gap = std::abs(edge - leading);
  if (!(spread > 0) || !(gap > 1e-12 * spread)) return std::nullopt;
  // T_d(1 + 2 gap / spread) is about cosh(2 d sqrt(gap / spread)).
  constexpr double longest = 63;
  const double wanted = std::min(2 / std::sqrt(gap / spread), longest);
  const auto degree = 2 * static_cast<index_t>(wanted / 2) + 1;
  if (degree < 5) return std::nullopt;
  return chebyshev_transform(edge, far, degree);
}

#define TS_INSTANTIATE(T) template class ChebyshevFilter<T>;
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
