#include "tallskinny/app/tskmeans/input.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/support/device.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

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

void write(const std::string& file, const Matrix<float>& x) {
  io::OutputFile out(file);
  out.write("x", x);
  out.commit();
}

}  // namespace

TEST_CASE("points pass by in blocks, from memory and from a file", "[tskmeans]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "x.h5";
  const Matrix<float> x = points();
  write(file, x);
  check(RowOrigin::memory(Rows(x.cview())), {});
  check(tskmeans::origin_of(io::parse_location(file), {}), {});
}

TEST_CASE("points pass by in blocks on a device", "[tskmeans][gpu]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "x.h5";
  const Matrix<float> x = points();
  write(file, x);
  check(RowOrigin::memory(Rows(x.cview())), test::device_stream());
  check(tskmeans::origin_of(io::parse_location(file), {}), test::device_stream());
  const solvers::DeviceRows there(test::device_stream(), tskmeans::origin_of(io::parse_location(file), {}),
                                  block_bytes);
  std::vector<double> row(d);
  for (const index_t i : {index_t{0}, index_t{4095}, index_t{4096}, n - 1}) {
    there.rows().load(i, row.data());
    CHECK(row[1] == static_cast<double>(i * d + 1));
  }
}

TEST_CASE("the first pass over a file looks for numbers that are not finite", "[tskmeans]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "x.h5";
  Matrix<float> x = points();
  x(9000, 3) = std::nanf("");
  io::OutputFile out(file);
  out.write("x", x);
  out.commit();
  const StreamedRows rows(tskmeans::origin_of(io::parse_location(file), {}), block_bytes);
  CHECK(test::message_of([&] { rows.for_each_block([](index_t, const Rows&) {}); }).find("row 9000, column 3") !=
        std::string::npos);
}
