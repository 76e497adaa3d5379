// The fast path of the dense operations against float64 truth: every instruction set that the processor has,
// every layout, widths on both sides of every vector and tile edge.
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/engine.hpp"

using namespace ts;
using namespace ts::test;

namespace {

template <class W>
W conjugate_if(bool conjugate, W x) {
  if constexpr (is_complex<W>)
    return conjugate ? std::conj(x) : x;
  else
    return x;
}

/// C = alpha op(A) B + beta C in float64, with the operands as they were rounded.
template <class W>
std::vector<W> product(Op op, W alpha, const std::vector<W>& a, index_t rows_a, index_t cols_a, const std::vector<W>& b,
                       index_t cols_b, W beta, const std::vector<W>& c) {
  const bool flip = op != Op::none;
  const index_t m = flip ? cols_a : rows_a, depth = flip ? rows_a : cols_a;
  constexpr index_t parts = is_complex<W> ? 2 : 1;
  // By parts: std::complex takes many times as long where nothing is inlined.
  const auto* left = reinterpret_cast<const double*>(a.data());
  const auto* right = reinterpret_cast<const double*>(b.data());
  const double sign = op == Op::adjoint ? -1 : 1;
  std::vector<W> out(static_cast<std::size_t>(m * cols_b));
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < cols_b; ++j) {
      double re = 0, im = 0;
      for (index_t k = 0; k < depth; ++k) {
        const double* x = left + parts * (flip ? k * cols_a + i : i * cols_a + k);
        const double* y = right + parts * (k * cols_b + j);
        re += x[0] * y[0];
        if constexpr (is_complex<W>) re -= sign * x[1] * y[1], im += x[0] * y[1] + sign * x[1] * y[0];
      }
      const auto at = static_cast<std::size_t>(i * cols_b + j);
      W sum;
      if constexpr (is_complex<W>)
        sum = {re, im};
      else
        sum = re;
      out[at] = alpha * sum + (beta == W{} ? W{} : beta * c[at]);
    }
  return out;
}

/// A copy in the type of truth, row-major.
template <class T>
std::vector<wide_t<T>> widened(const Strided<const T>& v) {
  std::vector<wide_t<T>> w;
  w.reserve(static_cast<std::size_t>(v.rows * v.cols));
  for (index_t i = 0; i < v.rows; ++i)
    for (index_t j = 0; j < v.cols; ++j) w.push_back(to_wide(v(i, j)));
  return w;
}

/// Whether `got` is `truth` within the bound of an inner product of `terms` numbers of size at most `size`.
template <class T>
void check_close(const Strided<T>& got, const std::vector<wide_t<T>>& truth, double terms, double size = 2) {
  const double bound = product_bound<T>(terms, size * (terms + 1));
  double worst = 0;
  for (index_t i = 0; i < got.rows; ++i)
    for (index_t j = 0; j < got.cols; ++j) {
      const double error = std::abs(to_wide<T>(got(i, j)) - truth[static_cast<std::size_t>(i * got.cols + j)]);
      if (!(error <= worst)) worst = error;  // a NaN is the worst
    }
  CHECK(worst <= bound);
}

constexpr Widths biting_widths[] = {{1, 1},  {2, 2},  {3, 2},  {2, 4},   {4, 4},   {5, 5},  {7, 3},   {8, 8},
                                    {9, 16}, {17, 1}, {1, 33}, {24, 23}, {31, 47}, {65, 9}, {40, 64}, {400, 390}};

}  // namespace

TEMPLATE_TEST_CASE("tsmttsm, fast: every instruction set, layout and edge", "", TS_ALL_TYPES) {
  using T = TestType;
  using C = result_t<T>;
  Values random(7);
  const C alpha = element<C>(0.75, -0.5), beta = element<C>(-1.25, 0.25);
  int turn = 0;
  for (const Simd simd : simd_levels())
    for (const Widths w : biting_widths)
      for (const index_t n : {1, 13, 700}) {
        if (w.p > 100 && n != 13) continue;  // the float64 truth of a wide product is slow
        const Form shape_a = odd_forms[turn % 4], shape_b = odd_forms[turn / 4 % 4], shape_c = odd_forms[turn % 3];
        const Op op = turn % 2 ? Op::adjoint : Op::transpose;
        ++turn;
        INFO("simd " << static_cast<int>(simd) << ", " << n << " x " << w.p << ", " << w.q << ", turn " << turn);
        Operand<T> a(n, w.p, shape_a, random), b(n, w.q, shape_b, random);
        Operand<C> c(w.p, w.q, shape_c, random);
        const auto truth = product(op, to_wide<C>(alpha), widened(a.cview()), n, w.p, widened(b.cview()), w.q,
                                   to_wide<C>(beta), widened(c.cview()));
        detail::tsmttsm<T>(fast_context(simd, 2), op, alpha, a.cview(), b.cview(), beta, c.view());
        check_close(c.view(), truth, static_cast<double>(n));
        CHECK(c.surroundings_untouched());
      }
}

