// Block Gram-Schmidt on matrices that tell its variants apart.
#include "tallskinny/tests/solvers/ortho/blocks.hpp"

namespace {

constexpr index_t n = 1000, p = 100, s = 5;

/// diag(10^0 .. 10^to) W^H of a random orthonormal W
Matrix<double> graded_square(index_t size, double to, std::uint64_t seed) {
  const auto w = test::orthonormal_block<double>(size, size, seed);
  return matrix_of<double>(size, size, [&](index_t i, index_t j) {
    return std::pow(10.0, to * static_cast<double>(i) / static_cast<double>(size - 1)) * w(j, i);
  });
}

/// Groups of ten columns, each with singular values 1 .. 10^(t/2), glued by a factor of the same.
Matrix<double> glued(int t) {
  auto a = test::graded_block<double>(n, p, 0, t / 2.0, 2);
  const auto glue = graded_square(2 * s, t / 2.0, 30);
  for (index_t j = 0; j < p; j += 2 * s) tsmm_in_place(Context{}, Op::none, 1.0, a.view().cols(j, 2 * s), glue.cview());
  return a;
}

/// [1 .. 1; mu I; 0]
Matrix<double> laeuchli(double mu) {
  auto a = Matrix<double>::zeros(n, p);
  for (index_t j = 0; j < p; ++j) a(0, j) = 1, a(j + 1, j) = mu;
  return a;
}

/// v, D v, .., D^(power-1) v for p / power random v and D = diag(0.1 .. 1)
Matrix<double> monomial(index_t power) {
  const index_t starts = p / power;
  const solvers::Random random(4);
  Matrix<double> a(n, p);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < starts; ++j) {
      double v = random.uniform(static_cast<std::uint64_t>(i * starts + j)) / 50;
      for (index_t k = 0; k < power; ++k) {
        a(i, k + j * power) = v;
        v *= 0.1 + 0.9 * static_cast<double>(i) / (n - 1);
      }
    }
  return a;
}

/// Each group of ten columns is the one before it plus a matrix of norm 1 and condition 10^-c.
Matrix<double> piled(int c) {
  Matrix<double> a(n, p);
  for (index_t j = 0; j < p; j += 2 * s) {
    const auto piece = test::graded_block<double>(n, 2 * s, 0, j == 0 ? 4 : c, static_cast<std::uint64_t>(100 + j));
    for (index_t i = 0; i < n; ++i)
      for (index_t k = 0; k < 2 * s; ++k) a(i, j + k) = piece(i, k) + (j == 0 ? 0 : a(i, j + k - 2 * s));
  }
  return a;
}

struct HardMatrix {
  std::string name;
  double condition;  ///< 0: it has no full rank
  Matrix<double> x;
};

/// Twelve matrices of 1000 x 100 for blocks of 5: "default" (graded singular values), "glued" and "piled"
/// (columns of ten that are nearly dependent on their neighbours), Laeuchli's [1; mu I], and monomial bases
/// of Krylov spaces. Source of the families: Carson, Lund, Rozloznik, Thomas 2022.
std::vector<HardMatrix> hard_matrices() {
  std::vector<HardMatrix> all;
  for (const int t : {4, 8, 12})
    all.push_back({"default 1e" + std::to_string(t), std::pow(10.0, t), test::graded_block<double>(n, p, 0, -t, 1)});
  all.push_back({"glued t=8", 2e7, glued(8)});
  all.push_back({"glued t=12", 1e11, glued(12)});
  for (const double mu : {1e-5, 1e-7, 1e-11}) all.push_back({"laeuchli", 10 / mu, laeuchli(mu)});
  all.push_back({"monomial s=5", 1e4, monomial(5)});
  all.push_back({"monomial s=10", 1e8, monomial(10)});
  all.push_back({"piled c=-4", 5e8, piled(-4)});
  all.push_back({"piled c=-9", 5e13, piled(-9)});
  return all;
}

/// Four that lose rank: duplicate and zero columns (rank 88), every other column zero (50), rank 7, Hilbert.
std::vector<HardMatrix> rank_deficient_matrices() {
  std::vector<HardMatrix> all;
  {
    auto a = test::graded_block<double>(n, p, 0, -2, 5);
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 50; j < 60; ++j) a(i, j) = a(i, j - 50);  // duplicates of earlier blocks
      a(i, 71) = a(i, 70);                                       // and inside a block
      a(i, 80) = 0;
    }
    all.push_back({"duplicate and zero columns", 0, std::move(a)});
  }
  all.push_back({"half zero", 0, matrix_of<double>(n, p, [](index_t i, index_t j) {
                   return j % 2 == 0 ? std::sin(static_cast<double>((i + 1) * (j + 1))) : 0;
                 })});

  Matrix<double> low(n, p);
  const auto u = test::random_block<double>(n, 7, 6), w = test::random_block<double>(7, p, 7);
  tsmm(Context{}, Op::none, 1.0, u.cview(), w.cview(), 0.0, low.view());
  all.push_back({"rank 7", 0, std::move(low)});

  const auto hilbert = [](index_t i, index_t j) { return 1.0 / static_cast<double>(i + j + 1); };
  all.push_back({"hilbert", 0, matrix_of<double>(n, p, hilbert)});
  return all;
}

