#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/tsmttsm/policy.hpp"
#include "tallskinny/gemm/tsmttsm/search.hpp"

#include "tallskinny/tests/support/engine.hpp"

using cuda::InnerPolicy;
using cuda::InnerProblem;

namespace {

template <class T>
Expected<T> exact_tsmttsm(Op op, const Operand<T>& a, const Operand<T>& b) {
  return exact_product(op, a, a.cols(), Op::none, b, b.cols());
}

// One function for each operation and all test cases: every combination of layouts is compiled once a type.
template <class T>
void run_tsmttsm(const Context& ctx, Op op, result_t<T> alpha, Operand<T>& a, Operand<T>& b, result_t<T> beta,
                 Operand<result_t<T>>& c) {
  with_views(
      ctx, [&](auto va, auto vb, auto vc) { tsmttsm(ctx, op, alpha, va, vb, beta, vc); }, a, b, c);
}
template <class T>
void run_gram(const Context& ctx, Op op, result_t<T> alpha, Operand<T>& a, result_t<T> beta, Operand<result_t<T>>& c) {
  with_views(
      ctx, [&](auto va, auto vc) { gram(ctx, op, alpha, va, beta, vc); }, a, c);
}

template <class T>
void check_tsmttsm(index_t n, Widths w, std::size_t variant, bool exact = false) {
  using R = result_t<T>;
  CAPTURE(n, w.p, w.q, variant);
  Variant<T> v{variant, exact};
  const Op op = variant % 2 == 0 ? Op::adjoint : Op::transpose;
  auto a = v.operand(n, w.p, form_number(variant)), b = v.operand(n, w.q, form_number(variant / 2));
  check_in_every_way(
      v.alpha, exact_tsmttsm(op, a, b), v.beta, v.output(w.p, w.q, form_number(variant / 5)),
      [&](const Context& ctx, Operand<R>& out) { run_tsmttsm(ctx, op, v.alpha, a, b, v.beta, out); }, exact);
}

template <class T>
void check_gram(index_t n, index_t p, std::size_t variant) {
  using R = result_t<T>;
  CAPTURE(n, p, variant);
  Values values(variant);
  const Op op = variant % 2 == 0 ? Op::adjoint : Op::transpose;
  const R alpha = element<R>(variant % 3 == 0 ? 1 : -0.5), beta = element<R>(variant % 4 == 1 ? 2 : 0);
  auto a = Operand<T>::random(n, p, form_number(variant), values);
  Operand<R> c(p, p, form_number(variant / 3));
  if (beta != R{})  // symmetric, and Hermitian too
    c.fill([](index_t i, index_t j) { return element<R>(1.0 / static_cast<double>(i + j + 1)); });
  const auto product = exact_tsmttsm(op, a, a);
  in_every_way(
      c, [&](const Context& ctx, Operand<R>& out) { run_gram(ctx, op, alpha, a, beta, out); },
      [&](const Operand<R>& out) {
        check_product(out, alpha, product, beta, c);
        REQUIRE(everywhere(p, p, [&](index_t i, index_t j) { return out.wide_at(i, j) == wide_of_op(op, out, i, j); }));
      });
}

/// check(out, second operand) for op(A) B and op(A) A on the GPU, and where it is asked for on the processor.
template <class T, class Check>
void inner_products(Op op, Operand<T>& a, Operand<T>& b, Check&& check, bool on_processor = false) {
  using R = result_t<T>;
  for (Operand<T>* second : {&b, &a}) {
    const Operand<R> before(a.cols(), second->cols());
    const auto run = [&](const Context& ctx, Operand<R>& out) {
      if (second == &a)
        run_gram(ctx, op, R{1}, a, R{}, out);
      else
        run_tsmttsm(ctx, op, R{1}, a, b, R{}, out);
    };
    const auto look = [&](const Operand<R>& out) { check(out, *second); };
    if (on_processor) in_every_host_way(before, run, look);
    on_device(before, run, look);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("tsmttsm of small integers is exact", "[short]", TS_ALL_TYPES) {
  at_small_sizes([](index_t n, index_t p, index_t q, std::size_t variant) {
    check_tsmttsm<TestType>(n, {std::max<index_t>(p, 1), q}, variant, true);
  });
}

TEMPLATE_TEST_CASE("tsmttsm at every width, layout, leading dimension, alpha and beta", "[short]", TS_ALL_TYPES) {
  at_all_widths({0, 1, 2, 31, 33},
                [](index_t n, Widths w, std::size_t variant) { check_tsmttsm<TestType>(n, w, variant); });
}

TEMPLATE_TEST_CASE("gram at every width, layout, leading dimension, alpha and beta", "[short]", TS_ALL_TYPES) {
  at_all_widths({0, 1, 33}, [](index_t n, Widths w, std::size_t variant) { check_gram<TestType>(n, w.p, variant); });
}

TEMPLATE_TEST_CASE("tsmttsm and gram of long operands", "[long]", TS_ALL_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const Widths w : widths_that_bite()) {
      check_tsmttsm<TestType>(1000, w, variant);
      if (w.p == w.q) check_gram<TestType>(1000, w.p, variant);
      ++variant;
    }
    for (const Widths w : {Widths{1, 1}, {3, 3}, {8, 8}, {4, 17}}) {
      check_tsmttsm<TestType>(100003, w, 0);
      check_tsmttsm<TestType>(100003, w, variant++);
      check_gram<TestType>(100003, w.p, 6);
    }
    for (const Widths w : {Widths{32, 32}, {33, 7}, {48, 64}}) {  // of which a GPU's clusters send fragments
      check_tsmttsm<TestType>(20011, w, 0);
      check_tsmttsm<TestType>(20011, w, variant++);
      check_gram<TestType>(20011, w.p, 0);
    }
    check_tsmttsm<TestType>(13, {400, 390}, 1);
  });
}

