// Points in several blocks, and what a source that streams them must give.
#pragma once

#include <vector>

#include "tallskinny/solvers/setup/streamed_rows.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test::streamed {

inline constexpr index_t n = 20011, d = 5, block_bytes = 4096 * d * 4 + 7;

inline Matrix<float> points() {
  return matrix_of<float>(n, d, [](index_t i, index_t j) { return static_cast<float>(i * d + j); });
}

/// All rows of a source, as one pass gives them.
inline std::vector<double> pass(const solvers::StreamedRows& rows) {
  std::vector<double> all(static_cast<std::size_t>(n * d));
  index_t next = 0;
  rows.for_each_block([&](index_t first, const Rows& block) {
    CHECK(first == next);
    CHECK(first % chunk_rows == 0);
    for (index_t i = 0; i < block.rows(); ++i) block.load(i, all.data() + (first + i) * d);
    next += block.rows();
  });
  CHECK(next == n);
  return all;
}

/// Two passes give all rows, a single row is loaded, and times are those of two passes.
inline void check(const solvers::RowOrigin& origin, const cuda::Stream& stream) {
  const Matrix<float> x = points();
  const std::vector<double> expected(x.data(), x.data() + n * d);
  const solvers::StreamedRows rows(origin, block_bytes, stream);
  CHECK(rows.rows() == n);
  CHECK(rows.cols() == d);
  CHECK(rows.block_rows() == 4096);
  CHECK(pass(rows) == expected);
  CHECK(pass(rows) == expected);
  std::vector<double> row(d);
  rows.load(7003, row.data());
  CHECK(row[2] == 7003.0 * d + 2);
  CHECK(rows.times().passes == 2);
  CHECK(rows.times().bytes == 2 * n * d * 4);
  CHECK(rows.times().share_of_slowest() > 0);
  CHECK(rows.times().share_of_slowest() <= 1);
}

}  // namespace ts::test::streamed
