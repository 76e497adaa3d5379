#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/bench/baseline/results.hpp"
#include "tallskinny/tests/support/operands.hpp"

namespace ts::baseline {

namespace {

using test::form_number;
using test::Operand;
using test::Values;
using test::with_views;

/// An n x p and an n x q operand.
struct Shape {
  index_t n, p, q;
};
constexpr Shape shapes[] = {{3001, 1, 1},   {3001, 3, 3},  {3001, 8, 8},  {3001, 17, 17},
                            {1500, 33, 33}, {3001, 3, 17}, {1500, 33, 8}, {5, 8, 3}};

template <class R>
R scalar(std::size_t i) {
  const double re[] = {1, -0.75, 0.5, 1, 2}, im[] = {0, 0, 0.25, -1, 0};
  return test::element<R>(re[i % 5], im[i % 5]);
}
template <class R>
R scalar_or_zero(std::size_t i) {
  return i % 3 == 0 ? R{} : i % 3 == 1 ? R{1} : scalar<R>(i);
}

template <class T>
void add(Hash& hash, Operand<T>& result) {
  hash.add(result.buffer());
}

/// run(context, hash) in every way for each shape; each call is run(way, shape, values, turn, hash), and the
/// turn decides about layouts, gaps and scalars.
template <class T, class Run>
void for_shapes(const std::string& operation, Run&& run) {
  std::size_t turn = static_cast<std::size_t>(dtype_of<T>);
  for (const Shape& s : shapes) {
    ++turn;
    for (const Way& way : ways())
      item(operation + " " + std::string(name_of(dtype_of<T>)) + " n" + std::to_string(s.n) + " p" +
               std::to_string(s.p) + " q" + std::to_string(s.q) + " " + way.name,
           [&](Hash& hash) {
             Values values(turn);
             run(way.ctx, s, values, turn, hash);
           });
  }
}

template <class T>
void print_inner() {
  using R = result_t<T>;
  for_shapes<T>("tsmttsm", [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    auto a = Operand<T>::random(s.n, s.p, form_number(turn), values);
    auto b = Operand<T>::random(s.n, s.q, form_number(turn + turn % 3), values);
    auto c = Operand<R>::random(s.p, s.q, form_number(turn + 2), values);
    const Op op = turn % 2 == 0 ? Op::adjoint : Op::transpose;
    with_views(
        [&](auto va, auto vb, auto vc) { tsmttsm(ctx, op, scalar<R>(turn), va, vb, scalar_or_zero<R>(turn), vc); }, a,
        b, c);
    add(h, c);
  });
  for_shapes<T>("gram", [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    auto a = Operand<T>::random(s.n, s.p, form_number(turn), values);
    auto c = Operand<R>::random(s.p, s.p, form_number(turn + 1), values);
    const Op op = turn % 3 == 0 ? Op::transpose : Op::adjoint;
    with_views([&](auto va, auto vc) { gram(ctx, op, scalar<R>(turn), va, scalar_or_zero<R>(turn + 1), vc); }, a, c);
    add(h, c);
  });
}

template <class T>
void print_norms() {
  for_shapes<T>("column_norms", [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    auto x = Operand<T>::random(s.n, s.p, form_number(turn), values);
    if (turn % 2 == 0 && s.p > 2) x.at(1, 2) = test::element<T>(1e300, 1e300);
    std::vector<real_t<T>> norms(static_cast<std::size_t>(s.p));
    with_views([&](auto v) { column_norms(ctx, v, std::span<real_t<T>>(norms)); }, x);
    h.add(norms);
  });
}

template <class T>
void print_project() {
  for_shapes<T>("inner_and_gram", [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    auto v = Operand<T>::random(s.n, s.p, form_number(turn), values);
    auto w = Operand<T>::random(s.n, s.q, form_number(turn), values);
    Operand<T> inner(s.p, s.q, form_number(turn + 1)), g(s.q, s.q, form_number(turn + 2));
    with_views([&](auto vv, auto vw, auto vs, auto vg) { inner_and_gram(ctx, vv, vw, vs, vg); }, v, w, inner, g);
    add(h, inner), add(h, g);
  });
  for_shapes<T>("project_out", [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    auto v = Operand<T>::random(s.n, s.p, form_number(turn), values);
    auto w = Operand<T>::random(s.n, s.q, form_number(turn), values);
    auto inner = Operand<T>::random(s.p, s.q, form_number(turn + 1), values);
    Operand<T> next(s.p, s.q), g(s.q, s.q);
    with_views(
        [&](auto vv, auto vs, auto vw) {
          next.with_view([&](auto vn) { g.with_view([&](auto vg) { project_out(ctx, vv, vs, vw, vn, vg); }); });
        },
        v, inner, w);
    add(h, w), add(h, next), add(h, g);
  });
}

template <class T>
void print_products() {
  using R = result_t<T>;
  for_shapes<T>("tsmm", [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    const bool plain = turn % 2 == 0;
    auto x = Operand<T>::random(s.n, s.p, form_number(turn), values);
    auto small = Operand<R>::random(plain ? s.p : s.q, plain ? s.q : s.p, form_number(turn + 1), values);
    auto y = Operand<R>::random(s.n, s.q, form_number(turn), values);
    const Op op = plain ? Op::none : turn % 3 == 0 ? Op::transpose : Op::adjoint;
    with_views([&](auto vx, auto vs, auto vy) { tsmm(ctx, op, scalar<R>(turn), vx, vs, scalar_or_zero<R>(turn), vy); },
               x, small, y);
    add(h, y);
  });
  for_shapes<T>("tsm2r", [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    constexpr index_t m = 150;
    const bool plain = turn % 2 == 0;
    auto d = Operand<T>::random(plain ? m : s.n, plain ? s.n : m, form_number(turn), values);
    auto x = Operand<T>::random(s.n, s.q, form_number(turn + turn % 2), values);
    auto y = Operand<R>::random(m, s.q, form_number(turn), values);
    const Op op = plain ? Op::none : turn % 3 == 0 ? Op::transpose : Op::adjoint;
    with_views(
        [&](auto vd, auto vx, auto vy) { tsm2r(ctx, op, scalar<R>(turn), vd, vx, scalar_or_zero<R>(turn + 1), vy); }, d,
        x, y);
    add(h, y);
  });
}

/// Seven entries a row, some rows empty, one long.
template <class T, class I>
CsrMatrix<T, I> sparse(index_t rows, index_t cols, Values& values) {
  CsrMatrix<T, I> a;
  a.rows = rows, a.cols = cols;
  for (index_t i = 0; i < rows; ++i) {
    for (index_t e = 0; e < (i == rows / 2 ? 900 : i % 9 == 4 ? 0 : 7); ++e) {
      a.indices.push_back(static_cast<I>(values.below(cols)));
      const double re = values.uniform();
      a.values.push_back(test::element<T>(re, values.uniform()));
    }
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  return a;
}

template <class T, class I>
void print_spmm(const std::string& name) {
  using R = result_t<T>;
  for_shapes<T>(name, [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    constexpr index_t m = 1200;
    const bool plain = turn % 3 != 0;
    const auto a = sparse<T, I>(plain ? m : s.n, plain ? s.n : m, values);
    auto x = Operand<T>::random(s.n, s.q, form_number(turn), values);
    auto y = Operand<R>::random(m, s.q, form_number(turn + 1), values);
    const Op op = plain ? Op::none : turn % 2 == 0 ? Op::transpose : Op::adjoint;
    with_views([&](auto vx, auto vy) { spmm(ctx, op, scalar<R>(turn), a.view(), vx, scalar_or_zero<R>(turn), vy); }, x,
               y);
    add(h, y);
  });
}

template <class T>
void print_in_place() {
  for_shapes<T>("tsmm_in_place", [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    const index_t q = std::min(s.p, s.q);
    auto x = Operand<T>::random(s.n, s.p, form_number(turn), values);
    auto small = Operand<T>::random(s.p, q, form_number(turn + 1), values);
    with_views([&](auto vx, auto vs) { tsmm_in_place(ctx, Op::none, scalar<T>(turn), vx, vs); }, x, small);
    add(h, x);
  });
  for_shapes<T>("trsm", [](const Context& ctx, const Shape& s, Values& values, std::size_t turn, Hash& h) {
    auto x = Operand<T>::random(s.n, s.p, form_number(turn), values);
    auto r = Operand<T>::random(s.p, s.p, form_number(turn + 1), values);
    for (index_t j = 0; j < s.p; ++j) r.at(j, j) += T{4};
    with_views([&](auto vx, auto vr) { trsm(ctx, vx, vr); }, x, r);
    add(h, x);
  });
}

template <class T>
void print_random() {
  for_shapes<T>("fill_random", [](const Context& ctx, const Shape& s, Values&, std::size_t turn, Hash& h) {
    Operand<T> x(s.n, s.p, {Layout::row_major, static_cast<index_t>(turn % 4), 1});
    const HostView<T> view(x.buffer().data() + 1, s.n, s.p, s.p + static_cast<index_t>(turn % 4));
    fill_random<T>(ctx, Philox{turn, 3}, view);
    add(h, x);
  });
}

template <class To, class From>
void print_cast() {
  for_shapes<From>("cast to " + std::string(name_of(dtype_of<To>)) + " from",
                   [](const Context& ctx, const Shape& s, Values& values, std::size_t, Hash& h) {
                     auto x = Operand<From>::random(s.n, s.p, {Layout::row_major, 3, 1}, values);
                     const HostView<const From> view(x.buffer().data() + 1, s.n, s.p, s.p + 3);
                     auto narrow = cast<To, From>(ctx, PlacedView<const From>(view));
                     Matrix<From> same(s.n, s.p);
                     copy_block<From>(ctx, PlacedView<const From>(view), PlacedView<From>(same.view()));
                     h.add(same).add(std::move(narrow).to_host(ctx));
                   });
}

/// More rows than caches hold: other ways to store, and many pieces.
template <class T>
void print_long() {
  for (const index_t q : {4, 17})
    item("tsmm long " + std::string(name_of(dtype_of<T>)) + " q" + std::to_string(q), [&](Hash& h) {
      const index_t n = 600000;
      Values values(1);
      auto small = Operand<T>::random(8, q, {}, values);
      Matrix<T> x(n, 8), y(n, q);
      fill_random<T>(plain_context(), Philox{1, 2}, x.view());
      small.with_view([&](auto vs) { tsmm(plain_context(), Op::none, T{1}, x.cview(), vs, T{}, y.view()); });
      h.add(y);
    });
}

}  // namespace

void print_sums() {
#define TS_CASE(T) print_inner<T>(), print_norms<T>();
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
#define TS_CASE(T) print_project<T>();
  TS_FOR_EACH_RESULT_TYPE(TS_CASE)
#undef TS_CASE
}

void print_rows() {
#define TS_CASE(T) print_products<T>(), print_spmm<T, std::int32_t>("spmm");
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
  print_spmm<double, std::int64_t>("spmm wide indices");
#define TS_CASE(T) print_in_place<T>(), print_random<T>();
  TS_FOR_EACH_RESULT_TYPE(TS_CASE)
#undef TS_CASE
  print_cast<float, double>(), print_cast<double, float>();
  print_cast<std::complex<float>, std::complex<double>>();
  print_cast<std::complex<double>, std::complex<float>>();
  print_long<double>(), print_long<float>();
}

}  // namespace ts::baseline