TEMPLATE_TEST_CASE("NaN and Inf reach the entries of their column and no others", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = result_t<TestType>;
    for (const index_t w : {1, 2, 3, 5, 8, 17})
      for (const index_t n : {1, 9, 40})
        for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
          CAPTURE(w, n, bad);
          Values values(3);
          auto a = Operand<TestType>::random(n, w, {}, values);
          auto b = Operand<TestType>::random(n, w, {}, values);
          const index_t row = n / 2, column = w / 2;
          a.at(row, column) = element<TestType>(bad);
          inner_products(
              Op::transpose, a, b,
              [&](const Operand<R>& out, const Operand<TestType>& second) {
                REQUIRE(everywhere(w, w, [&](index_t i, index_t j) {
                  return std::isfinite(std::abs(out.wide_at(i, j))) == (i != column && (&second != &a || j != column));
                }));
              },
              true);
        }
  });
}

TEMPLATE_TEST_CASE("on a GPU an infinity in a long product stays one, also where numbers are split", "[short]",
                   TS_ALL_TYPES) {
  using R = result_t<TestType>;
  const index_t n = 20011;
  for (const index_t w : {5, 24, 40, 64}) {
    CAPTURE(w);
    Values values(11);
    auto a = Operand<TestType>::random(n, w, {}, values), b = a;
    a.at(n / 2, 1) = element<TestType>(std::numeric_limits<double>::infinity());
    b.at(n / 2, 2) = element<TestType>(1);  // without a low part
    on_device(
        Operand<R>(w, w),
        [&](const Context& ctx, Operand<R>& out) { run_tsmttsm(ctx, Op::transpose, R{1}, a, b, R{}, out); },
        [&](const Operand<R>& out) {
          REQUIRE(everywhere(w, w, [&](index_t i, index_t j) {
            const auto size = std::abs(out.wide_at(i, j));
            return std::isfinite(size) == (i != 1) && (is_complex<R> || i != 1 || std::isinf(size));
          }));
        });
  }
}

namespace {

/// A long operand with few rows that are not zero: sums over it have the bounds of short ones, and what they
/// should be is soon computed.
constexpr index_t long_rows = 200003, filled_every = 20011, filled = (long_rows + filled_every - 1) / filled_every;
template <class T, class Value>
Operand<T> mostly_zero(index_t columns, Value&& value) {
  Operand<T> o(long_rows, columns);
  o.fill([&](index_t i, index_t j) { return i % filled_every == 0 ? value(j) : T{}; });
  return o;
}
/// Those rows alone.
template <class T>
Operand<T> filled_rows(const Operand<T>& o) {
  Operand<T> rows(filled, o.cols());
  rows.fill([&](index_t i, index_t j) { return o.at(i * filled_every, j); });
  return rows;
}

}  // namespace

TEMPLATE_TEST_CASE("on a GPU few terms among many rows are as exact as few", "[short][gpu]", TS_ALL_TYPES) {
  using R = result_t<TestType>;
  compiled_ahead([] {
    for (const index_t w : {24, 33, 48, 64}) {
      CAPTURE(w);
      Values values(5);
      const auto any = [&](index_t) {
        const double re = values.uniform();
        return element<TestType>(re, values.uniform());
      };
      auto a = mostly_zero<TestType>(w, any), b = mostly_zero<TestType>(w, any);
      const auto short_a = filled_rows(a);
      inner_products(Op::adjoint, a, b, [&](const Operand<R>& out, const Operand<TestType>& second) {
        check_product(out, R{1}, exact_tsmttsm(Op::adjoint, short_a, filled_rows(second)), R{}, out);
      });
      a.at(filled_every, 1) = element<TestType>(std::numeric_limits<double>::infinity());
      inner_products(Op::adjoint, a, b, [&](const Operand<R>& out, const Operand<TestType>& second) {
        REQUIRE(everywhere(w, w, [&](index_t i, index_t j) {
          return std::isfinite(std::abs(out.wide_at(i, j))) == (i != 1 && (&second != &a || j != 1));
        }));
      });
    }
  });
}

