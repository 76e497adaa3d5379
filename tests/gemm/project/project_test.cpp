#include "tallskinny/gemm/project/project.hpp"

#include "tallskinny/tests/support/engine.hpp"

using namespace ts;
using namespace ts::test;

namespace {

template <class T>
Expected<T> inner_product(const Operand<T>& a, const Operand<T>& b) {
  return {a.cols(), a.rows(), b.cols(), [&](index_t i, index_t k) { return conjugate(a.wide_at(k, i)); },
          [&](index_t k, index_t j) { return b.wide_at(k, j); }};
}

template <class T>
T conjugated(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  return x;
}

// One function for all test cases: every combination of layouts is compiled once a type.
template <class T>
void run_project_out(const Context& ctx, Operand<T>& v, Operand<T>& s, Operand<T>& w, Operand<T>& s_next,
                     Operand<T>& g) {
  with_views(
      ctx, [&](auto vv, auto vs, auto vw, auto vn, auto vg) { project_out(ctx, vv, vs, vw, vn, vg); }, v, s, w, s_next,
      g);
}

template <class T>
void check_hermitian(const Operand<T>& g) {
  REQUIRE(everywhere(g.rows(), g.cols(), [&](index_t i, index_t j) { return g.at(i, j) == conjugated(g.at(j, i)); }));
}
/// The results of one call, compared as one.
template <class T>
struct Results {
  Operand<T> w, s, g;
  [[nodiscard]] bool same_bits(const Results& other) const {
    return w.same_bits(other.w) && s.same_bits(other.s) && g.same_bits(other.g);
  }
};

template <class T>
void check_inner_and_gram(index_t n, index_t m, index_t b, std::size_t variant) {
  CAPTURE(n, m, b, variant);
  Values values(variant);
  auto v = Operand<T>::random(n, m, form_number(variant), values);
  const auto w = Operand<T>::random(n, b, form_number(variant / 2), values);
  const Results<T> empty{w, Operand<T>(m, b, form_number(variant / 3)), Operand<T>(b, b, form_number(variant / 5))};
  const auto s = inner_product(v, w), g = inner_product(w, w);
  in_every_way(
      empty,
      [&](const Context& ctx, Results<T>& out) {
        with_views(
            ctx, [&](auto vv, auto vw, auto vs, auto vg) { inner_and_gram(ctx, vv, vw, vs, vg); }, v, out.w, out.s,
            out.g);
      },
      [&](const Results<T>& out) {
        check_product(out.s, T{1}, s, T{}, out.s);
        check_product(out.g, T{1}, g, T{}, out.g);
        check_hermitian(out.g);
        REQUIRE(out.w.same_bits(w));
      });
}

template <class T>
void check_project_out(index_t n, index_t m, index_t b, std::size_t variant) {
  CAPTURE(n, m, b, variant);
  Values values(variant);
  auto v = Operand<T>::random(n, m, form_number(variant), values);
  auto s = Operand<T>::random(m, b, form_number(variant / 4), values);
  const auto w = Operand<T>::random(n, b, form_number(variant / 2), values);
  const bool want_s = variant % 4 != 1, want_g = variant % 4 < 2;
  const Results<T> before{w, Operand<T>(want_s ? m : 0, want_s ? b : 0, form_number(variant / 3)),
                          Operand<T>(want_g ? b : 0, want_g ? b : 0, form_number(variant / 5))};
  const Expected<T> update(
      n, m, b, [&](index_t i, index_t k) { return v.wide_at(i, k); },
      [&](index_t k, index_t j) { return s.wide_at(k, j); });
  in_every_way(
      before, [&](const Context& ctx, Results<T>& out) { run_project_out(ctx, v, s, out.w, out.s, out.g); },
      [&](const Results<T>& out) {
        check_product(out.w, T{-1}, update, T{1}, w);  // W - V S
        if (want_s) check_product(out.s, T{1}, inner_product(v, out.w), T{}, out.s);
        if (want_g) {
          check_product(out.g, T{1}, inner_product(out.w, out.w), T{}, out.g);
          check_hermitian(out.g);
        }
      });
}

}  // namespace

