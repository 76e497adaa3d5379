// The bits of the fast path do not depend on the number of threads, and NaN and infinity stay where they
// belong.
#include <cstring>
#include <limits>

#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/engine.hpp"

using namespace ts;
using namespace ts::test;

namespace {

template <class T>
std::vector<unsigned char> bits(const Strided<T>& v) {
  std::vector<unsigned char> all(static_cast<std::size_t>(v.rows * v.cols) * sizeof(T));
  unsigned char* to = all.data();
  for (index_t i = 0; i < v.rows; ++i)
    for (index_t j = 0; j < v.cols; ++j, to += sizeof(T)) std::memcpy(to, &v(i, j), sizeof(T));
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("products over rows have the same bits for 1 to 8 threads", "", TS_ALL_TYPES) {
  using T = TestType;
  using C = result_t<T>;
  Values random(3);
  for (const index_t p : {2, 7, 40}) {
    const index_t n = 40001;
    Operand<T> a(n, p, odd_forms[0], random), b(n, 5, odd_forms[0], random);
    std::vector<unsigned char> one, one_gram;
    for (int count = 1; count <= 8; ++count) {
      Operand<C> c(p, 5, odd_forms[0], random), g(p, p, odd_forms[0], random);
      detail::tsmttsm<T>(fast_context(Simd::best, count), Op::adjoint, C(1), a.cview(), b.cview(), C(0), c.view());
      detail::gram<T>(fast_context(Simd::best, count), Op::adjoint, C(1), a.cview(), C(0), g.view());
      if (count == 1) one = bits(c.view()), one_gram = bits(g.view());
      CHECK(bits(c.view()) == one);
      CHECK(bits(g.view()) == one_gram);
    }
  }
}

TEMPLATE_TEST_CASE("fused steps and tall results have the same bits for 1 to 8 threads", "", TS_RESULT_TYPES) {
  using T = TestType;
  const index_t n = 20011, m = 24, b = 4;
  std::vector<unsigned char> one;
  for (int count = 1; count <= 8; ++count) {
    Values random(5);
    Operand<T> v(n, m, odd_forms[0], random), s(m, b, odd_forms[0], random);
    Operand<T> w(n, b, odd_forms[0], random), next(m, b, odd_forms[0], random);
    Operand<T> g(b, b, odd_forms[0], random), square(m, m, odd_forms[0], random);
    detail::project_out<T>(fast_context(Simd::best, count), v.cview(), s.cview(), w.view(), next.view(), g.view());
    detail::tsmm_in_place<T>(fast_context(Simd::best, count), Op::none, T(1), v.view(), square.cview());
    auto all = bits(w.view());
    for (const auto& part : {bits(next.view()), bits(g.view()), bits(v.view())})
      all.insert(all.end(), part.begin(), part.end());
    if (count == 1) one = all;
    CHECK(all == one);
  }
}

TEMPLATE_TEST_CASE("a NaN or infinity reaches its own row or column and nothing else", "", TS_ALL_TYPES) {
  using T = TestType;
  using C = result_t<T>;
  Values random(9);
  const double inf = std::numeric_limits<double>::infinity();
  for (const Simd simd : simd_levels())
    for (const index_t p : {1, 2, 3, 4, 7, 8, 12, 20})
      for (const double bad : {static_cast<double>(NAN), inf}) {
        const index_t n = 97, row = 41, col = p / 2;
        INFO("simd " << static_cast<int>(simd) << ", width " << p << ", value " << bad);
        Operand<T> x(n, p, odd_forms[0], random), z(n, p, odd_forms[0], random);
        x.view()(row, col) = element<T>(bad, 0);
        Operand<C> s(p, p, odd_forms[0], random), y(n, p, odd_forms[0], random);
        detail::tsmm<T>(fast_context(simd), Op::none, C(1), x.cview(), s.cview(), C(0), y.view());
        Operand<C> c(p, p, odd_forms[0], random);
        detail::tsmttsm<T>(fast_context(simd), Op::transpose, C(1), x.cview(), z.cview(), C(0), c.view());
        bool right = true;
        for (index_t i = 0; i < n; ++i)
          for (index_t j = 0; j < p; ++j)
            right = right && std::isfinite(std::abs(to_wide<C>(y.view()(i, j)))) == (i != row);
        CHECK(right);
        right = true;
        for (index_t i = 0; i < p; ++i)
          for (index_t j = 0; j < p; ++j)
            right = right && std::isfinite(std::abs(to_wide<C>(c.view()(i, j)))) == (i != col);
        CHECK(right);
      }
}

TEST_CASE("beta = 0 does not read what it overwrites, and large results are streamed whole") {
  // 12 MB: past the size from which results bypass the caches, with rows that straddle cache lines.
  const index_t n = 500'000;
  std::vector<double> x(static_cast<std::size_t>(3 * n)), y(static_cast<std::size_t>(3 * n) + 2, 7.0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 1000);
  std::fill(y.begin() + 1, y.end() - 1, static_cast<double>(NAN));
  const std::vector<double> s = {1, 0, 0, 0, 2, 0, 0, 0, 4};
  tsmm(Context{}, Op::none, 1.0, HostView<const double>(x.data(), n, 3), HostView<const double>(s.data(), 3, 3), 0.0,
       HostView<double>(y.data() + 1, n, 3));
  bool right = y.front() == 7.0 && y.back() == 7.0;
  for (std::size_t i = 0; i < x.size(); ++i) right = right && y[i + 1] == x[i] * static_cast<double>(1 << (i % 3));
  CHECK(right);
}

TEST_CASE("float32 sums over many rows are as good as float64 sums of float32 blocks") {
  const index_t n = 3'000'000;
  std::vector<float> a(static_cast<std::size_t>(n), 0.1f);
  float c = 0;
  gram(Context{}, Op::transpose, 1.0f, HostView<const float>(a.data(), n, 1), 0.0f, HostView<float>(&c, 1, 1));
  const double exact = static_cast<double>(n) * (static_cast<double>(0.1f) * static_cast<double>(0.1f));
  // 128 terms to a float32 sum at most: the error of the whole is that of the blocks.
  CHECK(std::abs(static_cast<double>(c) - exact) <= 128 * eps<float> * exact);
}

TEST_CASE("instructions that are asked for and missing are an error") {
  const auto has = simd_levels();
  const double x = 2;
  double c = 0;
  const auto run = [&](Simd simd) {
    gram(fast_context(simd), Op::transpose, 1.0, HostView<const double>(&x, 1, 1), 0.0, HostView<double>(&c, 1, 1));
  };
  for (const Simd simd : {Simd::sse2, Simd::avx2, Simd::avx512}) {
    c = 0;
    if (std::find(has.begin(), has.end(), simd) != has.end()) {
      run(simd);
      CHECK(c == 4.0);
    } else {
      CHECK_THROWS_AS(run(simd), Error);
    }
  }
  CHECK_THROWS_AS(run(static_cast<Simd>(99)), Error);
}