TEMPLATE_TEST_CASE("gram, fast: exactly Hermitian, with beta = 0 over NaN", "", TS_ALL_TYPES) {
  using T = TestType;
  using C = result_t<T>;
  Values random(11);
  int turn = 0;
  for (const Simd simd : simd_levels())
    for (const index_t p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 31, 64, 70})
      for (const index_t n : {1, 450}) {
        Operand<T> a(n, p, odd_forms[turn % 4], random);
        Operand<C> c(p, p, odd_forms[turn / 2 % 4], random);
        const Op op = turn++ % 2 ? Op::adjoint : Op::transpose;
        for (index_t i = 0; i < p; ++i)
          for (index_t j = 0; j < p; ++j) c.view()(i, j) = nan_element<C>();
        INFO("simd " << static_cast<int>(simd) << ", " << n << " x " << p << ", turn " << turn);
        const auto wide_a = widened(a.cview());
        const auto truth = product(op, wide_t<T>(1), wide_a, n, p, wide_a, p, wide_t<T>(0), std::vector<wide_t<T>>());
        detail::gram<T>(fast_context(simd, 2), op, C(1), a.cview(), C(0), c.view());
        check_close(c.view(), truth, static_cast<double>(n));
        bool mirrored = true, real_diagonal = true;
        for (index_t i = 0; i < p; ++i) {
          for (index_t j = 0; j < p; ++j)
            mirrored = mirrored && c.view()(i, j) == conjugate_if(op == Op::adjoint, c.view()(j, i));
          if constexpr (is_complex<T>) real_diagonal = real_diagonal && c.view()(i, i).imag() == 0;
        }
        CHECK(mirrored);
        if (op == Op::adjoint) CHECK(real_diagonal);
      }
}

TEMPLATE_TEST_CASE("tsmm, fast: every instruction set, layout and edge", "", TS_ALL_TYPES) {
  using T = TestType;
  using C = result_t<T>;
  Values random(13);
  int turn = 0;
  for (const Simd simd : simd_levels())
    for (const Widths w : biting_widths)
      for (const index_t n : {1, 13, 300}) {
        if (w.p > 100 && n != 13) continue;
        const Op op = turn % 3 == 0 ? Op::none : turn % 3 == 1 ? Op::adjoint : Op::transpose;
        const C alpha = element<C>(0.75, turn % 2 ? -0.5 : 0);
        const C beta = turn % 5 == 0 ? C(0) : element<C>(-1.25, turn % 5 == 1 ? 0.25 : 0);
        Operand<T> x(n, w.p, odd_forms[turn % 4], random);
        Operand<C> s(op == Op::none ? w.p : w.q, op == Op::none ? w.q : w.p, odd_forms[turn / 2 % 4], random);
        Operand<C> y(n, w.q, odd_forms[turn / 4 % 4], random);
        ++turn;
        INFO("simd " << static_cast<int>(simd) << ", " << n << " x " << w.p << ", " << w.q << ", turn " << turn);
        const auto op_s = op == Op::none ? s.cview() : s.cview().transposed();
        auto wide_s = widened(op_s);
        for (auto& value : wide_s) value = conjugate_if(op == Op::adjoint, value);
        const auto truth = product(Op::none, to_wide<C>(alpha), widened(x.cview()), n, w.p, wide_s, w.q,
                                   to_wide<C>(beta), widened(y.cview()));
        if (beta == C(0))
          for (index_t i = 0; i < n; ++i)
            for (index_t j = 0; j < w.q; ++j) y.view()(i, j) = nan_element<C>();
        detail::tsmm<T>(fast_context(simd, 2), op, alpha, x.cview(), s.cview(), beta, y.view());
        check_close(y.view(), truth, static_cast<double>(w.p));
        CHECK(y.surroundings_untouched());
      }
}

TEMPLATE_TEST_CASE("tsmm in place, fast: the columns behind the result stay", "", TS_RESULT_TYPES) {
  using T = TestType;
  Values random(17);
  int turn = 0;
  for (const Simd simd : simd_levels())
    for (const Widths w : {Widths{1, 1}, {2, 1}, {4, 4}, {5, 2}, {8, 8}, {20, 7}, {33, 33}, {70, 12}, {300, 20}})
      for (const index_t n : {1, 200}) {
        Operand<T> x(n, w.p, odd_forms[turn % 4], random), s(w.p, w.q, odd_forms[turn / 4 % 4], random);
        ++turn;
        INFO("simd " << static_cast<int>(simd) << ", " << n << " x " << w.p << ", " << w.q << ", turn " << turn);
        const auto before = widened(x.cview());
        const auto truth = product(Op::none, wide_t<T>(1), before, n, w.p, widened(s.cview()), w.q, wide_t<T>(0),
                                   std::vector<wide_t<T>>());
        detail::tsmm_in_place<T>(fast_context(simd, 2), Op::none, T(1), x.view(), s.cview());
        Strided<T> result = x.view();
        result.cols = w.q;
        check_close(result, truth, static_cast<double>(w.p));
        bool kept = true;
        for (index_t i = 0; i < n; ++i)
          for (index_t j = w.q; j < w.p; ++j)
            kept = kept && to_wide(x.view()(i, j)) == before[static_cast<std::size_t>(i * w.p + j)];
        CHECK(kept);
        CHECK(x.surroundings_untouched());
      }
}

