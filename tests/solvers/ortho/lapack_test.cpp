#include "tallskinny/solvers/ortho/lapack.hpp"

#include "tallskinny/tests/solvers/ortho/blocks.hpp"

using Complex = std::complex<double>;

namespace {

std::vector<index_t> all_of(const std::vector<double>& values) {
  std::vector<index_t> all(values.size());
  std::iota(all.begin(), all.end(), index_t{0});
  return all;
}

/// Random Hermitian, n x n.
template <class T>
Matrix<T> random_hermitian(index_t n) {
  std::uint64_t state = 1;
  const auto next = [&] {
    return static_cast<double>((state = state * 6364136223846793005u + 1) >> 40) * 0x1p-24 - 0.5;
  };
  Matrix<T> a(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j <= i; ++j) {
      const double re = next();
      a(i, j) = test::element<T>(re, i == j ? 0 : next());
      a(j, i) = conjugate(a(i, j));
    }
  return a;
}

/// Values from 0 to 1 of which each has 20 copies, turned by a random reflection.
template <class T>
Matrix<T> degenerate(index_t n) {
  const auto random = random_hermitian<T>(n);
  std::vector<T> v(at(n));
  double squares = 0;
  for (index_t i = 0; i < n; ++i) v[at(i)] = random(i, 0), squares += std::norm(v[at(i)]);
  const auto value = [&](index_t i) { return static_cast<double>(i / 20) / static_cast<double>(n / 20); };
  double middle = 0;
  for (index_t i = 0; i < n; ++i) middle += value(i) * std::norm(v[at(i)]);
  return matrix_of<T>(n, n, [&](index_t i, index_t j) {  // (I - 2 v v^H / v^H v) D (I - 2 v v^H / v^H v)
    const double factor = (4 * middle / squares - 2 * (value(i) + value(j))) / squares;
    return factor * v[at(i)] * conjugate(v[at(j)]) + (i == j ? T(value(i)) : T{});
  });
}

/// Checks pairs: A X = X Theta, X^H X = I.
template <class T>
void check_pairs(const Matrix<T>& a, const ortho::HermitianPairs<T>& pairs) {
  const index_t n = a.rows(), k = pairs.vectors.cols();
  REQUIRE(k == static_cast<index_t>(pairs.chosen.size()));
  const double norm = std::max(std::abs(pairs.values.front()), std::abs(pairs.values.back()));
  double off = 0, loss = 0;
  for (index_t c = 0; c < k; ++c) {
    for (index_t i = 0; i < n; ++i) {
      T sum = -pairs.values[at(pairs.chosen[at(c)])] * pairs.vectors(i, c);
      for (index_t j = 0; j < n; ++j) sum += a(i, j) * pairs.vectors(j, c);
      off = std::max(off, std::abs(sum));
    }
    for (index_t b = 0; b <= c; ++b) {
      T sum = b == c ? T(-1) : T{};
      for (index_t i = 0; i < n; ++i) sum += conjugate(pairs.vectors(i, b)) * pairs.vectors(i, c);
      loss = std::max(loss, std::abs(sum));
    }
  }
  CHECK(off <= test::product_bound<T>(static_cast<double>(n), norm));
  CHECK(loss <= test::product_bound<T>(static_cast<double>(n), 1));
}

}  // namespace

// LAPACK by name, and the library's own way at sizes where it does not take LAPACK.
TEMPLATE_TEST_CASE("LAPACK and the own way give the same pairs of Hermitian matrices", "[short]", double, Complex) {
  const index_t n = GENERATE(index_t{1}, index_t{2}, index_t{120});
  const bool copies = GENERATE(false, true);
  const double size = GENERATE(1.0, 0x1p500, 0x1p-500);
  CAPTURE(n, copies, size);
  auto a = copies && n > 20 ? degenerate<TestType>(n) : random_hermitian<TestType>(n);
  const auto ends = [](const std::vector<double>& values) {
    const auto last = static_cast<index_t>(values.size()) - 1;
    return last < 3 ? std::vector<index_t>{last} : std::vector<index_t>{last, 0, 1, last - 1};  // in no order
  };
  ortho::HermitianPairs<TestType> all, few;
  auto scaled = Matrix<TestType>::copy_of(a.cview());
  for (index_t i = 0; i < n * n; ++i) scaled.data()[i] *= size;
  if (!ortho::lapack_hermitian<TestType>(Context{}, scaled.cview(), n, all_of, all)) return;  // the machine has none
  REQUIRE(ortho::lapack_hermitian<TestType>(Context{}, scaled.cview(), 1, ends, few));
  const auto own = ortho::hermitian_eigen<TestType>(a.cview());
  const double bound =
      test::product_bound<TestType>(static_cast<double>(n), std::max(-own.values.front(), own.values.back()));
  for (auto* pairs : {&all, &few}) {
    for (double& value : pairs->values) value /= size;
    check_pairs(a, *pairs);
    for (index_t i = 0; i < n; ++i) CHECK(std::abs(pairs->values[at(i)] - own.values[at(i)]) <= bound);
  }
  CHECK(all.chosen == all_of(own.values));
  CHECK(few.chosen == ends(own.values));
}