template <class T>
struct Result {
  test::Orthonormalised outcome;
  double loss = 0, residual = 0;  ///< residual relative to the largest element
};

template <class T>
Result<T> run(const Matrix<T>& input, index_t width) {
  Context ctx{.threads = 1};
  auto x = Matrix<T>::copy_of(input.cview());
  Matrix<T> r(x.cols(), x.cols());
  Result<T> result;
  result.outcome = test::orthonormalise<T>(ctx, x.view(), r.view(), width);
  const index_t rank = result.outcome.rank, columns = result.outcome.complete ? x.cols() : rank;
  const auto q = x.cview().cols(0, rank);
  result.loss = ortho::loss_of_orthogonality<T>(ctx, q);
  result.residual = test::residual<T>(input.cview().cols(0, columns), q, r.cview().block(0, 0, rank, columns)) /
                    std::max(max_difference(input, Matrix<T>::zeros(input.rows(), input.cols())), 1e-300);
  return result;
}

/// The matrix in another type; for complex ones each row gets a phase, which changes no inner product.
template <class T>
Matrix<T> as(const Matrix<double>& x) {
  return matrix_of<T>(x.rows(), x.cols(), [&](index_t i, index_t j) {
    const std::complex<double> phase = is_complex<T> ? std::polar(1.0, static_cast<double>(i)) : 1.0;
    return test::element<T>(x(i, j) * phase.real(), x(i, j) * phase.imag());
  });
}

}  // namespace

TEMPLATE_TEST_CASE("orthogonality is kept on every hard matrix, in every type", "[short]", double, float,
                   std::complex<double>, std::complex<float>) {
  const double units = roundoff_of<TestType> / unit_roundoff;
  auto matrices = hard_matrices();
  for (auto& m : rank_deficient_matrices()) matrices.push_back(std::move(m));
  for (const auto& m : matrices) {
    const auto result = run(as<TestType>(m.x), 5);
    CAPTURE(m.name, result.loss * 1e15 / units, result.residual * 1e15 / units, result.outcome.rank);
    CHECK(result.outcome.complete);
    CHECK(result.outcome.rank + result.outcome.dead == m.x.cols());
    CHECK(result.loss <= allowed::short_sum * units);
    CHECK(result.residual <= 2e4 * roundoff_of<TestType>);
  }
}

TEST_CASE("directions that are not there are found and dropped", "[short]") {
  for (const auto& m : hard_matrices()) {
    CAPTURE(m.name);
    if (m.condition < 1e13) CHECK(run(m.x, 5).outcome.rank == 100);
  }
  const index_t ranks[] = {88, 50, 7};
  const auto deficient = rank_deficient_matrices();
  for (std::size_t k = 0; k < 3; ++k) {
    CAPTURE(deficient[k].name);
    CHECK(run(deficient[k].x, 5).outcome.rank == ranks[k]);
  }
}

TEST_CASE("no NaN is made of a matrix that loses rank, or of one with NaN in it", "[short]") {
  auto matrices = rank_deficient_matrices();
  matrices.push_back({"zero", 0, Matrix<double>::zeros(200, 20)});
  matrices.push_back({"nan", 0, test::random_block<double>(200, 20, 1)});
  matrices.back().x(17, 12) = std::nan("");
  for (const auto& m : matrices) {
    const auto result = run(m.x, 5);
    CAPTURE(m.name, result.outcome.rank);
    CHECK(std::isfinite(result.loss));
    CHECK(result.outcome.complete == (m.name != "nan"));
  }
}

TEMPLATE_TEST_CASE("every shape that exists", "[short]", double, float, std::complex<double>, std::complex<float>) {
  struct Shape {
    index_t n, p, width;
  };
  static constexpr Shape shapes[] = {{300, 12, 4}, {300, 13, 5}, {300, 7, 1}, {300, 6, 20}, {40, 1, 1},
                                     {12, 12, 3},  {5, 5, 5},    {1, 1, 1},   {7, 0, 2},    {2100, 24, 8}};
  for (const Shape& s : shapes) {
    const auto x = test::graded_block<TestType>(s.n, s.p, 0, -1, 3);
    const auto result = run(x, s.width);
    CAPTURE(s.n, s.p, s.width, result.loss, result.residual);
    CHECK(result.outcome.complete);
    CHECK(result.outcome.rank == s.p);
    CHECK(result.loss <= 500 * test::eps<TestType>);
    CHECK(result.residual <= 500 * test::eps<TestType>);
  }
}

TEST_CASE("the bits do not depend on the number of threads", "[short]") {
  const auto input = test::graded_block<double>(5000, 16, 0, -5, 8);
  const auto bits = [&](int threads) {
    Context ctx{.threads = threads};
    auto x = Matrix<double>::copy_of(input.cview());
    Matrix<double> r(16, 16);
    CHECK(test::orthonormalise<double>(ctx, x.view(), r.view(), 4).complete);
    return x;
  };
  CHECK(max_difference(bits(1), bits(3)) == 0);
}
