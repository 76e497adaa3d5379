#include "tallskinny/solvers/eigen/hermitian/chebyshev.hpp"

#include <array>
#include <cmath>

#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Y = alpha W + beta X + gamma Y; gamma = 0 never reads Y.
template <class T>
void combine(const Context& ctx, double alpha, PlacedView<const T> w, double beta, PlacedView<const T> x, double gamma,
             PlacedView<T> y) {
  using R = real_t<T>;
  if (y.space() == Space::device) {
    ortho::Tall<T> tall(ctx);
    tall.add(static_cast<R>(beta), x, static_cast<R>(gamma), y);
    return tall.add(static_cast<R>(alpha), w, T{1}, y);
  }
  const auto bytes = static_cast<double>(w.rows() * w.cols()) * sizeof(T);
  const Profile::Piece piece(ctx, "sums of blocks", {(gamma == 0 ? 2 : 3) * bytes, bytes, 0}, dtype_of<T>);
  const auto a = static_cast<R>(alpha), b = static_cast<R>(beta), c = static_cast<R>(gamma);
  parallel_for(ctx.thread_count(), w.rows(), [&](index_t i) {
    const T* const wi = w.data() + i * w.ld();
    const T* const xi = x.data() + i * x.ld();
    T* const yi = y.data() + i * y.ld();
#pragma omp simd
    for (index_t j = 0; j < w.cols(); ++j) yi[j] = a * wi[j] + b * xi[j] + (c == 0 ? T{} : c * yi[j]);
  });
}

/// `block` becomes a block like X where it is none.
template <class T>
void reserve(const Context& ctx, PlacedMatrix<T>& block, PlacedView<const T> x) {
  if (block.space() != x.space() || block.rows() != x.rows() || block.cols() != x.cols())
    block = PlacedMatrix<T>(ctx, x.space(), x.rows(), x.cols());
}

}  // namespace

/// Y = on_a A X + on_x X + on_y Y, with on_x = -centre on_a
template <class T>
void ChebyshevFilter<T>::step(const Context& ctx, double on_a, double on_x, PlacedView<const T> x, double on_y,
                              PlacedView<T> y) const {
  reserve(ctx, memory_->w, x);
  a_.apply(ctx, x, memory_->w.view());
  combine<T>(ctx, on_a, memory_->w.cview(), on_x, x, on_y, y);
}

template <class T>
void ChebyshevFilter<T>::apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
  const double c = transform_.centre, e = transform_.half_width;
  const index_t degree = transform_.degree;
  reserve(ctx, memory_->beside, x);
  std::array<PlacedView<T>, 2> t{memory_->beside.view(), y};  // T_k in that of k's parity, the last in Y
  if (degree % 2 == 0) std::swap(t[0], t[1]);
  copy_block<T>(ctx, x, t[0]);
  // T_1 = (A - c) / e and T_{k+1} = 2 (A - c) / e T_k - T_{k-1}
  if (a_.recurrence(ctx, 1, 1 / e, c, t[0], 0, t[1]) && a_.recurrence(ctx, degree - 1, 2 / e, c, t[1], -1, t[0]))
    return;
  step(ctx, 1 / e, -c / e, t[0], 0.0, t[1]);
  for (index_t k = 1; k < degree; ++k) step(ctx, 2 / e, -2 * c / e, t.at(at(k % 2)), -1.0, t.at(at((k + 1) % 2)));
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

TS_FOR_EACH_RESULT_TYPE(TS_CLASS, ChebyshevFilter)

}  // namespace ts::inline v0::solvers
