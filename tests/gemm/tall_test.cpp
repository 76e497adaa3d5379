// Tall operands on a GPU against exact answers: numbers that repeat every seven rows are summed by counting.
#include "tallskinny/gemm/device/convert.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/engine.hpp"

namespace {

constexpr index_t period = 7;
/// Small integers, different from column to column.
int number(index_t i, index_t j, int seed) { return static_cast<int>((i % period * (j + seed) + j * j) % 5) - 2; }

/// X(i, j) = number(i, j, seed) for n rows on the device; complex ones may have imaginary parts.
template <class T>
DeviceMatrix<T> numbers(const cuda::Stream& stream, index_t n, index_t p, int seed, int imaginary = 0) {
  DeviceMatrix<T> x(stream, n, p);
  const index_t block = std::min(n, period * 1024);
  std::vector<T> host(static_cast<std::size_t>(block * p));
  for (index_t i = 0; i < block; ++i)
    for (index_t j = 0; j < p; ++j)
      host[static_cast<std::size_t>(i * p + j)] = element<T>(number(i, j, seed), imaginary * number(i, j, 2 * seed));
  const auto bytes = [p](index_t rows) { return static_cast<std::size_t>(rows * p) * sizeof(T); };
  cuda::copy_bytes(stream, x.data(), host.data(), bytes(block));
  for (index_t done = block; done < n; done *= 2)
    cuda::copy_bytes(stream, x.data() + done * p, x.data(), bytes(std::min(done, n - done)));
  stream.synchronize();
  return x;
}

/// An element of numbers with imaginary parts, if T has them, or its conjugate.
template <class T>
std::complex<double> whole(index_t i, index_t j, int seed, int sign = 1) {
  return {static_cast<double>(number(i, j, seed)),
          is_complex<T> ? static_cast<double>(sign * number(i, j, 2 * seed)) : 0};
}

/// The sum over n rows of f(i), which has the period.
template <class F>
auto sum_of(index_t n, F f) {
  auto sum = 0.0 * f(0);
  for (index_t i = 0; i < period; ++i) sum += static_cast<double>(n / period + (i < n % period)) * f(i);
  return sum;
}

template <class R>
std::vector<R> fetched(const cuda::Stream& stream, const R* from, index_t count) {
  std::vector<R> host(static_cast<std::size_t>(count));
  cuda::copy_bytes(stream, host.data(), from, host.size() * sizeof(R));
  stream.synchronize();
  return host;
}

/// Checks that a p x q result is the product of the columns of number(., ., seed_a) and number(., ., seed_b), rounded.
template <class R>
void check_products(const cuda::Stream& stream, const DeviceMatrix<R>& c, index_t n, int seed_a, int seed_b) {
  const auto got = fetched(stream, c.data(), c.rows() * c.cols());
  CHECK(everywhere(c.rows(), c.cols(), [&](index_t i, index_t j) {
    const double want = sum_of(n, [&](index_t k) { return number(k, i, seed_a) * number(k, j, seed_b); });
    return std::abs(std::real(got[static_cast<std::size_t>(i * c.cols() + j)]) - want) <= eps<R> * std::abs(want);
  }));
}

template <class T>
void check_tall(index_t n, index_t p, index_t q) {
  using R = result_t<T>;
  CAPTURE(n, p, q);
  const Context ctx = device_context();
  const cuda::Stream& stream = ctx.stream;
  const auto a = numbers<T>(stream, n, p, 1);
  DeviceMatrix<R> c(stream, p, q), g(stream, p, p);
  gram(ctx, Op::adjoint, R{1}, a.view(), R{}, g.view());
  check_products(stream, g, n, 1, 1);
  DeviceMatrix<real_t<T>> norms(stream, 1, p);
  column_norms(ctx, a.view(), norms.view());
  const auto lengths = fetched(stream, norms.data(), p);
  CHECK(everywhere(1, p, [&](index_t, index_t j) {
    const double want = std::sqrt(sum_of(n, [&](index_t k) { return number(k, j, 1) * number(k, j, 1); }));
    return std::abs(lengths[static_cast<std::size_t>(j)] - want) <= 2 * eps<R> * want;
  }));
  const auto b = numbers<T>(stream, n, q, 2);
  tsmttsm(ctx, Op::adjoint, R{1}, a.view(), b.view(), R{}, c.view());
  check_products(stream, c, n, 1, 2);

  const auto s = numbers<R>(stream, p, q, 3);
  DeviceMatrix<R> y(stream, n, q);
  tsmm(ctx, Op::none, R{1}, a.view(), s.view(), R{}, y.view());
  const index_t few = std::min<index_t>(n, 100);
  for (const index_t first : {index_t{0}, n / 2, n - few}) {
    const auto rows = fetched(stream, y.data() + first * q, few * q);
    CHECK(everywhere(few, q, [&](index_t i, index_t j) {
      double want = 0;
      for (index_t k = 0; k < p; ++k) want += number(first + i, k, 1) * number(k, j, 3);
      return rows[static_cast<std::size_t>(i * q + j)] == R(static_cast<real_t<R>>(want));
    }));
  }
  if constexpr (std::is_same_v<T, R>) {  // W = V S - V S
    project_out(ctx, a.view(), s.view(), y.view(), c.view(), DeviceView<R>{});
    const auto zeros = fetched(stream, c.data(), p * q), last = fetched(stream, y.data() + (n - few) * q, few * q);
    CHECK(std::all_of(zeros.begin(), zeros.end(), [](R x) { return x == R{}; }));
    CHECK(std::all_of(last.begin(), last.end(), [](R x) { return x == R{}; }));
  }
}

/// op(X) S of a wide X by tsmm and, as the transposed of a column-major X^T, by tsm2r: exact.
template <class T>
void check_wide(index_t n, index_t p, index_t q) {
  using R = result_t<T>;
  CAPTURE(n, p, q);
  const Context ctx = device_context();
  const cuda::Stream& stream = ctx.stream;
  const auto x = numbers<T>(stream, n, p, 1, 1);
  const auto s = numbers<R>(stream, p, q, 2, 1);
  const auto narrow_s = numbers<T>(stream, p, q, 2, 1);
  DeviceMatrix<R> y(stream, n, q);
  const auto check = [&](int sign) {  // of the imaginary parts of X
    const index_t few = 250;
    for (const index_t first : {index_t{0}, n / 2, n - few}) {
      const auto rows = fetched(stream, y.data() + first * q, few * q);
      CHECK(everywhere(few, q, [&](index_t i, index_t j) {
        std::complex<double> sum = 0;
        for (index_t k = 0; k < p; ++k) sum += whole<T>(first + i, k, 1, sign) * whole<T>(k, j, 2);
        return rows[static_cast<std::size_t>(i * q + j)] == element<R>(sum.real(), sum.imag());
      }));
    }
  };
  tsmm(ctx, Op::none, R{1}, x.view(), s.view(), R{}, y.view());
  check(1);
  tsm2r(ctx, Op::none, R{1}, x.view(), narrow_s.view(), R{}, y.view());
  check(1);
  const DeviceView<const T, Layout::col_major> transposed(x.data(), p, n, p);
  tsm2r(ctx, Op::adjoint, R{1}, transposed, narrow_s.view(), R{}, y.view());
  check(-1);
}

/// op(A) B of a wide A, which lies `skipped` columns within a wider one: exact.
template <class T>
void check_wide_inner(Op op, index_t n, index_t p, index_t q, index_t skipped) {
  using R = result_t<T>;
  CAPTURE(n, p, q, skipped);
  const Context ctx = device_context();
  const cuda::Stream& stream = ctx.stream;
  const auto a = numbers<T>(stream, n, skipped + p, 1, 1), b = numbers<T>(stream, n, q, 2, 1);
  DeviceMatrix<R> c(stream, p, q);
  tsmttsm(ctx, op, R{1}, a.view().block(0, skipped, n, p), b.view(), R{}, c.view());
  const auto got = fetched(stream, c.data(), p * q);
  const int sign = op == Op::adjoint ? -1 : 1;
  CHECK(everywhere(p, q, [&](index_t i, index_t j) {
    const auto sum = sum_of(n, [&](index_t k) { return whole<T>(k, skipped + i, 1, sign) * whole<T>(k, j, 2); });
    return std::abs(got[static_cast<std::size_t>(i * q + j)] - element<R>(sum.real(), sum.imag())) <=
           2 * eps<R> * (std::abs(sum.real()) + std::abs(sum.imag()));
  }));
}

/// Y = D X by tsm2r of column-major D and X that are large enough to be turned into rows.
template <class T>
void check_columns(index_t n, index_t m, index_t q) {
  using R = result_t<T>;
  CAPTURE(n, m, q);
  const Context ctx = device_context();
  const auto a = numbers<T>(ctx.stream, n, m, 1), b = numbers<T>(ctx.stream, n, q, 2);
  DeviceMatrix<T, Layout::col_major> x(ctx.stream, n, q);
  convert(ctx, b.view(), x.view());
  DeviceMatrix<R> y(ctx.stream, m, q);
  const DeviceView<const T, Layout::col_major> d(a.data(), m, n, m);
  tsm2r(ctx, Op::none, R{1}, d, x.cview(), R{}, y.view());
  check_products(ctx.stream, y, n, 1, 2);
}

}  // namespace

