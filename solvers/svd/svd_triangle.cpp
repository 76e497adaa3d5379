// Singular values through the triangular factor of a matrix of few columns.
#include <utility>

#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/svd/svd_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Up to this many columns the triangular factor of a dense matrix is decomposed, and of a matrix that must
/// be made dense first, which may have this many elements.
constexpr index_t triangular_columns = 128;
/// Up to this many unless the number of block steps was given.
constexpr index_t triangular_columns_at_once = 600;
/// Up to this many where nothing else has succeeded at the same cost.
constexpr index_t takeover_columns = 4000;
constexpr index_t made_dense_elements = index_t{1} << 24;

}  // namespace

template <class T>
bool SvdSolver<T>::fits_triangle(index_t columns) const {
  const bool in_one_pass = a_.triangle && !smallest_;
  return a_.cols <= columns && (dense_.cols() > 0 || in_one_pass || a_.rows * a_.cols <= made_dense_elements);
}

template <class T>
bool SvdSolver<T>::may_take_over() const {
  return fits_triangle(takeover_columns) && out_.stage != SvdStage::triangular &&
         out_.triplets.stop != StopReason::interrupted && options_.verify && options_.max_iterations == 0;
}

template <class T>
bool SvdSolver<T>::has_triangle() const {
  return fits_triangle(options_.max_iterations == 0 ? triangular_columns_at_once : triangular_columns);
}

template <class T>
PlacedMatrix<T> SvdSolver<T>::elements_factorised(Matrix<T>& r) const {
  const bool as_they_lie = dense_.cols() > 0 && !transposed_ && a_.space == Space::host;
  auto own = as_they_lie ? copy_at<T>(ctx_, Space::host, PlacedView<const T>(dense_)) : as_dense(ctx_, a_);
  return basis_in_place<T>(ctx_, std::move(own), a_.cols, options_.seed, &r);
}

template <class T>
void SvdSolver<T>::by_triangle() {
  const index_t n = a_.cols;
  const bool in_one_pass = a_.triangle && !smallest_;  // left vectors then come from A V, which serves the largest
  Matrix<T> r;
  PlacedMatrix<T> q;
  if (in_one_pass)
    r = Matrix<T>(n, n), a_.triangle(ctx_, r.view());
  else
    q = elements_factorised(r);
  const auto all = ortho::svd<T>(r.cview());
  norm_ = all.values.empty() ? 0 : all.values.front();
  const index_t first = smallest_ ? n - wanted_ : 0;
  if (wanted_ < n) next_ = all.values[at(smallest_ ? first - 1 : wanted_)];
  const auto v = copy_at<T>(ctx_, a_.space, all.v.cview().cols(first, wanted_));
  if (in_one_pass) {
    refine(v.cview());
  } else {
    auto u = placed(a_.rows, wanted_);
    ortho::Tall<T>(ctx_).combine(T{1}, q.cview(), all.u.cview().cols(first, wanted_), T{0}, u.view());
    q = PlacedMatrix<T>();
    settle(std::move(u), v);
  }
  verification_ = Verification::all_computed;
  out_.triplets.stop = StopReason::converged, out_.stage = SvdStage::triangular;
}

#define TS_INSTANTIATE(T)                                                       \
  template bool SvdSolver<T>::fits_triangle(index_t) const;                     \
  template bool SvdSolver<T>::may_take_over() const;                            \
  template bool SvdSolver<T>::has_triangle() const;                             \
  template PlacedMatrix<T> SvdSolver<T>::elements_factorised(Matrix<T>&) const; \
  template void SvdSolver<T>::by_triangle();
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::solvers