TEST_CASE("on a GPU complex products by three real ones keep the bounds of both parts", "[short][gpu]") {
  using T = std::complex<double>;
  const index_t w = 64;
  Values values(8);
  // Real and imaginary parts of many sizes: the bound of the imaginary part is that of all of them together.
  const auto any = [&](index_t j) {
    const double re = std::ldexp(values.uniform(), -static_cast<int>(j % 3) * 12);
    return T(re, std::ldexp(values.uniform(), -static_cast<int>(j % 4) * 10));
  };
  auto a = mostly_zero<T>(w, any), b = mostly_zero<T>(w, any);
  const auto short_a = filled_rows(a);
  for (const Op op : {Op::adjoint, Op::transpose})
    inner_products(op, a, b, [&](const Operand<T>& out, const Operand<T>& second) {
      const auto short_b = filled_rows(second);
      const auto product = exact_tsmttsm(op, short_a, short_b);
      REQUIRE(everywhere(w, w, [&](index_t i, index_t j) {
        double apart = 0, together = 0;
        for (index_t k = 0; k < filled; ++k) {
          const T x = short_a.at(k, i), y = short_b.at(k, j);
          apart += std::abs(x.real() * y.real()) + std::abs(x.imag() * y.imag());
          together += (std::abs(x.real()) + std::abs(x.imag())) * (std::abs(y.real()) + std::abs(y.imag()));
        }
        const auto bound = three_products_bound(static_cast<double>(filled), apart, together);
        const auto error = out.wide_at(i, j) - product.value[product.at(i, j)];
        return std::abs(static_cast<double>(error.real())) <= bound.re &&
               std::abs(static_cast<double>(error.imag())) <= bound.im;
      }));
    });
}

TEST_CASE("alpha = 0 gives beta C without reading A or B, as in BLAS", "[short]") {
  Operand<double> a(5, 2), b(5, 3), c(2, 3);  // all NaN
  c.fill([](index_t i, index_t j) { return static_cast<double>(i + j); });
  with_views([](auto va, auto vb, auto vc) { tsmttsm(Context{}, Op::transpose, 0.0, va, vb, 2.0, vc); }, a, b, c);
  CHECK(c.at(1, 2) == 6.0);
}

TEST_CASE("tsmttsm and gram refuse misuse by naming the argument", "[short]") {
  std::vector<double> memory(100, 1.0);
  const Context ctx;
  const HostView<double> a(memory.data(), 10, 2), b(memory.data() + 40, 10, 3), c(memory.data() + 80, 2, 3);
  const HostView<double> g(memory.data() + 80, 2, 2);
  expect_misuse([&] { tsmttsm(ctx, Op::none, 1.0, a, b, 0.0, c); }, {"tsmttsm", "op"});
  expect_misuse([&] { tsmttsm(ctx, Op::adjoint, 1.0, a, b.rows(0, 9), 0.0, c); }, {"B", "9 x 3", "10 x 3"});
  expect_misuse([&] { tsmttsm(ctx, Op::adjoint, 1.0, a, b, 0.0, g); }, {"C", "2 x 2", "2 x 3"});
  expect_misuse([&] { tsmttsm(ctx, Op::adjoint, 1.0, a, b, 0.0, HostView<double>(memory.data() + 4, 2, 3)); },
                {"C", "overlaps A"});
  expect_misuse([&] { gram(ctx, Op::none, 1.0, a, 0.0, g); }, {"gram", "op"});
  expect_misuse([&] { gram(ctx, Op::adjoint, 1.0, a, 0.0, c); }, {"C", "2 x 3", "2 x 2"});
  expect_misuse([&] { gram(ctx, Op::adjoint, 1.0, a, 0.0, HostView<double>(memory.data() + 16, 2, 2)); },
                {"C", "overlaps A"});
}

// How inner products are shaped and searched for, against numbers worked out by hand.

namespace {

InnerProblem product(DType type, index_t rows, index_t p, index_t q) {
  return {type, rows, p, q, false, 1, {p, 1, 0}, {q, 1, 0}};
}

const cuda::BlockLimits h100 = cuda::limits_of(cuda::typical_device("sm_90a"), Determinism::run_to_run);

}  // namespace

