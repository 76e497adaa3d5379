#include "tallskinny/solvers/ortho/tall.hpp"

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/runtime/run_where.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/by_parts.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::ortho {

namespace {

template <class T>
Problem problem(Operation operation, index_t n, index_t p, index_t q) {
  Problem result;
  result.operation = operation;
  result.type = dtype_of<T>;
  result.n = n, result.p = p, result.q = q;
  return result;
}

/// use(V on its way to blocks in `at`), for a V of host memory. @throws Error(invalid_argument) where V is on
/// a device and the blocks are not.
template <Space S, class T, class Use>
void pass(At<S>, const Context& ctx, PlacedView<const T> v, const Use& use) {
  const index_t rows = std::max<index_t>(1, std::min(v.rows(), rows_of_a_part<T>(v.cols(), passage_bytes)));
  const HostView<const T> here = v.host();  // asked first
  const cuda::Memory memory(ctx.stream, static_cast<std::size_t>(rows * v.cols()) * sizeof(T));
  use(Passing<S, T>{ctx, here, static_cast<T*>(memory.data()), rows});
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
  work_ += {reduces ? 1 : 0, reads_basis ? problem.p : 0, reads_basis ? problem.q : problem.p, cost.read_bytes,
            cost.written_bytes};
}

template <class T>
void Tall<T>::count_own_pass(PlacedView<const T> x, bool reduces, bool writes) noexcept {
  const double bytes = static_cast<double>(x.rows() * x.cols()) * sizeof(T);
  work_ += {reduces ? 1 : 0, 0, x.cols(), bytes, writes ? bytes : 0};
}

template <class T>
void Tall<T>::inner(PlacedView<const T> v, PlacedView<const T> w, HostView<T> s) {
  run_where(
      ctx_, w.space(),
      [&](auto at, auto out) {
        if (v.space() == decltype(at)::space)
          tsmttsm(ctx_, Op::adjoint, T{1}, at(v), at(w), T{}, out);
        else
          pass(at, ctx_, v, [&](const auto& p) { inner_by_parts(p, at(w), out); });
      },
      Out<T>{s});
  count(problem<T>(Operation::tsmttsm, v.rows(), v.cols(), w.cols()), true, true);
}

template <class T>
void Tall<T>::gram(PlacedView<const T> x, HostView<T> g) {
  run_where(
      ctx_, x.space(), [&](auto at, auto out) { ts::gram(ctx_, Op::adjoint, T{1}, at(x), T{}, out); }, Out<T>{g});
  count(problem<T>(Operation::gram, x.rows(), x.cols(), x.cols()), true, false);
}

template <class T>
void Tall<T>::inner_and_gram(PlacedView<const T> v, PlacedView<const T> w, HostView<T> s, HostView<T> g) {
  run_where(
      ctx_, w.space(),
      [&](auto at, auto out_s, auto out_g) {
        if (v.space() == decltype(at)::space) return ts::inner_and_gram(ctx_, at(v), at(w), out_s, out_g);
        pass(at, ctx_, v, [&](const auto& p) { inner_by_parts(p, at(w), out_s); });
        ts::gram(ctx_, Op::adjoint, T{1}, at(w), T{}, out_g);
      },
      Out<T>{s}, Out<T>{g});
  count(problem<T>(Operation::inner_and_gram, v.rows(), v.cols(), w.cols()), true, true);
}

template <class T>
void Tall<T>::subtract(PlacedView<const T> v, HostView<const T> s, PlacedView<T> w) {
  run_where(
      ctx_, w.space(),
      [&](auto at, auto in) {
        using None = MatrixView<T, decltype(at)::space>;
        if (v.space() == decltype(at)::space)
          ts::project_out(ctx_, at(v), in, at(w), None{}, None{});
        else
          pass(at, ctx_, v, [&](const auto& p) { project_out_by_parts(p, in, at(w), None{}); });
      },
      In<T>{s});
  count(problem<T>(Operation::project_out, v.rows(), v.cols(), w.cols()), false, true);
}

template <class T>
void Tall<T>::project_out(PlacedView<const T> v, HostView<const T> s, PlacedView<T> w, HostView<T> s_next,
                          HostView<T> g) {
  run_where(
      ctx_, w.space(),
      [&](auto at, auto in, auto out_s, auto out_g) {
        if (v.space() == decltype(at)::space) return ts::project_out(ctx_, at(v), in, at(w), out_s, out_g);
        pass(at, ctx_, v, [&](const auto& p) { project_out_by_parts(p, in, at(w), out_s); });
        using Read = PlacedView<const T>;
        if (!out_g.empty()) ts::gram(ctx_, Op::adjoint, T{1}, at(Read(w)), T{}, out_g);
      },
      In<T>{s}, Out<T>{s_next}, Out<T>{g});
  count(problem<T>(Operation::project_out, v.rows(), v.cols(), w.cols()), true, true);
}

template <class T>
void Tall<T>::solve(PlacedView<T> x, HostView<const T> r) {
  run_where(
      ctx_, x.space(), [&](auto at, auto in) { trsm(ctx_, at(x), in); }, In<T>{r});
  count(problem<T>(Operation::trsm, x.rows(), x.cols(), x.cols()), false, false);
}

template <class T>
void Tall<T>::combine(T alpha, PlacedView<const T> x, HostView<const T> s, T beta, PlacedView<T> y) {
  run_where(
      ctx_, y.space(),
      [&](auto at, auto in) {
        if (x.space() == decltype(at)::space)
          tsmm(ctx_, Op::none, alpha, at(x), in, beta, at(y));
        else
          pass(at, ctx_, x, [&](const auto& p) { combine_by_parts(p, alpha, in, beta, at(y)); });
      },
      In<T>{s});
  count(problem<T>(Operation::tsmm, x.rows(), x.cols(), y.cols()), false, true);
}

template <class T>
void Tall<T>::add(T alpha, PlacedView<const T> x, T beta, PlacedView<T> y) {
  Matrix<T> identity(x.cols(), x.cols());
  set_identity(identity.view());
  combine(alpha, x, identity.cview(), beta, y);
}

template <class T>
void Tall<T>::multiply(PlacedView<T> x, HostView<const T> s) {
  run_where(
      ctx_, x.space(), [&](auto at, auto in) { tsmm_in_place(ctx_, Op::none, T{1}, at(x), in); }, In<T>{s});
  count(problem<T>(Operation::tsmm_in_place, x.rows(), x.cols(), s.cols()), false, false);
}

template <class T>
void Tall<T>::norms(PlacedView<const T> x, std::span<real_t<T>> norms) {
  using R = real_t<T>;
  run_where(
      ctx_, x.space(),
      [&](auto at, auto out) {
        if constexpr (decltype(at)::space == Space::host)
          column_norms(ctx_, at(x), std::span<R>(out.data(), static_cast<std::size_t>(out.cols())));
        else
          column_norms(ctx_, at(x), out);
      },
      Out<R>{HostView<R>(norms.data(), 1, static_cast<index_t>(norms.size()))});
  count(problem<T>(Operation::column_norms, x.rows(), x.cols(), 1), true, false);
}

TS_FOR_EACH_RESULT_TYPE(TS_CLASS, Tall)

}  // namespace ts::inline v0::ortho