TEMPLATE_TEST_CASE("products with a wide basis", "[sanitize][gpu]", TS_ALL_TYPES) {
  check_wide_inner<TestType>(Op::adjoint, 1501, 200, 1, 0);
  check_wide_inner<TestType>(Op::transpose, 1501, 512, 16, 8);
  check_wide_inner<TestType>(Op::adjoint, 1501, 200, 64, 16);
  check_wide_inner<TestType>(Op::adjoint, 1500, 193, 24, 3);  // off 16 bytes
}

TEMPLATE_TEST_CASE("products with a wide basis of many rows", "[gpu]", TS_ALL_TYPES) {
  index_t turn = 0;
  for (const index_t q : {1, 16, 40, 64})
    for (const index_t p : {200, 512}) {
      check_wide_inner<TestType>(turn % 2 == 0 ? Op::adjoint : Op::transpose, 9001, p, q, 8 * (turn % 3));
      ++turn;
    }
  check_wide_inner<TestType>(Op::adjoint, 70001, 512, 64, 0);
  check_wide_inner<TestType>(Op::transpose, 70001, 301, 40,
                             8);  // the last panel begins within the one before
}

TEMPLATE_TEST_CASE("a large column-major matrix times column-major blocks", "[gpu]", TS_ALL_TYPES) {
  for (const index_t q : {1, 2, 5, 8, 16}) check_columns<TestType>(4100, 16200, q);
}

TEMPLATE_TEST_CASE("a wide basis times blocks", "[sanitize][gpu]", TS_ALL_TYPES) {
  for (const index_t q : {1, 3, 17, 64}) check_wide<TestType>(500, 200, q);
  check_wide<TestType>(14003, 1040, 5);
}

TEMPLATE_TEST_CASE("a wide basis of more rows than all blocks take at once", "[gpu]", TS_ALL_TYPES) {
  for (const index_t q : {3, 40}) check_wide<TestType>(70001, 200, q);
}

TEMPLATE_TEST_CASE("a thousand and a million rows", "[gpu]", TS_ALL_TYPES) {
  for (const index_t n : {index_t{1000}, (index_t{1} << 20) + 7}) {
    check_tall<TestType>(n, 1, 1);
    check_tall<TestType>(n, 17, 5);
    check_tall<TestType>(n, 32, 32);
  }
}

TEMPLATE_TEST_CASE("more than 2^31 elements", "[large_gpu]", ::ts::float16, float) {
  check_tall<TestType>((index_t{1} << 27) + 9, 17, 3);
}
