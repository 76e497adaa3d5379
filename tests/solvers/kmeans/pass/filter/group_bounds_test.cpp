// Bounds of the distances of rows to groups of 32 centroids.
#include "tallskinny/tests/solvers/kmeans/pass/passes.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// How far centroids move, of their length, and less from pass to pass.
struct Shrinking {
  double first = 0.5, factor = 0.4;
};

/// Returns the share of pairs that were met in 8 bits in the last pass.
double check_passes(const Rows& rows, const Moves& of, const Shrinking& by = {}) {
  const auto moments = column_moments({}, rows);
  double share = 0;
  for (const Simd simd : instructions()) {
    Context ctx{.threads = 2, .simd = simd};
    if (!GroupBounds::possible(ctx, rows.cols())) continue;
    GroupBounds bounds(ctx, rows.rows(), of.k, moments);
    const AssignStats stats = compare_passes(ctx, bounds, rows, of, [&](int step, index_t m, index_t j) {
      double moved = by.first;
      for (int q = 0; q < step; ++q) moved *= by.factor;
      return moved * number(m, step + j);
    });
    share = static_cast<double>(stats.coarse) / static_cast<double>(rows.rows() * of.k);
  }
  return share;
}

/// The labels of several passes over these rows with centroids that stay are those of passes without bounds. Returns
/// the pairs that each pass met in float32.
std::array<index_t, 3> check_still(const Context& ctx, const Matrix<float>& x, const Matrix<double>& c) {
  const auto moments = column_moments({}, Rows(x.cview()));
  GroupBounds bounds(ctx, x.rows(), c.rows(), moments);
  bounds.put(ctx, 0, Rows(x.cview()));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(x.rows()), 0), expected = labels;
  std::array<index_t, 3> scored{};
  for (index_t& of_pass : scored) {
    bounds.begin_pass(ctx, c.cview());
    AssignArguments of{Rows(x.cview()), moments, c.cview()};
    of.labels = std::span(labels), of.group_bounds = {&bounds, 0};
    of_pass = assign(ctx, of).scored;
    of.labels = std::span(expected), of.group_bounds = {};
    assign(ctx, of);
    CHECK(labels == expected);
  }
  return scored;
}

template <class T, class Number>
Matrix<T> matrix_of(index_t rows, index_t cols, const Number& number) {
  Matrix<T> found(rows, cols);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) found(i, j) = static_cast<T>(number(i, j));
  return found;
}

}  // namespace

TEMPLATE_TEST_CASE("passes with bounds of groups find what passes without find", "[assign]", double, float, float16,
                   bfloat16) {
  const auto wide = falling<TestType>(700, 267, 40), narrow = falling<TestType>(700, 67, 40);
  CHECK(check_passes(Rows(wide.cview()), {.k = 70}) < 0.9);
  for (const Rows& rows : {Rows(wide.cview()), Rows(narrow.cview())}) {
    check_passes(rows, {.k = 33, .with_copies = true}, {.factor = 0.9});
    check_passes(rows, {.k = 31, .without_labels = true});
    check_passes(rows, {.k = 160, .far_out = true});
  }
}

TEST_CASE("bounds of groups with ties, zeros, and rows of very different lengths", "[assign]") {
  check_extremes(
      130, 200, [&](const Rows& rows, index_t k, bool copies) { check_passes(rows, {.k = k, .with_copies = copies}); });
}

TEST_CASE("rows whose lists are long meet every centroid", "[assign]") {
  // All centroids are as far from every row as the next one, nearly, and more than a list holds.
  const auto x = matrix_of<float>(130, 64, [](index_t i, index_t j) { return number(i, j); });
  const auto c = matrix_of<double>(2600, 64, [](index_t m, index_t j) { return 1e-3 * number(m, j); });
  for (const Simd simd : instructions()) {
    Context ctx{.simd = simd};
    if (GroupBounds::possible(ctx, 64)) CHECK(check_still(ctx, x, c)[0] > 130 * 1024);
  }
}

TEST_CASE("bounds of groups refuse other rows", "[assign]") {
  if (!GroupBounds::possible({}, 32)) return;
  const auto x = falling<float>(64, 32, 4);
  const auto moments = column_moments({}, Rows(x.cview()));
  GroupBounds bounds({}, 32, 4, moments);
  CHECK_THROWS_AS(bounds.put({}, 0, Rows(x.cview())), Error);
}

TEST_CASE("assign names the instructions that it takes", "[assign]") {
  for (const Simd simd : instructions()) {
    Context ctx{.simd = simd};
    const std::string name(assign_instructions(ctx));
    if (simd == Simd::sse2) CHECK(name == "base");
    if (simd == Simd::avx2) CHECK(name == "avx2");
    if (simd == Simd::avx512) CHECK(name.substr(0, 6) == "avx512");
    if (simd == Simd::amx) CHECK(name == "amx");
  }
}
