// Values that dense matrices lack, which are NaN there.
#include <algorithm>
#include <limits>

#include "tallskinny/io/npy_output.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/tests/io/support.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::test;

namespace {

constexpr double lacking = std::numeric_limits<double>::quiet_NaN();

io::ReadOptions with(io::Missing missing) {
  io::ReadOptions options;
  options.table.missing = missing;
  return options;
}

/// Row i is (i, i + 0.5), but every fifth from the first on lacks its second value.
Matrix<double> holes(index_t rows) {
  Matrix<double> x(rows, 2);
  for (index_t i = 0; i < rows; ++i) x(i, 0) = static_cast<double>(i), x(i, 1) = i % 5 == 0 ? lacking : x(i, 0) + 0.5;
  return x;
}

template <class T>
Matrix<T> converted(const Matrix<double>& x) {
  Matrix<T> y(x.rows(), x.cols());
  std::transform(x.data(), x.data() + x.rows() * x.cols(), y.data(), [](double v) { return static_cast<T>(v); });
  return y;
}

/// The same in files of several kinds: read again and again, whole, and by columns.
std::vector<io::Location> files(const TemporaryFolder& folder, const Matrix<double>& x) {
  const std::string h5 = folder / "x.h5", npy = folder / "x.npy";
  io::OutputFile out(h5);
  out.write("wide", x);
  out.write("narrow", converted<float>(x));
  out.commit();
  io::OutputFile packed(folder / "packed.h5", {.gzip = 1});
  packed.write("x", x);
  packed.commit();
  io::NpyOutput<double> array(npy, x.rows(), x.cols());
  array.add(std::span(x.data(), static_cast<std::size_t>(x.rows() * x.cols())));
  array.commit();
  return {{h5, "wide"}, {h5, "narrow"}, {folder / "packed.h5", ""}, {npy, ""}};
}

}  // namespace

TEST_CASE("rows that lack a value are left out, of files that are no text too") {
  const TemporaryFolder folder;
  const Matrix<double> x = holes(1003);
  for (const io::Location& where : files(folder, x)) {
    CAPTURE(where.text());
    CHECK(refusal_of([&] { (void)io::read_matrix(where); }).says("has NaN at row 0, column 1"));
    const auto d = io::describe(where, with(io::Missing::drop));
    CHECK((d.rows == 802 && d.rows_dropped == 201 && d.values_filled == 0));
    CHECK(d.bytes == 802 * 2 * size_of(d.type));
    const auto a = io::read_dense_as<double>(where, with(io::Missing::drop));
    REQUIRE(a.rows() == 802);
    for (index_t i = 0; i < a.rows(); ++i) REQUIRE(a(i, 0) == static_cast<double>(i + i / 4 + 1));
    // Ranges count the rows that are left.
    auto some = with(io::Missing::drop);
    some.row_begin = 3, some.row_end = 6;
    const auto part = io::read_dense_as<double>(where, some);
    CHECK((part.rows() == 3 && part(0, 0) == 4 && part(1, 0) == 6 && part(2, 1) == 7.5));
    const io::RowReader reader(where, some);
    CHECK((reader.description().rows == 3 && reader.description().rows_dropped == 201));
    // A column that is not read may lack what it likes, but then rows are not read again and again.
    auto first = with(io::Missing::drop);
    first.table.columns = {"0"};
    CHECK(io::describe(where, first).rows == 1003);
    CHECK(io::read_dense_as<double>(where, first).rows() == 1003);
  }
}

TEST_CASE("missing values become means of columns in all of the file") {
  const TemporaryFolder folder;
  const Matrix<double> x = holes(1003);
  double sum = 0;
  for (index_t i = 0; i < x.rows(); ++i) sum += i % 5 == 0 ? 0 : x(i, 1);
  for (const io::Location& where : files(folder, x)) {
    CAPTURE(where.text());
    const auto d = io::describe(where, with(io::Missing::mean));
    CHECK((d.rows == 1003 && d.rows_dropped == 0 && d.values_filled == 201));
    auto some = with(io::Missing::mean);
    some.row_begin = 4, some.row_end = 6;
    const auto a = io::read_dense_as<double>(where, some);
    CHECK((a.rows() == 2 && a(0, 1) == 4.5 && a(1, 0) == 5));
    CHECK(a(1, 1) == Approx(sum / 802).epsilon(test::allowed::seven_digits));
  }
}

TEST_CASE("what else is there is refused as ever, beside missing values") {
  const TemporaryFolder folder;
  Matrix<double> x = holes(20);
  x(7, 0) = std::numeric_limits<double>::infinity();
  for (const io::Location& where : files(folder, x))
    for (const auto how : {io::Missing::drop, io::Missing::mean})
      CHECK(refusal_of([&] {
              (void)io::read_matrix(where, with(how));
            }).says(how == io::Missing::drop ? "has Inf at row 5, column 0" : "has Inf at row 7, column 0"));
  x = Matrix<double>::zeros(20, 2);
  for (index_t i = 0; i < 20; ++i) x(i, 1) = lacking;
  for (const io::Location& where : files(folder, x)) {
    CHECK(refusal_of([&] { (void)io::read_matrix(where, with(io::Missing::mean)); }).says("column 1"));
    CHECK(io::describe(where, with(io::Missing::drop)).rows == 0);
    CHECK(io::read_dense_as<double>(where, with(io::Missing::drop)).rows() == 0);
  }
  CHECK(refusal_of("scipy.h5:/csr", with(io::Missing::drop)).says("is sparse"));
  CHECK(refusal_of("dense.h5:/pair", with(io::Missing::drop)).says("is complex"));
}