TEMPLATE_TEST_CASE("tsm2r, fast: every instruction set, layout and op", "", TS_ALL_TYPES) {
  using T = TestType;
  using C = result_t<T>;
  Values random(19);
  int turn = 0;
  for (const Simd simd : simd_levels())
    for (const index_t q : {1, 3, 8, 17})
      for (const Widths d_shape : {Widths{1, 1}, {70, 3}, {9, 600}, {150, 280}, {3, 1000}}) {
        const Op op = turn % 3 == 0 ? Op::none : turn % 3 == 1 ? Op::adjoint : Op::transpose;
        const index_t m = op == Op::none ? d_shape.p : d_shape.q, depth = op == Op::none ? d_shape.q : d_shape.p;
        const C alpha = element<C>(0.75, -0.5), beta = element<C>(-1.25, 0.25);
        Operand<T> d(d_shape.p, d_shape.q, odd_forms[turn % 4], random);
        Operand<T> x(depth, q, odd_forms[turn / 2 % 4], random);
        Operand<C> y(m, q, odd_forms[turn / 4 % 4], random);
        ++turn;
        INFO("simd " << static_cast<int>(simd) << ", " << d_shape.p << " x " << d_shape.q << ", " << q << ", turn "
                     << turn);
        const auto truth = product(op, to_wide<C>(alpha), widened(d.cview()), d_shape.p, d_shape.q, widened(x.cview()),
                                   q, to_wide<C>(beta), widened(y.cview()));
        detail::tsm2r<T>(fast_context(simd, 2), op, alpha, d.cview(), x.cview(), beta, y.view());
        check_close(y.view(), truth, static_cast<double>(depth));
        CHECK(y.surroundings_untouched());
      }
}

TEMPLATE_TEST_CASE("project_out and inner_and_gram, fast", "", TS_RESULT_TYPES) {
  using T = TestType;
  using W = wide_t<T>;
  Values random(23);
  int turn = 0;
  for (const Simd simd : simd_levels())
    for (const Widths w : {Widths{0, 2}, {1, 1}, {4, 2}, {12, 4}, {33, 8}, {100, 3}, {300, 16}})
      for (const index_t n : {1, 600}) {
        const index_t m = w.p, b = w.q;
        Operand<T> v(n, m, odd_forms[turn % 4], random), block(n, b, odd_forms[turn / 2 % 4], random);
        Operand<T> s(m, b, odd_forms[turn / 4 % 4], random), next(m, b, odd_forms[turn % 3], random);
        Operand<T> g(b, b, odd_forms[turn % 4], random);
        ++turn;
        INFO("simd " << static_cast<int>(simd) << ", " << n << " x " << m << ", " << b << ", turn " << turn);
        const auto wide_v = widened(v.cview());
        const auto truth = product(Op::none, W(-1), wide_v, n, m, widened(s.cview()), b, W(1), widened(block.cview()));
        detail::project_out<T>(fast_context(simd, 2), v.cview(), s.cview(), block.view(), next.view(), g.view());
        check_close(block.view(), truth, static_cast<double>(m) + 1);
        CHECK(block.surroundings_untouched());
        // What follows is of the block as it was rounded.
        const double size = static_cast<double>(m + 2);
        const auto check_products = [&](const Strided<T>& inner, const Strided<T>& gram_of_block) {
          const auto wide_w = widened(block.cview());
          if (m != 0)
            check_close(inner, product(Op::adjoint, W(1), wide_v, n, m, wide_w, b, W(0), std::vector<W>()),
                        static_cast<double>(n), size);
          check_close(gram_of_block, product(Op::adjoint, W(1), wide_w, n, b, wide_w, b, W(0), std::vector<W>()),
                      static_cast<double>(n), size * size);
        };
        check_products(next.view(), g.view());

        Operand<T> inner(m, b, odd_forms[turn % 4], random), gram(b, b, odd_forms[3], random);
        detail::inner_and_gram<T>(fast_context(simd, 2), v.cview(), block.cview(), inner.view(), gram.view());
        check_products(inner.view(), gram.view());
        CHECK(inner.surroundings_untouched());
      }
}
