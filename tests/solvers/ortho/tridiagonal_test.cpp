#include "tallskinny/solvers/ortho/tridiagonal.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/solvers/types.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using Complex = std::complex<double>;

namespace {

Context with_threads(int threads) {
  Context ctx;
  ctx.threads = threads;
  return ctx;
}

/// A Hermitian matrix with elements of order one, no two of which have anything to do with each other.
template <class T>
Matrix<T> some_hermitian(index_t n) {
  std::uint64_t state = 7;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-52 - 1;
  };
  Matrix<T> a(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j <= i; ++j) {
      if constexpr (is_complex<T>)
        a(i, j) = T(next(), i == j ? 0 : next());
      else
        a(i, j) = next();
      a(j, i) = conjugate(a(i, j));
    }
  return a;
}

template <class T>
Matrix<T> with_spare(const Matrix<T>& a) {
  Matrix<T> b(a.rows() + spare_elements(1), a.cols());
  std::copy_n(a.data(), a.rows() * a.cols(), b.data());
  return b;
}

}  // namespace

// Below and beyond a panel, a block of reflectors, a strip of rows.
TEMPLATE_TEST_CASE("A Q = Q T with the bits of one thread", "[short]", double, Complex) {
  if (!ortho::has_tridiagonal()) return;
  const index_t n = GENERATE(index_t{1}, index_t{2}, index_t{33}, index_t{65}, index_t{300});
  CAPTURE(n);
  const auto a = some_hermitian<TestType>(n);
  std::vector<Matrix<TestType>> q;
  std::vector<ortho::Tridiagonal> t;
  for (const int threads : {1, 2, 5}) {
    const auto ctx = with_threads(threads);
    auto work = with_spare(a);
    const auto reduced = ortho::reduce<TestType>(ctx, work.view().rows(0, n));
    auto& x = q.emplace_back(n + spare_elements(1), n);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) x(i, j) = i == j ? 1 : 0;
    ortho::turn_back<TestType>(ctx, reduced, x.view().rows(0, n));
    t.push_back(reduced.t);
    CHECK(std::equal(x.data(), x.data() + n * n, q[0].data()));
    CHECK(t.back().d == t[0].d);
  }
  double off = 0;
  for (index_t c = 0; c < n; ++c)  // row c of x: column c of Q
    for (index_t i = 0; i < n; ++i) {
      TestType sum = -t[0].d[at(c)] * q[0](c, i);
      if (c > 0) sum -= t[0].e[at(c - 1)] * q[0](c - 1, i);
      if (c + 1 < n) sum -= t[0].e[at(c)] * q[0](c + 1, i);
      for (index_t j = 0; j < n; ++j) sum += a(i, j) * q[0](c, j);
      off = std::max(off, std::abs(sum));
    }
  CHECK(off <= test::product_bound<TestType>(static_cast<double>(n), 2 * std::sqrt(static_cast<double>(n))));
}

TEST_CASE("divide and conquer: clusters, zeros and values that are told apart, by any number of threads", "[short]") {
  if (!ortho::has_tridiagonal()) return;
  const index_t n = GENERATE(index_t{1}, index_t{2}, index_t{31}, index_t{70}, index_t{500});
  const int kind = GENERATE(0, 1, 2, 3);
  CAPTURE(n, kind);
  ortho::Tridiagonal t{std::vector<double>(at(n)), std::vector<double>(at(n))};
  for (index_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(i);
    t.d[at(i)] = kind == 0 ? 2 : kind == 1 ? std::abs(x - static_cast<double>(n / 2)) : kind == 2 ? 0 : x;
    t.e[at(i)] = kind == 0 ? -1 : kind == 1 ? 1 : kind == 2 ? 0 : 1e-9 * static_cast<double>(i % 3);
  }
  std::vector<double> values, again;
  Matrix<double> z, z_again;
  REQUIRE(ortho::divide_and_conquer(with_threads(1), t, values, z));
  REQUIRE(ortho::divide_and_conquer(with_threads(4), t, again, z_again));
  CHECK(values == again);
  CHECK(std::equal(z.data(), z.data() + n * n, z_again.data()));
  CHECK(std::is_sorted(values.begin(), values.end()));
  double off = 0, loss = 0;
  for (index_t c = 0; c < n; ++c) {
    for (index_t i = 0; i < n; ++i) {
      double r = (t.d[at(i)] - values[at(c)]) * z(c, i);
      if (i > 0) r += t.e[at(i - 1)] * z(c, i - 1);
      if (i + 1 < n) r += t.e[at(i)] * z(c, i + 1);
      off = std::max(off, std::abs(r));
    }
    for (index_t b = 0; b <= c; ++b) {
      double dot = b == c ? -1 : 0;
      for (index_t i = 0; i < n; ++i) dot += z(b, i) * z(c, i);
      loss = std::max(loss, std::abs(dot));
    }
  }
  const double norm = std::max(1.0, std::max(std::abs(values.front()), std::abs(values.back())));
  CHECK(off <= test::product_bound<double>(static_cast<double>(n), norm));
  CHECK(loss <= test::product_bound<double>(static_cast<double>(n), 1));
}
