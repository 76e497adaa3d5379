#include "tallskinny/gemm/assign/scores/pairs.hpp"

#include "tallskinny/tests/gemm/assign/passes.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// How far centroids move, of their length, and less from pass to pass.
struct Shrinking {
  double first = 0.5, factor = 0.4;
};

/// Returns the share of pairs that were met in the last pass.
double check_passes(const Rows& rows, const Moves& of, const Shrinking& by = {}) {
  const auto moments = column_moments({}, rows);
  double share = 0;
  for (const Simd simd : instructions()) {
    Context ctx;
    ctx.simd = simd, ctx.threads = 2;
    if (!PairBounds::possible(ctx, rows.cols())) continue;
    PairBounds pairs(ctx, rows.rows(), of.k, moments);
    const AssignStats stats = compare_passes(ctx, pairs, rows, of, [&](int step, index_t m, index_t j) {
      double moved = by.first;
      for (int q = 0; q < step; ++q) moved *= by.factor;
      return moved * number(m, step + j);
    });
    share = static_cast<double>(stats.headed) / static_cast<double>(rows.rows() * of.k);
  }
  return share;
}

}  // namespace

TEMPLATE_TEST_CASE("passes with bounds of pairs find what passes without find", "[assign]", double, float, float16,
                   bfloat16) {
  const auto x = falling<TestType>(700, 267, 40);
  CHECK(check_passes(Rows(x.cview()), {.k = 70}) < 0.3);
  check_passes(Rows(x.cview()), {.k = 33, .with_copies = true}, {.factor = 0.9});
  check_passes(Rows(x.cview()), {.k = 31, .without_labels = true});
  check_passes(Rows(x.cview()), {.k = 160, .far_out = true});
}

TEST_CASE("bounds of pairs with ties, zeros, and rows of very different lengths", "[assign]") {
  check_extremes(130, 200,
                 [](const Rows& rows, index_t k, bool copies) { check_passes(rows, {.k = k, .with_copies = copies}); });
}

TEST_CASE("bounds of pairs where every centroid stays near: what is known from float32 is kept", "[assign]") {
  // Bytes leave several centroids of each row open; those that float32 excluded are not met in it again.
  Matrix<float> x(256, 512);
  for (index_t i = 0; i < 256; ++i)
    for (index_t j = 0; j < 512; ++j) x(i, j) = static_cast<float>(number(i, j));
  const auto moments = column_moments({}, Rows(x.cview()));
  Matrix<double> c(64, 512);
  for (index_t m = 0; m < 64; ++m)
    for (index_t j = 0; j < 512; ++j) c(m, j) = 0.02 * number(m, j + 7);
  for (const Simd simd : instructions()) {
    Context ctx;
    ctx.simd = simd;
    if (!PairBounds::possible(ctx, 512)) continue;
    PairBounds pairs(ctx, 256, 64, moments);
    pairs.put(ctx, 0, Rows(x.cview()));
    std::vector<std::int32_t> labels(256, 0), expected(256, 0);
    index_t met[3] = {};
    for (index_t& of_pass : met) {
      pairs.begin_pass(ctx, c.cview());
      AssignArguments of{Rows(x.cview()), moments, c.cview()};
      of.labels = std::span(labels), of.pruning = {nullptr, 0, &pairs};
      of_pass = assign(ctx, of).met;
      of.labels = std::span(expected), of.pruning = {};
      assign(ctx, of);
      CHECK(labels == expected);
    }
    CHECK(met[0] > 64);
    CHECK(met[2] < 3 * met[0] / 4);
  }
}
