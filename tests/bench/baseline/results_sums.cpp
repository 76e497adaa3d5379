#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/bench/baseline/operands.hpp"

namespace ts::baseline {

namespace {

using test::form_number;

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

}  // namespace

void print_sums() {
#define TS_CASE(T) print_inner<T>(), print_norms<T>();
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
#define TS_CASE(T) print_project<T>();
  TS_FOR_EACH_RESULT_TYPE(TS_CASE)
#undef TS_CASE
}

}  // namespace ts::baseline