TEMPLATE_TEST_CASE("pairs of many copies repeat, and where threads do not pay, by any number of them", "[short]",
                   double, Complex) {
  const index_t n = GENERATE(index_t{300}, ortho::threaded_rows + 8);
  CAPTURE(n);
  const auto a = degenerate<TestType>(n);
  Context one, three;
  one.threads = 1, three.threads = 3;
  const auto pairs = ortho::hermitian_pairs<TestType>(three, a.cview(), n, all_of);
  const auto again = ortho::hermitian_pairs<TestType>(n < ortho::threaded_rows ? one : three, a.cview(), n, all_of);
  check_pairs(a, pairs);
  CHECK(pairs.values == again.values);
  CHECK(std::equal(pairs.vectors.data(), pairs.vectors.data() + n * n, again.vectors.data()));
  for (index_t i = 0; i < n; ++i)  // 20 copies each, of a norm of 1
    CHECK(std::abs(pairs.values[at(i)] - static_cast<double>(i / 20) / static_cast<double>(n / 20)) <=
          test::product_bound<TestType>(static_cast<double>(n), 1));
}

TEST_CASE("pairs of tridiagonal matrices: clusters, zeros and values that are told apart", "[short]") {
  const index_t n = GENERATE(index_t{1}, index_t{2}, index_t{31}, index_t{70}, index_t{500});
  const int kind = GENERATE(0, 1, 2, 3, 4);
  CAPTURE(n, kind);
  auto a = Matrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(i);
    const double diagonals[] = {2, std::abs(x - static_cast<double>(n / 2)), 0, x, std::pow(10, -20 * x / 500)};
    const double beside[] = {-1, 1, 0, 1e-9 * static_cast<double>(i % 3), 1e-3 * diagonals[4]};
    a(i, i) = diagonals[kind];
    if (i + 1 < n) a(i, i + 1) = a(i + 1, i) = beside[kind];
  }
  ortho::HermitianPairs<double> pairs;
  if (!ortho::lapack_hermitian<double>(Context{}, a.cview(), n, all_of, pairs)) return;  // the machine has none
  CHECK(std::is_sorted(pairs.values.begin(), pairs.values.end()));
  check_pairs(a, pairs);
}

TEST_CASE("LAPACK is given neither empty matrices nor such as are not finite", "[short]") {
  ortho::HermitianPairs<double> none;
  CHECK_FALSE(ortho::lapack_hermitian<double>(Context{}, Matrix<double>(0, 0).cview(), 0, all_of, none));
  auto a = random_hermitian<double>(150);
  a(140, 3) = std::numeric_limits<double>::quiet_NaN();
  for (const double value : ortho::hermitian_eigen<double>(a.cview()).values) CHECK(std::isnan(value));
}

TEMPLATE_TEST_CASE("the Schur form of more rows than the own way takes", "[short]", double, Complex) {
  const index_t n = GENERATE(index_t{40}, index_t{150});
  auto a = random_hermitian<TestType>(n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < i; ++j) a(i, j) *= 0.25;  // no longer normal
  const auto form = ortho::schur_form<TestType>(a.cview());
  REQUIRE(form.converged);
  auto t = Matrix<TestType>::copy_of(form.t.cview());
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < i; ++j)
      if (is_complex<TestType> || j + 1 < i) t(i, j) = 0;
  const auto adjoint = [](const Matrix<TestType>& x) {
    return matrix_of<TestType>(x.cols(), x.rows(), [&](index_t i, index_t j) { return conjugate(x(j, i)); });
  };
  const auto of_u = ortho::product<TestType>(adjoint(form.u).cview(), form.u.cview());
  const auto ut = ortho::product<TestType>(form.u.cview(), t.cview());
  const auto back = ortho::product<TestType>(ut.cview(), adjoint(form.u).cview());
  double off = 0, loss = 0, norm = 0;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      off += std::norm(back(i, j) - a(i, j)), norm += std::norm(a(i, j));
      loss = std::max(loss, std::abs(of_u(i, j) - (i == j ? TestType(1) : TestType{})));
      if (!is_complex<TestType> && i == j + 1 && j > 0) CHECK((t(i, j) == TestType{} || t(j, j - 1) == TestType{}));
    }
  CHECK(std::sqrt(off) <= test::product_bound<TestType>(static_cast<double>(n), std::sqrt(norm)));
  CHECK(loss <= test::product_bound<TestType>(static_cast<double>(n), 1));
}
