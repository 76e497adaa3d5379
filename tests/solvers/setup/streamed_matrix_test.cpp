#include "tallskinny/solvers/setup/streamed_matrix.hpp"

#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/solvers/svd/svd.hpp"
#include "tallskinny/tests/support/device.hpp"

using solvers::StreamedMatrix;
using solvers::StreamedRows;

namespace {

constexpr index_t tall = 20000, narrow = 12;

/// Columns of falling length around means that are not zero.
template <class T>
Matrix<T> table() {
  Matrix<double> random(tall, narrow);
  solvers::fill_random<double>(Context{}, 3, 0, random.view());
  return matrix_of<T>(tall, narrow, [&](index_t i, index_t j) {
    return static_cast<T>(random(i, j) * std::pow(0.7, static_cast<double>(j)) + 0.25 * static_cast<double>(j));
  });
}

/// The matrix in float64, less its means where these are given.
template <class T>
Matrix<double> widened(const Matrix<T>& a, const std::vector<double>& means) {
  return matrix_of<double>(tall, narrow, [&](index_t i, index_t j) {
    return static_cast<double>(a(i, j)) - (means.empty() ? 0 : means[static_cast<std::size_t>(j)]);
  });
}

template <class T>
void check(const Context& ctx, bool centres) {
  const auto a = table<T>();
  StreamedMatrix streamed(
      std::make_shared<const StreamedRows>(solvers::RowOrigin::memory(Rows(a.cview())), 1, ctx.stream));
  if (centres) streamed.centre(ctx);
  const auto whole = widened(a, streamed.means());
  if (centres) {
    double sum = 0;
    for (index_t i = 0; i < tall; ++i) sum += whole(i, 3);
    CHECK(std::abs(sum) < tall * allowed::long_sum);
  }
  solvers::EigenOptions o{.nev = 4};
  const auto r = solvers::solve_svd<double>(ctx, {streamed.products()}, o);
  const auto expected =
      solvers::solve_svd<double>(Context{}, {solvers::rectangular<double>(whole.cview()), whole.cview()}, o);
  INFO(r.triplets.reason);
  CHECK(r.triplets.verified);
  REQUIRE(r.triplets.values.size() == 4);
  double squares = 0;
  for (index_t i = 0; i < tall; ++i)
    for (index_t j = 0; j < narrow; ++j) squares += whole(i, j) * whole(i, j);
  CHECK(std::abs(streamed.squares() - squares) < allowed::default_run * squares);
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(std::abs(r.triplets.values[k] - expected.triplets.values[k]) < allowed::default_run * r.triplets.norm);
    double inner = 0;  // left vectors, but for signs
    for (index_t i = 0; i < tall; ++i)
      inner += r.left(i, static_cast<index_t>(k)) * expected.left(i, static_cast<index_t>(k));
    CHECK(std::abs(std::abs(inner) - 1) < allowed::default_run);
  }
}

}  // namespace

TEST_CASE("singular values of a matrix that passes by in blocks", "[short]") {
  for (const bool centres : {false, true}) {
    CAPTURE(centres);
    check<double>(Context{}, centres);
    check<float>(Context{}, centres);
  }
}

TEST_CASE("the triangular factor of blocks tells what the squares of a matrix do not", "[short]") {
  auto a = table<double>();
  for (index_t i = 0; i < tall; ++i)
    for (index_t j = 0; j < narrow; ++j) a(i, j) *= j == narrow - 1 ? 0 : std::pow(0.1, static_cast<double>(j));
  const StreamedMatrix streamed(std::make_shared<const StreamedRows>(solvers::RowOrigin::memory(Rows(a.cview())), 1));
  solvers::EigenOptions o{.nev = narrow};
  const auto r = solvers::solve_svd<double>(Context{}, {streamed.products()}, o);
  const auto expected = solvers::solve_svd<double>(Context{}, {solvers::rectangular<double>(a.cview()), a.cview()}, o);
  INFO(r.triplets.reason);
  CHECK(r.stage == solvers::SvdStage::triangular);
  REQUIRE(r.triplets.values.size() == narrow);
  for (std::size_t k = 0; k < narrow; ++k) {
    CHECK(std::abs(r.triplets.values[k] - expected.triplets.values[k]) < allowed::default_run * r.triplets.norm);
    CHECK(r.triplets.residual_norms[k] < allowed::default_run * r.triplets.norm);
  }
}

TEST_CASE("on a GPU singular values of a matrix that passes by in blocks", "[device][gpu]") {
  for (const bool centres : {false, true}) {
    CAPTURE(centres);
    check<double>(test::device_context(), centres);
    check<float>(test::device_context(), centres);
  }
}

TEST_CASE("other numbers than float64 and float32 do not pass by in blocks", "[short]") {
  const Matrix<float16> a(10, 2);
  const auto rows = std::make_shared<const StreamedRows>(solvers::RowOrigin::memory(Rows(a.cview())), 1);
  CHECK_THROWS_AS(StreamedMatrix(rows), Error);
}
