// The kernels of block steps on a GPU, compiled together before the first.
#include "tallskinny/gemm/runtime/compile_ahead.hpp"
#include "tallskinny/solvers/eigen/krylov/factorisation.hpp"
#include "tallskinny/solvers/random_block.hpp"

namespace ts::inline v0::solvers {

namespace {

/// The basis that a run has memory for, and what it takes of it.
template <class T>
struct PlannedSteps {
  PlacedView<T> basis;     ///< with the columns that fill its last lines
  index_t columns, block;  ///< for L, V and F together; of F
  index_t wanted;          ///< vectors at the end
  BasisReach reach;
  bool hermitian = true;
};

/// What a block W of `block` columns takes against the first columns V of a basis.
template <class T>
void rehearse_projection(ortho::Tall<T>& tall, PlacedView<const T> v, PlacedView<T> w, bool known) {
  const index_t before = v.cols(), f = w.cols();
  const auto s = Matrix<T>::zeros(before, f);
  Matrix<T> c(before, f), g(f, f);
  if (!known) tall.inner_and_gram(v, w, c.view(), g.view());
  tall.project_out(v, s.cview(), w, c.view(), g.view());
  tall.project_out(v, s.cview(), w, HostView<T>{}, g.view());
}

/// Block steps against ever more columns of the basis, or all of them, for a Context that rehearses.
template <class T>
void rehearse_block_steps(const Context& ctx, const PlannedSteps<T>& plan) {
  const PlacedView<const T> v = plan.basis;
  const index_t n = v.rows(), f = plan.block;
  const auto read = [&](index_t count) { return v.cols(0, columns_read(plan.reach, count, f, v.cols())); };
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
    ortho::copy_block<T>(ctx, w.cview(), plan.basis.cols(0, f));
    ortho::copy_block<T>(ctx, v.cols(0, f), x.view());
  }
  const index_t step = plan.reach == BasisReach::in_use ? f : whole_blocks(f), most = plan.columns / f * f;
  for (index_t count = plan.reach == BasisReach::all ? most : step; count < most + step; count += step)
    rehearse_projection<T>(tall, read(std::min(count, most)), w.view(),
                           plan.hermitian && plan.reach != BasisReach::all);
  if (plan.reach == BasisReach::in_use) return;
  // A restart, and a fresh block in the complement of what was found.
  const index_t whole = read(most).cols();
  tall.multiply(plan.basis.cols(0, whole), Matrix<T>(whole, whole).cview());
  if (plan.reach == BasisReach::blocks)
    return rehearse_projection<T>(tall, read(std::min(plan.wanted, most)), w.view(), false);
  Matrix<T> s(whole, f);
  tall.inner(v, w.cview(), s.view());
  for (const index_t width : {whole_blocks(f), whole_blocks(plan.wanted)}) {
    const Matrix<T> few(whole, width);
    PlacedMatrix<T> y(ctx, Space::device, n, width);
    tall.combine(T{1}, v, few.cview(), T{0}, y.view());
  }
}

}  // namespace

template <class T>
void prepare_block_steps(const Context& ctx, index_t rows, index_t columns, index_t block, index_t wanted) {
  compile_ahead(ctx, [&](const Context& rehearsal) {
    PlacedMatrix<T> v(rehearsal, Space::device, rows, padded_columns(Space::device, columns, sizeof(T)));
    const BasisReach reach = basis_reach(Space::device, all_rows(ctx, rows), columns, sizeof(T));
    rehearse_block_steps<T>(rehearsal, {v.view(), columns, block, wanted, reach});
  });
}

/// The kernels of block steps with blocks of the target width, compiled together.
template <class T>
void KrylovFactorisation<T>::prepare() {
  if (space_ == Space::host) return;
  compile_ahead(ctx_, [this](const Context& rehearsal) {
    const auto basis = columns(0, reach_ == BasisReach::in_use ? columns_ : basis_.width());
    rehearse_block_steps<T>(rehearsal, {basis, columns_, target_, target_, reach_, hermitian_});
  });
}

#define TS_INSTANTIATE(T) template void KrylovFactorisation<T>::prepare();
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, prepare_block_steps)

}  // namespace ts::inline v0::solvers
