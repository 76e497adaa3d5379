// The acceptance table: every method on twelve hard matrices.
#include <complex>

#include "blocks.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;

namespace {

template <class T>
struct Result {
  ortho::Orthonormalised outcome;
  double loss = 0, residual = 0;  ///< residual relative to the largest element
};

template <class T>
Result<T> run(const ortho::NamedMethod& method, const Matrix<T>& input, index_t width) {
  Context ctx;
  ctx.threads = 1;
  auto x = Matrix<T>::copy_of(input.cview());
  Matrix<T> r(x.cols(), x.cols());
  Result<T> result;
  result.outcome = ortho::orthonormalise<T>(ctx, method, x.view(), r.view(), width);
  const index_t rank = result.outcome.rank, columns = result.outcome.complete ? x.cols() : rank;
  const auto q = x.cview().cols(0, rank);
  result.loss = ortho::loss_of_orthogonality<T>(ctx, q);
  result.residual = test::residual<T>(input.cview().cols(0, columns), q, r.cview().block(0, 0, rank, columns)) /
                    std::max(test::largest<T>(input.view()), 1e-300);
  return result;
}

/// The matrix in another type; for complex ones each row gets a phase, which changes no inner product.
template <class T>
Matrix<T> as(const Matrix<double>& x) {
  Matrix<T> y(x.rows(), x.cols());
  for (index_t i = 0; i < x.rows(); ++i)
    for (index_t j = 0; j < x.cols(); ++j) {
      if constexpr (is_complex<T>)
        y(i, j) = std::polar(static_cast<real_t<T>>(1), static_cast<real_t<T>>(i)) * static_cast<real_t<T>>(x(i, j));
      else
        y(i, j) = static_cast<T>(x(i, j));
    }
  return y;
}

}  // namespace

TEST_CASE("each method is as orthogonal on each matrix as published, or says that it broke down", "[long]") {
  const auto matrices = generators::gram_schmidt_matrices();
  for (const auto& method : ortho::every_method())
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      const double limit = generators::accepted_loss(method.name, k);
      const auto result = run(method, matrices[k].x, 5);
      CAPTURE(method.name, matrices[k].name, result.loss, limit, result.outcome.rank);
      CHECK(std::isfinite(result.loss));
      CHECK(result.loss <= limit);
      CHECK((result.outcome.complete || std::isinf(limit)));
      if (result.loss < test::allowed::default_run) CHECK(result.residual <= test::allowed::many_steps);
    }
}

TEMPLATE_TEST_CASE("the default keeps orthogonality on every hard matrix, in every type", "[short]", double, float,
                   std::complex<double>, std::complex<float>) {
  const double units = roundoff_of<TestType> / unit_roundoff;
  auto matrices = generators::gram_schmidt_matrices();
  for (auto& m : generators::rank_deficient_matrices()) matrices.push_back(std::move(m));
  for (const auto& m : matrices) {
    const auto result = run(*ortho::method_named("default"), as<TestType>(m.x), 5);
    CAPTURE(m.name, result.loss * 1e15 / units, result.residual * 1e15 / units, result.outcome.rank);
    CHECK(result.outcome.complete);
    CHECK(result.outcome.rank + result.outcome.dead == m.x.cols());
    CHECK(result.loss <= test::allowed::short_sum * units);
    CHECK(result.residual <= 2e4 * roundoff_of<TestType>);
  }
}

TEST_CASE("directions that are not there are found and dropped", "[short]") {
  const auto method = *ortho::method_named("default");
  for (const auto& m : generators::gram_schmidt_matrices()) {
    CAPTURE(m.name);
    if (m.condition < 1e13) CHECK(run(method, m.x, 5).outcome.rank == 100);
  }
  const index_t ranks[] = {88, 50, 7};
  const auto deficient = generators::rank_deficient_matrices();
  for (std::size_t k = 0; k < 3; ++k) {
    CAPTURE(deficient[k].name);
    CHECK(run(method, deficient[k].x, 5).outcome.rank == ranks[k]);
  }
}

TEST_CASE("no method makes NaN of a matrix that loses rank, or of one with NaN in it", "[short]") {
  auto matrices = generators::rank_deficient_matrices();
  matrices.push_back({"zero", 0, Matrix<double>::zeros(200, 20)});
  matrices.push_back({"nan", 0, test::random_block<double>(200, 20, 1)});
  matrices.back().x(17, 12) = std::nan("");
  for (const auto& method : ortho::every_method())
    for (const auto& m : matrices) {
      const auto result = run(method, m.x, 5);
      CAPTURE(method.name, m.name, result.outcome.rank);
      CHECK(std::isfinite(result.loss));
      if (m.name == "nan") CHECK_FALSE(result.outcome.complete);
    }
}

TEMPLATE_TEST_CASE("every method at every shape that exists", "[short]", double, float, std::complex<double>,
                   std::complex<float>) {
  struct Shape {
    index_t n, p, width;
  };
  for (const Shape s : {Shape{300, 12, 4},
                        {300, 13, 5},
                        {300, 7, 1},
                        {300, 6, 20},
                        {40, 1, 1},
                        {12, 12, 3},
                        {5, 5, 5},
                        {1, 1, 1},
                        {7, 0, 2},
                        {2100, 24, 8}})
    for (const auto& method : ortho::every_method()) {
      const auto x = test::graded_block<TestType>(s.n, s.p, 0, -1, 3);
      const auto result = run(method, x, s.width);
      CAPTURE(method.name, s.n, s.p, s.width, result.loss, result.residual);
      CHECK(result.outcome.complete);
      CHECK(result.outcome.rank == s.p);
      CHECK(result.loss <= (method.name == "RBCGS" ? 4 : 500 * test::eps<TestType>));
      CHECK(result.residual <= 500 * test::eps<TestType>);
    }
}

TEST_CASE("no method's bits depend on the number of threads", "[short]") {
  const auto input = test::graded_block<double>(5000, 16, 0, -5, 8);
  for (const auto& method : ortho::every_method()) {
    CAPTURE(method.name);
    const auto bits = [&](int threads) {
      Context ctx;
      ctx.threads = threads;
      auto x = Matrix<double>::copy_of(input.cview());
      Matrix<double> r(16, 16);
      CHECK(ortho::orthonormalise<double>(ctx, method, x.view(), r.view(), 4).complete);
      return x;
    };
    CHECK(test::distance<double>(bits(1).view(), bits(3).view()) == 0);
  }
}