TEST_CASE("the side of 16 takes the factor that wastes less of it", "[short]") {
  CHECK_FALSE(cuda::inner_shape_of(product(DType::float64, 1000, 20, 8)).swap);  // 32 x 8, not 16 x 24
  CHECK(cuda::inner_shape_of(product(DType::float64, 1000, 8, 20)).swap);
  CHECK(cuda::inner_shape_of(product(DType::float64, 1000, 3, 5)).fold == 3);
}

TEST_CASE("the side of 64 does, too, unless 16 blocks of columns do not hold the other", "[short]") {
  const auto swaps = [](index_t p, index_t q) {
    return cuda::swap_for_warpgroups(cuda::inner_shape_of(product(DType::float32, 1000, p, q)), false);
  };
  CHECK(swaps(16, 64));  // 64 x 16, not 64 x 64
  CHECK_FALSE(swaps(64, 16));
  CHECK_FALSE(swaps(129, 16));  // 64 x 136 would be less than 192 x 16, but is too wide
}

TEST_CASE("a lane loads as many columns at once as rows and blocks of columns divide by", "[short]") {
  const cuda::TallLayout a = cuda::inner_shape_of(product(DType::float32, 1000, 24, 24)).a;
  CHECK(cuda::widest_vector(a, 1, 4, 8) == 4);
  CHECK(cuda::widest_vector(a, 1, 6, 8) == 2);
  CHECK(cuda::widest_vector(a, 1, 3, 8) == 1);
}

TEST_CASE("registers are those of sums, fragments and addresses", "[short]") {
  CHECK(cuda::inner_registers.float64.of(2, 4) == 64 + 32 + 64);
  CHECK(cuda::inner_registers.half.of(1, 1) == 4 + 2 + 48);
  CHECK(cuda::inner_registers.three.of(1, 2) == 48 + 48 + 4 + 56);
  CHECK(cuda::inner_registers.left_to_warpgroups(12) == 152);
}

TEST_CASE("tilings come cheapest first, and those of few rows meet in clusters", "[short]") {
  const auto tilings = cuda::inner_tilings(product(DType::float64, 1 << 24, 16, 16), h100);
  REQUIRE(tilings.size() > 1);
  for (std::size_t i = 1; i < tilings.size(); ++i) CHECK(tilings[i - 1].cost <= tilings[i].cost);
  CHECK_FALSE(tilings[0].brief);
  CHECK(tilings[0].most_stages == 2);  // memory binds
  CHECK(cuda::inner_tilings(product(DType::float64, 1 << 14, 16, 16), h100)[0].brief);
}

TEST_CASE("where memory wants few requests, a ring is as long as chunks are used soon", "[short]") {
  cuda::BlockLimits h200 = h100;
  h200.few_requests = true;
  const auto asked = [&](DType type, index_t w) {
    return cuda::inner_tilings(product(type, 1 << 24, w, w), h200)[0].requests;
  };
  CHECK(asked(DType::float64, 8).quick);
  CHECK(asked(DType::float64, 8).kib == 64);
  CHECK(asked(DType::float16, 16).kib == 76);
  CHECK(asked(DType::float32, 64).kib == 0);  // takes long to multiply: as many chunks as fit
  CHECK(cuda::inner_tilings(product(DType::float64, 1 << 24, 8, 8), h100)[0].requests.kib == 0);
}

// Where things lie in the shared memory of the inner products, against numbers worked out by hand.

TEST_CASE("an inner product of float64: barriers, a ring, and sums that take its place", "[short]") {
  InnerPolicy policy;
  policy.p = policy.pitch_a = 8, policy.q = policy.pitch_b = 8;
  policy.sub_rows = 32, policy.stages = 4;
  CHECK(policy.threads() == 32 * (8 + 1));
  CHECK(policy.stage_bytes() == 2 * 4 * (32 * 64 + 32));
  CHECK(policy.ring_offset(false) == 128);
  CHECK(policy.kept_bytes() == 8 * 32 * 4 * 8);
  CHECK(policy.shared_bytes() == 128 + 4 * 16640 + 64);
}

TEST_CASE("clusters send fragments of float16, which begin in float32 and are flushed", "[short]") {
  InnerPolicy policy;
  policy.type = DType::float16, policy.arithmetic = cuda::Arithmetic::half;
  policy.p = policy.pitch_a = 16, policy.q = policy.pitch_b = 8;
  policy.sub_rows = 32, policy.flush = 64, policy.cluster = 8;
  CHECK(policy.numbers() == 128);
  CHECK(policy.inbox_bytes() == 128 * 8 + 16);
  CHECK(policy.sums_offset(true) == 1280);
  CHECK(policy.ring_offset(true) == 1280 + 8 * 32 * 4 * 8);
}
