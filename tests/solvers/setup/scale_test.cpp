#include "tallskinny/solvers/setup/scale.hpp"

#include <cmath>
#include <limits>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::AnyMatrix;
using solvers::extreme_exponent;

namespace {

/// Sparse and dense.
template <class T>
std::vector<AnyMatrix<T>> both(CsrMatrix<T> sparse) {
  Matrix<T> dense = Matrix<T>::zeros(sparse.rows, sparse.cols);
  for (index_t i = 0; i < sparse.rows; ++i)
    for (auto k = sparse.pointers[static_cast<std::size_t>(i)]; k < sparse.pointers[static_cast<std::size_t>(i) + 1];
         ++k)
      dense(i, sparse.indices[static_cast<std::size_t>(k)]) = sparse.values[static_cast<std::size_t>(k)];
  std::vector<AnyMatrix<T>> all;
  all.emplace_back(std::move(sparse));
  all.emplace_back(std::move(dense));
  return all;
}

}  // namespace

TEST_CASE("matrices of ordinary numbers are left as they are") {
  for (const auto& a : both(generators::laplacian({7}))) {  // its largest entry is 2
    CHECK(extreme_exponent<double>(Context{}, a) == 0);
    CHECK(extreme_exponent<double>(Context{}, a, true) == 0);
  }
}

TEST_CASE("an extreme exponent is that of the largest part, and scaling by it changes no digit") {
  const auto ring = generators::flux_ring(20, 0.3);
  for (const int exponent : {-1000, -301, 301, 1000})
    for (auto& a : both(ring)) {
      solvers::scale(a, exponent);
      CHECK(std::abs(extreme_exponent<std::complex<double>>(Context{}, a) - exponent) <= 1);
      const int taken = solvers::take_exponent(Context{}, a);
      CHECK(std::abs(taken - exponent) <= 1);
      CHECK(solvers::take_exponent(Context{}, a) == 0);
      solvers::scale(a, taken - exponent);
      const auto* sparse = std::get_if<CsrMatrix<std::complex<double>>>(&a);
      if (sparse != nullptr)
        CHECK(sparse->values == ring.values);
      else
        CHECK(std::get<1>(a)(0, ring.indices[0]) == ring.values[0]);
    }
}

TEST_CASE("float32 is extreme sooner") {
  AnyMatrix<double> a = generators::identity(3);
  solvers::scale(a, 40);  // 2^40 lies in [2^(41 - 1), 2^41)
  CHECK(extreme_exponent<double>(Context{}, a) == 0);
  CHECK(extreme_exponent<double>(Context{}, a, true) == 41);
}

TEST_CASE("a matrix of zeros has no exponent") {
  CHECK(extreme_exponent<double>(Context{}, AnyMatrix<double>(Matrix<double>::zeros(4, 4))) == 0);
}

TEST_CASE("all that a result tells is scaled, or refused where it is too large") {
  solvers::EigenResult<double> r;
  r.values = {1, -3}, r.residual_norms = {0.5, 0.25}, r.error_bounds = r.residual_norms;
  r.norm = 3, r.next_value = 5, r.gap = 2, r.shift = -4.0;
  solvers::scale_result(r, 3, "a.h5");
  CHECK(r.values == std::vector<double>{8, -24});
  CHECK(r.residual_norms == std::vector<double>{4, 2});
  CHECK(r.error_bounds == r.residual_norms);
  CHECK(r.norm == 24);
  CHECK(r.next_value == 40);
  CHECK(r.gap == 16);
  CHECK(*r.shift == -32);
  CHECK(test::message_of([&] { solvers::scale_result(r, 1020, "a.h5"); }).starts_with("a.h5 has eigenvalues"));

  solvers::GeneralResult g;
  g.values = {{1, -2}}, g.residual_norms = {0.5}, g.norm = 4;
  solvers::scale_result(g, -2, "a.h5");
  CHECK(g.values[0] == std::complex<double>(0.25, -0.5));
  CHECK(g.residual_norms[0] == 0.125);
  CHECK(g.norm == 1);
  CHECK_FALSE(test::message_of([&] { solvers::scale_result(g, 1030, "a.h5"); }).empty());
}
