#include "tallskinny/solvers/setup/hermitian_part.hpp"

#include "tallskinny/gemm/core/sparse_of.hpp"
#include "tallskinny/solvers/random.hpp"
#include "tallskinny/solvers/types.hpp"
#include "tallskinny/tests/support/test.hpp"

using solvers::AnyMatrix, solvers::AnyView, solvers::HermitianRules, solvers::SkewPart;
using Complex = std::complex<double>;

namespace {

/// Symmetric with entries from -1 to 1.
Matrix<double> symmetric(index_t n) {
  const solvers::Random random(3);
  Matrix<double> a(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = i; j < n; ++j) a(i, j) = a(j, i) = std::tanh(random.normal(static_cast<std::uint64_t>(i * n + j)));
  return a;
}

SkewPart part_of(const AnyView<double>& a, DType type = DType::float64, HermitianRules rules = {}) {
  return solvers::skew_part<double>(Context{}, "a.npy", type, a, rules);
}

std::string refused(const AnyView<double>& a, DType type = DType::float64) {
  return message_of([&] { (void)part_of(a, type); });
}

}  // namespace

TEST_CASE("rounding explains half of the digits of a type, by the rows of an entry") {
  auto a = symmetric(40);
  CHECK(part_of(a).is_zero());
  a(3, 7) += 1e-9;
  const SkewPart found = part_of(a);
  CHECK(std::abs(found.largest - 1e-9) < 1e-10);
  CHECK(std::abs(found.norm - 1e-9 / std::sqrt(2)) < allowed::short_sum);
  a(3, 7) += 1e-6;
  CHECK(refused(a).find("a.npy is not symmetric: entry (3, 7) is") == 0);
  CHECK(part_of(a, DType::float32).largest > 1e-6);
  a(3, 7) += 1e-2;
  CHECK(!refused(a, DType::float32).empty());
  CHECK(part_of(a, DType::float64, {true}).largest > 1e-2);  // by name

  // A large entry far away does not make others pass, in a sparse matrix.
  auto penalty = symmetric(40);
  penalty(20, 20) = 1e30;
  CHECK(part_of(sparse_of<double>(penalty.cview())).is_zero());
  penalty(3, 7) *= 1.01;
  CHECK(!refused(sparse_of<double>(penalty.cview())).empty());
  // Rows that cancel in a product hold nothing but rounding of the largest entry.
  auto product = symmetric(40);
  for (index_t j = 0; j < 40; ++j) product(5, j) = product(j, 5) = 0;
  product(5, 6) = 1e-17, product(6, 5) = -3e-17;
  CHECK(part_of(product).largest > 0);
}

TEST_CASE("every entry is compared with its image, on any number of threads") {
  constexpr index_t n = 150;  // of several tiles
  for (const int threads : {1, 2, 5}) {
    const Context ctx{.threads = threads};
    const auto part_on = [&](const AnyView<double>& a) {
      return solvers::skew_part<double>(ctx, "a", DType::float64, a, {true});
    };
    auto a = symmetric(n);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < i; ++j)
        if ((i * j + i + j) % 3 == 0) a(i, j) = a(j, i) = 0;  // no entry of a sparse matrix
    CHECK(part_on(a).is_zero());
    CHECK(part_on(sparse_of<double>(a.cview())).is_zero());
    for (const auto& [i, j] : {std::pair<index_t, index_t>{0, 1}, {63, 64}, {64, 63}, {149, 2}, {75, 76}, {148, 149}}) {
      INFO("entry " << i << ", " << j << " on " << threads << " threads");
      auto other = Matrix<double>::copy_of(a.cview());
      other(i, j) += 1e-9;
      CHECK(part_on(other).largest > 0);
      CHECK(part_on(sparse_of<double>(other.cview())).largest > 0);
      other(i, j) = 0;
      CHECK(part_on(sparse_of<double>(other.cview())).one_sided == (a(i, j) != 0));
      other(i, j) = other(j, i) = std::numeric_limits<double>::infinity();
      CHECK_THROWS_AS(part_on(other), Error);
      CHECK_THROWS_AS(part_on(sparse_of<double>(other.cview())), Error);
    }
  }
}

TEST_CASE("extreme numbers are compared as others are") {
  for (const double scale : {1e-300, 1e300, std::numeric_limits<double>::max()}) {
    CAPTURE(scale);
    auto a = Matrix<double>::zeros(3, 3);
    a(0, 0) = scale, a(0, 1) = scale, a(1, 0) = scale * (1 - 1e-12);
    CHECK(part_of(a).largest > 0);
    AnyMatrix<double> taken = Matrix<double>::copy_of(a.cview());
    solvers::take_hermitian_part<double>(taken);
    CHECK(std::isfinite(std::get<1>(taken)(0, 1)));
    a(1, 0) = scale * 0.99;
    CHECK(!refused(a).empty());
  }
}

TEST_CASE("NaN and infinity are named before symmetry is looked at") {
  auto a = symmetric(5);
  a(1, 2) = a(2, 1) = std::nan("");
  CHECK(refused(a) == "a.npy has NaN at row 1, column 2 (counted from 0)");
  a(1, 2) = std::numeric_limits<double>::infinity();
  CHECK(mentions(refused(sparse_of<double>(a.cview())), "has Inf at row 1, column 2"));
}

TEST_CASE("the Hermitian part of dense and of sparse matrices, with one pattern and with two") {
  Matrix<Complex> a(30, 30);
  const solvers::Random random(5);
  for (index_t i = 0; i < 900; ++i)
    a.data()[i] = {random.normal(static_cast<std::uint64_t>(i)), random.normal(static_cast<std::uint64_t>(i + 900))};
  for (const bool one_sided : {false, true}) {
    if (one_sided) a(4, 9) = a(11, 2) = a(29, 0) = 0;
    AnyMatrix<Complex> dense = Matrix<Complex>::copy_of(a.cview()), sparse = sparse_of<Complex>(a.cview());
    const auto part = [](const AnyMatrix<Complex>& m) {
      return solvers::skew_part<Complex>(Context{}, "a", DType::complex128, m, {true});
    };
    CHECK(part(sparse).one_sided == one_sided);
    CHECK(std::abs(part(sparse).norm - part(dense).norm) < allowed::long_sum);
    solvers::take_hermitian_part<Complex>(dense);
    solvers::take_hermitian_part<Complex>(sparse);
    CHECK(part(dense).is_zero());
    CHECK(part(sparse).is_zero());
    const auto& taken = std::get<CsrMatrix<Complex>>(sparse);
    CHECK(taken.nonzeros() == 900);
    for (index_t i = 0; i < 900; ++i) {
      const Complex here = a(i / 30, i % 30), image = std::conj(a(i % 30, i / 30));
      CHECK(std::abs(std::get<1>(dense).data()[i] - (here + image) / 2.0) < allowed::short_sum);
      CHECK(std::get<1>(dense).data()[i] == taken.values[static_cast<std::size_t>(i)]);
    }
  }
}
