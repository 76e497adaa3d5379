#include "tallskinny/tests/gemm/assign/passes.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// The first m columns of a reflection: orthonormal to rounding.
Matrix<double> reflected(index_t d, index_t m, double turn) {
  std::vector<double> v(static_cast<std::size_t>(d));
  double square = 0;
  for (index_t j = 0; j < d; ++j) {
    const double value = j == 0 ? 1 : turn * number(j, 5);
    v[static_cast<std::size_t>(j)] = value, square += value * value;
  }
  Matrix<double> q(d, m);
  for (index_t j = 0; j < d; ++j)
    for (index_t a = 0; a < m; ++a)
      q(j, a) = (j == a ? 1 : 0) - 2 * v[static_cast<std::size_t>(j)] * v[static_cast<std::size_t>(a)] / square;
  return q;
}

std::vector<Simd> with_products_of_bytes() {
  std::vector<Simd> all;
  for (const Simd simd : instructions()) {
    Context ctx{.simd = simd};
    if (Pruning::possible(ctx)) all.push_back(simd);
  }
  return all;
}

struct Heads {
  index_t columns;
  double turn = 0.1;
};

/// Returns the share of pairs that were met in all columns in the last pass.
double check_passes(const Rows& rows, const Moves& of, const Heads& heads) {
  const auto moments = column_moments({}, rows);
  double share = 1;
  for (const Simd simd : with_products_of_bytes()) {
    Context ctx{.threads = 2, .simd = simd};
    Pruning pruning(ctx, rows.rows(), reflected(rows.cols(), heads.columns, heads.turn).cview(), of.k, moments);
    const AssignStats stats = compare_passes(ctx, pruning, rows, of, [](int step, index_t m, index_t) {
      return step < 5 ? 0.02 * (step + 1) * number(m, step + 3) : 0.12 * number(m, 3);
    });
    share = static_cast<double>(stats.met) / static_cast<double>(rows.rows() * of.k);
  }
  return share;
}

}  // namespace

TEMPLATE_TEST_CASE("pruned passes find what passes without find", "[assign]", double, float, float16, bfloat16) {
  const auto x = falling<TestType>(700, 67, 40);
  const double share = check_passes(Rows(x.cview()), {.k = 70}, {32});
  if (!with_products_of_bytes().empty()) CHECK(share < 0.1);
  check_passes(Rows(x.cview()), {.k = 33, .with_copies = true}, {16, 3});
  check_passes(Rows(x.cview()), {.k = 31, .without_labels = true}, {48});
  check_passes(Rows(x.cview()), {.k = 40, .far_out = true}, {16});
}

TEST_CASE("pruned passes of ties, zeros, and rows of very different lengths", "[assign]") {
  check_extremes(50, 48, [](const Rows& rows, index_t k, bool copies) {
    check_passes(rows, {.k = k, .with_copies = copies}, {k == 100 ? 32 : 16});
  });
}

TEST_CASE("rows whose lists are long meet every centroid", "[assign]") {
  // All centroids are as far from every row as the next one, nearly, and more than a list holds.
  Matrix<float> x(130, 64);
  for (index_t i = 0; i < 130; ++i)
    for (index_t j = 0; j < 64; ++j) x(i, j) = static_cast<float>(number(i, j));
  const auto moments = column_moments({}, Rows(x.cview()));
  const index_t k = 2600;
  Matrix<double> c(k, 64);
  for (index_t m = 0; m < k; ++m)
    for (index_t j = 0; j < 64; ++j) c(m, j) = 1e-3 * number(m, j);
  for (const Simd simd : with_products_of_bytes()) {
    Context ctx{.simd = simd};
    Pruning pruning(ctx, 130, reflected(64, 16, 0.1).cview(), k, moments);
    pruning.put(ctx, 0, Rows(x.cview()));
    std::vector<std::int32_t> labels(130, 0), expected(130, 0);
    for (int pass = 0; pass < 2; ++pass) {
      pruning.begin_pass(ctx, c.cview());
      AssignArguments of{Rows(x.cview()), moments, c.cview()};
      of.labels = std::span(labels), of.pruning = {&pruning, 0};
      assign(ctx, of);
      of.labels = std::span(expected), of.pruning = {};
      assign(ctx, of);
      CHECK(labels == expected);
    }
  }
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

TEST_CASE("pruning refuses axes that are not orthonormal", "[assign]") {
  if (!Pruning::possible({})) return;
  const auto x = falling<float>(64, 32, 4);
  const auto moments = column_moments({}, Rows(x.cview()));
  auto axes = reflected(32, 16, 1);
  CHECK_NOTHROW(Pruning({}, 64, axes.cview(), 4, moments));
  axes(3, 3) += 1e-6;
  CHECK_THROWS_AS(Pruning({}, 64, axes.cview(), 4, moments), Error);
  CHECK_THROWS_AS(Pruning({}, 64, reflected(32, 12, 1).cview(), 4, moments), Error);
}