TEMPLATE_TEST_CASE("inner_and_gram and project_out of small integers are exact", "[short]", TS_RESULT_TYPES) {
  compiled_ahead([] {
    Values values(17);
    for (std::size_t variant = 0; variant < 24; ++variant) {
      const index_t n = values.below(5), m = values.below(4), b = 1 + values.below(3);
      auto v = Operand<TestType>::integers(n, m, form_number(variant), values);
      auto s = Operand<TestType>::integers(m, b, form_number(variant / 2), values);
      const auto w = Operand<TestType>::integers(n, b, form_number(variant / 3), values);
      auto updated = w;
      updated.fill([&](index_t i, index_t j) {
        TestType sum = w.at(i, j);
        for (index_t k = 0; k < m; ++k) sum -= v.at(i, k) * s.at(k, j);
        return sum;
      });
      const auto s_next = inner_product(v, updated), g = inner_product(updated, updated);
      in_every_way(
          Results<TestType>{w, Operand<TestType>(m, b), Operand<TestType>(b, b)},
          [&](const Context& ctx, Results<TestType>& out) { run_project_out(ctx, v, s, out.w, out.s, out.g); },
          [&](const Results<TestType>& out) {
            REQUIRE(everywhere(n, b, [&](index_t i, index_t j) { return out.w.at(i, j) == updated.at(i, j); }));
            REQUIRE(everywhere(
                m, b, [&](index_t i, index_t j) { return out.s.wide_at(i, j) == s_next.value[s_next.at(i, j)]; }));
            REQUIRE(everywhere(b, b, [&](index_t i, index_t j) { return out.g.wide_at(i, j) == g.value[g.at(i, j)]; }));
          });
    }
  });
}

TEMPLATE_TEST_CASE("inner_and_gram and project_out at every width and layout", "[short]", TS_RESULT_TYPES) {
  at_all_widths({0, 1, 33}, [](index_t n, Widths w, std::size_t variant) {
    check_inner_and_gram<TestType>(n, w.p, w.q, variant);
    check_project_out<TestType>(n, w.p, w.q, variant);
  });
  compiled_ahead([] {
    check_inner_and_gram<TestType>(40, 0, 3, 0);  // an empty basis
    check_project_out<TestType>(40, 0, 3, 0);
  });
}

TEMPLATE_TEST_CASE("inner_and_gram and project_out of long operands", "[long]", TS_RESULT_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const Widths w : {Widths{1, 1}, {8, 2}, {24, 8}, {33, 3}, {64, 16}, {17, 17}, {300, 16}}) {
      check_inner_and_gram<TestType>(3001, w.p, w.q, variant);
      check_project_out<TestType>(3001, w.p, w.q, 4 * variant++);
    }
    check_project_out<TestType>(100003, 5, 2, 0);
  });
}

TEST_CASE("inner_and_gram and project_out refuse misuse by naming the argument", "[short]") {
  std::vector<double> memory(300, 1.0);
  const Context ctx;
  const HostView<double> v(memory.data(), 10, 3), w(memory.data() + 40, 10, 2), s(memory.data() + 100, 3, 2),
      s_next(memory.data() + 110, 3, 2), g(memory.data() + 120, 2, 2), none;
  expect_misuse([&] { inner_and_gram(ctx, v.rows(0, 9), w, s, g); }, {"inner_and_gram", "V", "9 x 3"});
  expect_misuse([&] { inner_and_gram(ctx, v, w, g, g); }, {"S", "2 x 2", "3 x 2"});
  expect_misuse([&] { inner_and_gram(ctx, v, w, s, s); }, {"G", "3 x 2", "2 x 2"});
  expect_misuse([&] { inner_and_gram(ctx, v, w, s, HostView<double>(memory.data() + 101, 2, 2)); }, {"G overlaps S"});
  expect_misuse([&] { project_out(ctx, v.rows(0, 9), s, w, s_next, g); }, {"project_out", "V", "9 x 3"});
  expect_misuse([&] { project_out(ctx, v, g, w, s_next, g); }, {"S", "2 x 2", "3 x 2"});
  expect_misuse([&] { project_out(ctx, v, s, w, g, g); }, {"S_next", "2 x 2", "3 x 2", "0 x 0"});
  expect_misuse([&] { project_out(ctx, v, s, w, none, s); }, {"G", "3 x 2", "2 x 2"});
  expect_misuse([&] { project_out(ctx, v, s, HostView<double>(memory.data() + 5, 10, 2), none, none); },
                {"W overlaps V"});
  expect_misuse([&] { project_out(ctx, v, s, w, s, none); }, {"S_next overlaps S"});
}
