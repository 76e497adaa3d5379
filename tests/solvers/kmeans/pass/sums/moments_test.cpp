#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/host_rows.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// check(rows) of n x d points about an offset, by rows, scaled and by columns, in every real type.
template <class Check>
void in_all_layouts_and_types(index_t n, index_t d, double offset, std::span<const double> scale, const Check& check) {
  const auto check_type = [&]<class T>(std::type_identity<T>) {
    const auto x = points<T>(n, d, offset);
    check(Rows(x.cview()));
    check(Rows(x.cview()).scaled(scale));
    Matrix<T, Space::host, Layout::col_major> columns(n, d);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < d; ++j) columns(i, j) = x(i, j);
    check(Rows(columns.cview()));
  };
  check_type(std::type_identity<float>{}), check_type(std::type_identity<double>{});
  check_type(std::type_identity<float16>{}), check_type(std::type_identity<bfloat16>{});
}

}  // namespace

TEST_CASE("moments of small integers are exact", "[assign]") {
  Matrix<double> x(4, 2);
  const double columns[2][4] = {{1, 2, 3, 6}, {-5, -5, -5, -5}};
  for (index_t i = 0; i < 4; ++i)
    for (index_t j = 0; j < 2; ++j) x(i, j) = columns[j][i];
  const ColumnMoments moments = column_moments({}, Rows(x.cview()));
  CHECK(moments.mean == std::vector<double>{3, -5});
  CHECK(moments.variance == std::vector<double>{3.5, 0});
  for (std::size_t j = 0; j < 2; ++j) {
    double max_abs = 0;
    for (const double v : columns[j]) max_abs = std::max(max_abs, std::abs(v - moments.shift[j]));
    CHECK(moments.max_abs[j] == max_abs);
  }
}

TEST_CASE("moments of rows that come in blocks are those of all at once", "[assign]") {
  const index_t n = 2 * chunk_rows + 77;
  const auto x = points<float>(n, 3, 5);
  const Rows rows(x.cview());
  const ColumnMoments whole = column_moments({}, rows);
  MomentsOfBlocks blocks(3);
  const auto each = [&](const auto& use) {
    for (index_t i = 0; i < n; i += chunk_rows) use(rows.block(i, std::min(chunk_rows, n - i)));
  };
  each([&](const Rows& block) { blocks.first_round({}, block); });
  each([&](const Rows& block) { blocks.second_round({}, block); });
  const ColumnMoments found = std::move(blocks).finish();
  CHECK(found.mean == whole.mean);
  CHECK(found.variance == whole.variance);
  CHECK(found.shift == whole.shift);
  CHECK(found.max_abs == whole.max_abs);
}

TEST_CASE("moments are those of rows one by one, in any layout, type and instructions", "[assign]") {
  constexpr index_t n = 71, d = 37;
  const auto check = [&](const Rows& rows) {
    std::vector<double> sum(d), squares(d), max_abs(d), row(d);
    const auto for_each_row = [&](const auto& use) {
      for (index_t i = 0; i < n; ++i) {
        rows.load(i, row.data());
        for (std::size_t j = 0; j < d; ++j) use(j, row[j]);
      }
    };
    for_each_row([&](std::size_t j, double x) { sum[j] += x; });
    for (const Simd simd : instructions()) {
      Context ctx{.simd = simd};
      const ColumnMoments found = column_moments(ctx, rows);
      std::fill(squares.begin(), squares.end(), 0), std::fill(max_abs.begin(), max_abs.end(), 0);
      for_each_row([&](std::size_t j, double x) {
        max_abs[j] = std::max(max_abs[j], std::abs(x - found.shift[j]));
        squares[j] += (x - found.mean[j]) * (x - found.mean[j]);
      });
      for (std::size_t j = 0; j < d; ++j) {
        CHECK(found.mean[j] == sum[j] / n);
        CHECK(found.max_abs[j] == max_abs[j]);
        CHECK(found.variance[j] == squares[j] / n);
      }
    }
  };
  std::vector<double> scale(n);
  for (index_t i = 0; i < n; ++i) scale[static_cast<std::size_t>(i)] = 1.1 + number(i, 5);
  in_all_layouts_and_types(n, d, 3, scale, check);
}

TEST_CASE("moments about a given mean take one round", "[assign]") {
  Matrix<float16> x(3, 2);
  for (index_t i = 0; i < 3; ++i) x(i, 0) = to_float16(static_cast<float>(i)), x(i, 1) = to_float16(-4);
  const std::vector<double> mean{3, -5};
  const ColumnMoments found = moments_about({}, Rows(x.cview()), mean);
  CHECK(found.mean == mean);
  CHECK(found.shift == mean);
  CHECK(found.max_abs == std::vector<double>{3, 1});
  CHECK(found.variance == std::vector<double>{14.0 / 3, 1});
  x(2, 1) = float16::from_bits(0x7c00);
  CHECK(mentions(message_of([&] { (void)moments_about({}, Rows(x.cview()), mean, 100); }), "row 102, column 1"));
}

TEST_CASE("NaN and infinity are named by row and column", "[assign]") {
  auto x = points<float16>(50, 4);
  x(33, 2) = float16::from_bits(0x7c00);
  try {
    column_moments({}, Rows(x.cview()));
    FAIL("accepted an infinity");
  } catch (const Error& e) {
    CHECK(mentions(e.what(), "row 33, column 2"));
  }
}
