#include "tallskinny/solvers/setup/streamed_rows.hpp"

#include "tallskinny/tests/support/device.hpp"

using namespace ts;
using solvers::RowOrigin;
using solvers::StreamedRows;

namespace {

constexpr index_t n = 20011, d = 5, block_bytes = 4096 * d * 4 + 7;

Matrix<float> points() {
  Matrix<float> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) x(i, j) = static_cast<float>(i * d + j);
  return x;
}

/// All rows of a source, as one pass gives them.
std::vector<double> pass(const StreamedRows& rows) {
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

void check(const RowOrigin& origin, const cuda::Stream& stream) {
  const Matrix<float> x = points();
  const std::vector<double> expected(x.data(), x.data() + n * d);
  const StreamedRows rows(origin, block_bytes, stream);
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

/// What reads points and looks for NaN as a file would.
RowOrigin read_from(const Matrix<float>& x) {
  return {n, d, DType::float32, 0, [&x](index_t first, index_t count, void* out, bool check) {
            std::copy_n(&x(first, 0), count * d, static_cast<float*>(out));
            for (index_t i = first; check && i < first + count; ++i)
              for (index_t j = 0; j < d; ++j)
                if (std::isnan(x(i, j))) throw Error(Errc::bad_input, "row " + std::to_string(i));
          }};
}

}  // namespace

TEST_CASE("rows pass by in blocks, from memory and from what reads them") {
  const Matrix<float> x = points();
  check(RowOrigin::memory(Rows(x.cview())), {});
  check(read_from(x), {});
}

TEST_CASE("rows pass by in blocks on a device", "[gpu]") {
  const Matrix<float> x = points();
  check(RowOrigin::memory(Rows(x.cview())), test::device_stream());
  check(read_from(x), test::device_stream());
}

TEST_CASE("the first pass looks for numbers that are not finite") {
  Matrix<float> x = points();
  x(9000, 3) = std::nanf("");
  const StreamedRows rows(read_from(x), block_bytes);
  CHECK(test::mentions(test::message_of([&] { rows.for_each_block([](index_t, const Rows&) {}); }), "row 9000"));
}
