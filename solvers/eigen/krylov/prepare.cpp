// The kernels of block steps on a GPU, compiled together before the first.
#include "tallskinny/gemm/runtime/gpu/compile_ahead.hpp"
#include "tallskinny/solvers/eigen/krylov/factorisation.hpp"
#include "tallskinny/solvers/random_block.hpp"

namespace ts::solvers {

namespace {

/// Block steps of `f` columns against ever more columns of `v`, or all of them, for a Context that rehearses; of all of
/// them also the `wanted` vectors at the end.
template <class T>
void rehearse_block_steps(const Context& ctx, PlacedView<T> basis, index_t f, index_t wanted, BasisReach reach) {
  const PlacedView<const T> v = basis;
  const index_t n = v.rows();
  ortho::Tall<T> tall(ctx);
  PlacedMatrix<T> x(ctx, Space::device, n, f), w(ctx, Space::device, n, f);
  std::vector<real_t<T>> norms(at(f));
  Matrix<T> g(f, f);
  fill_random<T>(ctx, 0, 0, x.view());
  tall.norms(w.cview(), norms);
  tall.inner(x.cview(), w.cview(), g.view());
  tall.gram(x.cview(), g.view());
  tall.solve(w.view(), g.cview());
  if (v.space() == Space::device && f <= v.cols()) {
    ortho::copy_block<T>(ctx, w.cview(), basis.cols(0, f));
    ortho::copy_block<T>(ctx, v.cols(0, f), x.view());
  }
  for (index_t before = reach == BasisReach::all ? v.cols() : f; before <= v.cols(); before += f) {
    const auto s = Matrix<T>::zeros(before, f);
    Matrix<T> c(before, f);
    tall.project_out(v.cols(0, before), s.cview(), w.view(), c.view(), g.view());
    tall.project_out(v.cols(0, before), s.cview(), w.view(), HostView<T>{}, g.view());
  }
  if (reach == BasisReach::in_use) return;
  Matrix<T> s(v.cols(), f), all(v.cols(), v.cols());
  tall.inner_and_gram(v, w.cview(), s.view(), g.view());
  tall.inner(v, w.cview(), s.view());
  tall.multiply(basis, all.cview());
  for (const index_t width : {whole_blocks(f), whole_blocks(wanted)}) {
    const Matrix<T> few(v.cols(), width);
    PlacedMatrix<T> y(ctx, Space::device, n, width);
    tall.combine(T{1}, v, few.cview(), T{0}, y.view());
  }
}

}  // namespace

template <class T>
void prepare_block_steps(const Context& ctx, index_t rows, index_t columns, index_t block, index_t wanted) {
  compile_ahead(ctx, [&](const Context& rehearsal) {
    PlacedMatrix<T> v(rehearsal, Space::device, rows, padded_columns(Space::device, columns, sizeof(T)));
    const BasisReach reach = basis_reach(Space::device, rows, columns, sizeof(T));
    const auto basis = reach == BasisReach::all ? v.view() : v.view().cols(0, columns);
    rehearse_block_steps<T>(rehearsal, basis, block, wanted, reach);
  });
}

/// The kernels of block steps with blocks of the target width, compiled together.
template <class T>
void KrylovFactorisation<T>::prepare() {
  if (space_ == Space::host) return;
  compile_ahead(ctx_, [this](const Context& rehearsal) {
    rehearse_block_steps<T>(rehearsal, columns(0, reach(columns_)), target_, target_, reach_);
  });
}

#define TS_INSTANTIATE(T) template void KrylovFactorisation<T>::prepare();
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, prepare_block_steps)

}  // namespace ts::solvers
