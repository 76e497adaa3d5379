#include "tallskinny/io/hermitian.hpp"

#include "tallskinny/tests/io/support.hpp"

using io::first_asymmetry;
using io::Structure;
using Complex = std::complex<double>;

namespace {

/// The entries that are not zero, and those listed in `stored_zeros`.
CsrMatrix<Complex> sparse(const Table& t, const std::vector<std::pair<index_t, index_t>>& stored_zeros = {}) {
  return csr_by_rows<Complex>(t.rows, t.cols, [&](index_t i, auto add) {
    for (index_t j = 0; j < t.cols; ++j) {
      bool keep = t(i, j) != 0.0;
      for (const auto& [r, c] : stored_zeros) keep |= r == i && c == j;
      if (keep) add(j, t(i, j));
    }
  });
}
Matrix<Complex> dense(const Table& t) {
  return matrix_of<Complex>(t.rows, t.cols, [&](index_t i, index_t j) { return t(i, j); });
}

/// The first violation, found entry by entry.
std::optional<std::pair<index_t, index_t>> by_definition(const Table& t, Structure s) {
  for (index_t i = 0; i < t.rows; ++i)
    for (index_t j = i; j < t.cols; ++j) {
      const Complex image = s == Structure::hermitian   ? std::conj(t(j, i))
                            : s == Structure::symmetric ? t(j, i)
                                                        : -t(j, i);
      if (t(i, j) != image) return std::pair(i, j);
    }
  return std::nullopt;
}

}  // namespace

TEST_CASE("the first entry that breaks a structure is found, sparse and dense") {
  std::mt19937 random(7);
  for (const Structure s : {Structure::symmetric, Structure::hermitian, Structure::skew_symmetric})
    for (int trial = 0; trial < 300; ++trial) {
      const index_t n = 1 + static_cast<index_t>(random() % 9);
      Table t(n, n);
      for (index_t i = 0; i < n; ++i)
        for (index_t j = i; j < n; ++j) {
          if (random() % 3 == 0) continue;
          Complex v(static_cast<double>(random() % 7), static_cast<double>(random() % 5) - 2.0);
          if (i == j && s == Structure::hermitian) v = v.real();
          if (i == j && s == Structure::skew_symmetric) v = 0;
          t(i, j) = v;
          t(j, i) = s == Structure::hermitian ? std::conj(v) : s == Structure::symmetric ? v : -v;
        }
      for (int breaks = trial % 3; breaks > 0; --breaks)
        t(static_cast<index_t>(random() % static_cast<unsigned>(n)),
          static_cast<index_t>(random() % static_cast<unsigned>(n))) = static_cast<double>(random() % 3);
      const auto expected = by_definition(t, s);
      for (const auto& found : {first_asymmetry(sparse(t).view(), s), first_asymmetry(dense(t).cview(), s)}) {
        REQUIRE(found.has_value() == expected.has_value());
        if (found) CHECK(std::pair(found->row, found->col) == *expected);
      }
    }
}

TEST_CASE("stored zeros need no partner, rectangles and NaN are never symmetric") {
  Table t(3, 3, {1, 0, 2, 0, 0, 0, 2, 0, 1});
  CHECK(io::is_hermitian(sparse(t, {{0, 1}, {2, 1}}).view()));
  t(1, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(io::is_hermitian(sparse(t).view()));
  CHECK_FALSE(io::is_hermitian(dense(t).cview()));
  CHECK_FALSE(io::is_hermitian(sparse(Table(2, 3)).view()));
  CHECK(io::is_hermitian(sparse(Table(0, 0)).view()));
  CHECK(io::is_hermitian(dense(Table(0, 0)).cview()));
}

TEST_CASE("a large dense matrix is compared in blocks") {
  Table t(200, 200);
  for (index_t i = 0; i < 200; ++i)
    for (index_t j = 0; j < 200; ++j) t(i, j) = Complex(static_cast<double>(i * j), static_cast<double>(i - j));
  CHECK(io::is_hermitian(dense(t).cview()));
  t(190, 70) += 1;
  t(71, 70) += 1;
  const auto found = first_asymmetry(dense(t).cview(), Structure::hermitian);
  REQUIRE(found);
  CHECK(found->row == 70);
  CHECK(found->col == 71);
}

TEST_CASE("16-bit matrices are compared as numbers") {
  Matrix<float16> a(2, 2);
  a(0, 0) = a(1, 1) = to_float16(1.0f);
  a(0, 1) = float16::from_bits(0x0000), a(1, 0) = float16::from_bits(0x8000);  // 0 and -0
  CHECK(io::is_hermitian(a.cview()));
  a(1, 0) = to_float16(0.5f);
  CHECK_FALSE(io::is_hermitian(a.cview()));
}
