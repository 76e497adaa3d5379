#include "tallskinny/solvers/ortho/tall.hpp"

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace ts::ortho {

namespace {

template <class T>
Problem problem(Operation operation, index_t n, index_t p, index_t q) {
  Problem result;
  result.operation = operation;
  result.type = dtype_of<T>;
  result.n = n, result.p = p, result.q = q;
  return result;
}

}  // namespace

Work& Work::operator+=(const Work& more) noexcept {
  reductions += more.reductions;
  basis_columns += more.basis_columns;
  block_columns += more.block_columns;
  read_bytes += more.read_bytes;
  written_bytes += more.written_bytes;
  return *this;
}

template <class T>
void Tall<T>::count(const Problem& problem, bool reduces, bool reads_basis) {
  const Cost cost = cost_of(problem);
  work_ += {reduces ? 1 : 0, reads_basis ? problem.p : 0, reads_basis ? problem.q : problem.p,
            cost.read_bytes, cost.written_bytes};
}

template <class T>
void Tall<T>::count_own_pass(HostView<const T> x, bool reduces, bool writes) noexcept {
  const double bytes = static_cast<double>(x.rows() * x.cols()) * sizeof(T);
  work_ += {reduces ? 1 : 0, 0, x.cols(), bytes, writes ? bytes : 0};
}

template <class T>
void Tall<T>::inner(HostView<const T> v, HostView<const T> w, HostView<T> s) {
  tsmttsm(ctx_, Op::adjoint, T{1}, v, w, T{}, s);
  count(problem<T>(Operation::tsmttsm, v.rows(), v.cols(), w.cols()), true, true);
}

template <class T>
void Tall<T>::gram(HostView<const T> x, HostView<T> g) {
  ts::gram(ctx_, Op::adjoint, T{1}, x, T{}, g);
  count(problem<T>(Operation::gram, x.rows(), x.cols(), x.cols()), true, false);
}

template <class T>
void Tall<T>::inner_and_gram(HostView<const T> v, HostView<const T> w, HostView<T> s, HostView<T> g) {
  ts::inner_and_gram(ctx_, v, w, s, g);
  count(problem<T>(Operation::inner_and_gram, v.rows(), v.cols(), w.cols()), true, true);
}

template <class T>
void Tall<T>::subtract(HostView<const T> v, HostView<const T> s, HostView<T> w) {
  ts::project_out(ctx_, v, s, w, HostView<T>{}, HostView<T>{});
  count(problem<T>(Operation::project_out, v.rows(), v.cols(), w.cols()), false, true);
}

template <class T>
void Tall<T>::project_out(HostView<const T> v, HostView<const T> s, HostView<T> w, HostView<T> s_next,
                          HostView<T> g) {
  ts::project_out(ctx_, v, s, w, s_next, g);
  count(problem<T>(Operation::project_out, v.rows(), v.cols(), w.cols()), true, true);
}

template <class T>
void Tall<T>::solve(HostView<T> x, HostView<const T> r) {
  trsm(ctx_, x, r);
  count(problem<T>(Operation::trsm, x.rows(), x.cols(), x.cols()), false, false);
}

template <class T>
void Tall<T>::multiply(HostView<T> x, HostView<const T> s) {
  tsmm_in_place(ctx_, Op::none, T{1}, x, s);
  count(problem<T>(Operation::tsmm_in_place, x.rows(), x.cols(), s.cols()), false, false);
}

template <class T>
void Tall<T>::norms(HostView<const T> x, std::span<real_t<T>> norms) {
  column_norms(ctx_, x, norms);
  count(problem<T>(Operation::column_norms, x.rows(), x.cols(), 1), true, false);
}

#define TS_INSTANTIATE(T) template class Tall<T>;
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::ortho
