// Broken files are refused with a message that names the file, the object and the cause.
#include <sys/stat.h>

#include "tallskinny/io/npy_output.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/tests/io/support.hpp"

namespace {

constexpr double lacking = std::numeric_limits<double>::quiet_NaN();

io::ReadOptions with(io::Missing missing) { return {.table = {.missing = missing}}; }

/// Row i is (i, i + 0.5), but every fifth from the first on lacks its second value.
Matrix<double> holes(index_t rows) {
  return matrix_of<double>(rows, 2, [](index_t i, index_t j) {
    return j == 1 && i % 5 == 0 ? lacking : static_cast<double>(i) + 0.5 * static_cast<double>(j);
  });
}

/// Writes x to files of several kinds: read again and again, whole, and by columns.
std::vector<io::Location> files(const TemporaryFolder& folder, const Matrix<double>& x) {
  const auto narrow = matrix_of<float>(x.rows(), 2, [&](auto i, auto j) { return static_cast<float>(x(i, j)); });
  const std::string h5 = write_h5(folder / "x.h5", "wide", x, "narrow", narrow);
  io::NpyOutput<double> array(folder / "x.npy", x.rows(), x.cols());
  array.add(std::span(x.data(), static_cast<std::size_t>(x.rows() * x.cols())));
  array.commit();
  return {{h5, "wide"},
          {h5, "narrow"},
          {write_h5(folder / "packed.h5", io::OutputOptions{.gzip = 1}, "x", x), ""},
          {folder / "x.npy", ""}};
}

}  // namespace

TEST_CASE("malformed objects are refused, each for its own reason") {
  struct Malformed {
    const char* object;
    const char* words;
    Errc code = Errc::bad_input;
  };
  const Malformed cases[] = {
      {"broken.h5:/negative_pointer", "decreasing pointers at row 0"},
      {"broken.h5:/decreasing_pointers", "decreasing pointers at row 1"},
      {"broken.h5:/large_pointer", "pointer to entry 9"},
      {"broken.h5:/huge_pointer", "pointer to entry 4611686018427387904"},
      {"broken.h5:/late_start", "start at 1 instead of 0"},
      {"broken.h5:/early_end", "end at 2, but 3 entries"},
      {"broken.h5:/few_pointers", "3 entries instead of 4"},
      {"broken.h5:/index_too_large", "column number 3, outside 0..2"},
      {"broken.h5:/index_huge", "row 1 with column number 2147483647 or more"},
      {"broken.h5:/index_negative", "column number -1"},
      {"broken.h5:/unsorted", "unsorted entries near row 0"},
      {"broken.h5:/duplicate", "two entries for row 0, column 1"},
      {"broken.h5:/duplicate_csc", "two entries for column 0, row 1"},
      {"broken.h5:/short_data", "2 entries instead of 3"},
      {"broken.h5:/nan", "has NaN at row 1, column 1"},
      {"broken.h5:/inf", "has Inf at row 2, column 2"},
      {"broken.h5:/float_indices", "holds float64 where integers are needed"},
      {"broken.h5:/negative_shape", "impossible shape -3 x 3"},
      {"broken.h5:/three_sizes", "no 'shape' of two integers"},
      {"broken.h5:/format_bsr", "SciPy format 'bsr'"},
      {"broken.h5:/wide", "2147483648 columns"},
      {"broken.h5:/huge_rows", "2 entries instead of 1125899906842625"},
      {"broken.h5:/no_shape", "no 'shape'"},
      {"broken.h5:/huge_coo", "of memory to read", Errc::out_of_memory},
      {"broken.h5:/string_data", "holds strings, not numbers"},
      {"broken.h5:/dense_nan", "has NaN at row 2, column 1"},
      {"broken.h5:/dense_inf_half", "has Inf at row 2, column 1"},
      {"broken.h5:/strings", "holds strings"},
      {"broken.h5:/ragged", "ragged"},
      {"broken.h5:/references", "references"},
      {"broken.h5:/records", "a compound"},
      {"broken.h5:/null", "no shape"},
      {"broken.h5:/never_written", "of memory to read", Errc::out_of_memory},
      {"broken.h5:/never_written_small", "ever written"},
      {"broken.h5:/impossible", "impossible shape"},
      {"binsparse_more.h5:/bad_version", "version 1.0.0"},
      {"binsparse_more.h5:/bad_format", "format 'BSR'"},
      {"binsparse_more.h5:/bad_shape", "shape of 3 numbers"},
      {"binsparse_more.h5:/bad_triangle",
       "declared symmetric with its lower triangle stored, but has an entry at (0, 1)"},
      {"binsparse_more.h5:/bad_diagonal", "diagonal entry at (0, 0) is not real"},
      {"binsparse_more.h5:/bad_rectangle", "declared symmetric but has 4 rows and 3 columns"},
      {"binsparse_more.h5:/bad_dense", "do not mirror each other"},
      {"binsparse_more.h5:/bad_fill", "fill value"},
      {"binsparse_more.h5:/bad_json", "not a JSON object"},
      {"binsparse_more.h5:/deep_json", "not a JSON object"},
      {"binsparse_more.h5:/huge_dense", "impossible shape"},
      {"binsparse_more.h5:/huge_dcsr", "more than 2^64 bytes", Errc::out_of_memory},
  };
  for (const Malformed& c : cases) {
    INFO(c.object);
    const auto place = fixture(c.object);  // the sentence names the file and the object
    check_refusal(refusal_of(c.object), c.code, {c.words, place.file.string(), place.object});
  }
}

TEST_CASE("NaN and Inf pass when the caller looks after them") {
  CHECK(std::isnan(table_in("broken.h5:/nan", {.check_finite = false})(1, 1).real()));
  CHECK(std::isinf(table_in("broken.h5:/dense_inf_half", {.check_finite = false})(2, 1).real()));
}

TEST_CASE("the row of a NaN counts from the first row of the whole matrix") {
  CHECK(refusal_of("broken.h5:/dense_nan", {.row_begin = 1}).says("row 2, column 1"));
  CHECK(refusal_of("broken.h5:/inf", {.row_begin = 1}).says("row 2, column 2"));
  CHECK_NOTHROW(table_in("broken.h5:/dense_nan", {.row_begin = 3}));
}

TEST_CASE("duplicates add up when that is accepted") {
  io::ReadOptions options{.accept_unsorted = true};
  CHECK(table_in("broken.h5:/duplicate", options) == Table(3, 3, {0, 3, 0, 0, 0, 0, 0, 0, 3}));
  CHECK(table_in("broken.h5:/duplicate_csc", options) == Table(3, 3, {0, 0, 0, 3, 0, 0, 0, 0, 3}));
  CHECK(table_in("broken.h5:/unsorted", options) == Table(3, 3, {2, 1, 0, 0, 0, 0, 0, 0, 3}));
}

TEST_CASE("a named pipe is refused at once, whatever its name says") {
  const TemporaryFolder folder;
  for (const char* name : {"a.csv", "a.mtx", "a.npy", "a.arff", "a.h5"}) {
    REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
    CHECK(refusal_of(io::Location{folder / name, ""}).says("is not a regular file"));
    CHECK(refusal_of([&] { (void)io::read_vector({folder / name, ""}); }).says("is not a regular file"));
  }
}

TEST_CASE("Parquet and Arrow files are refused with the way to convert them") {
  CHECK(
      refusal_in("a.parquet", "PAR1....PAR1").says("a.parquet is a Parquet file, which is not read: docs/parquet.py"));
  CHECK(refusal_in("b.dat2", "PAR1....PAR1").says("python3 parquet.py b.dat2 table.npy"));
  CHECK(refusal_in("c.feather", "ARROW1..").says("is an Arrow file"));
  CHECK(refusal_in("d.arrow", "anything").says("pandas.read_feather"));
  CHECK(refusal_in("e.bin", "anything").says("its name is none of"));
}

TEST_CASE("text for a terminal keeps characters and spells out orders") {
  CHECK(io::printable("a b/c\\\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == "a b/c\\\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(io::printable("\x1b[31m\n\r\t\x7f") == "\\x1b[31m\\x0a\\x0d\\x09\\x7f");
  CHECK(io::printable("\xc2\x9b") == "\\xc2\\x9b");                       // the second set of control characters
  CHECK(io::printable("\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8") ==  // orders of direction, a line's end
        "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xd8\\x9c\\xe2\\x80\\xa8");
  CHECK(io::printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(io::printable("\xed\xa0\x80\xe0\x80\x80") == "\\xed\\xa0\\x80\\xe0\\x80\\x80");  // no characters
  CHECK(io::printable("\x9b\xff\xe2\x82") == "\\x9b\\xff\\xe2\\x82");                    // no UTF-8
  CHECK(io::Location{"a\nb.h5", "/\x1b"}.text() == "a\\x0ab.h5:/\\x1b");
}

// Files in formats that are not read are named, and the way to one that is.

TEST_CASE("compressed files are named with the command that opens them") {
  CHECK(refusal_in("f.csv.xz", std::string("\xfd"
                                           "7zXZ\0rest",
                                           10))
            .says("f.csv.xz is compressed by xz, which is not supported: xzcat f.csv.xz | tskmeans -"));
  CHECK(refusal_in("f.csv", "BZh91AY&SYrest").says("by bzip2, which is not supported: bzcat f.csv | tskmeans -"));
  CHECK(refusal_in("f.npy.zst", "\x28\xb5\x2f\xfdrest").says("by Zstandard"));
  CHECK(refusal_in("f.lz4", "\x04\x22\x4d\x18rest").says("by LZ4"));
  CHECK(refusal_in("f.npy.gz", "\x1f\x8b\x08rest").says("by gzip, which is not supported: zcat f.npy.gz"));
  CHECK(refusal_in("f.csv", "BZhang,b\n1,x\n").says("field 2 (b) is 'x'"));  // a name in the first line
}

TEST_CASE("spreadsheets, Zarr stores and svmlight are named with what reads them") {
  std::string zip("PK\3\4", 4);
  zip.append(26, '\0');
  CHECK(refusal_in("f.xlsx", zip + "[Content_Types].xml").says("f.xlsx is a spreadsheet"));
  CHECK(refusal_in("f.xlsx", zip + "[Content_Types].xml").says("pandas.read_excel(\"f.xlsx\").to_csv("));
  CHECK(refusal_in("f.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1").says("is a spreadsheet"));
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "f.zarr");
  CHECK(refusal_of([&] { (void)io::describe({folder / "f.zarr", ""}); }).says("is a folder, not a file"));
  folder.file("f.zarr/zarr.json", "{}");
  CHECK(refusal_of([&] { (void)io::describe({folder / "f.zarr", ""}); }).says("f.zarr is a Zarr store"));
  for (const char* name : {"f.svm", "f", "f.txt", "f.dat"}) {
    CAPTURE(name);
    CHECK(refusal_in(name, "+1 1:0.5 3:-2e-1\n-1 2:1\n").says("is in svmlight's format, which is not read"));
  }
  CHECK(refusal_in("f.txt", "# ranks\n2 qid:3 1:0.5 3:0.25\n").says("f.txt is in svmlight's format"));
  CHECK(refusal_in("f", "1 2 3\n").says("its name is none of"));
}

// Values that dense matrices lack, which are NaN there.

TEST_CASE("rows that lack a value are left out, of files that are no text too") {
  const TemporaryFolder folder;
  const Matrix<double> x = holes(1003);
  for (const io::Location& where : files(folder, x)) {
    CAPTURE(where.text());
    CHECK(refusal_of(where).says("has NaN at row 0, column 1"));
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
    CHECK(a(1, 1) == Approx(sum / 802).epsilon(allowed::seven_digits));
  }
}

TEST_CASE("what else is there is refused as ever, beside missing values") {
  const TemporaryFolder folder;
  Matrix<double> x = holes(20);
  x(7, 0) = std::numeric_limits<double>::infinity();
  for (const io::Location& where : files(folder, x))
    for (const auto how : {io::Missing::drop, io::Missing::mean})
      CHECK(refusal_of(where, with(how))
                .says(how == io::Missing::drop ? "has Inf at row 5, column 0" : "has Inf at row 7, column 0"));
  x = Matrix<double>::zeros(20, 2);
  for (index_t i = 0; i < 20; ++i) x(i, 1) = lacking;
  for (const io::Location& where : files(folder, x)) {
    CHECK(refusal_of(where, with(io::Missing::mean)).says("column 1"));
    CHECK(io::describe(where, with(io::Missing::drop)).rows == 0);
    CHECK(io::read_dense_as<double>(where, with(io::Missing::drop)).rows() == 0);
  }
  CHECK(refusal_of("scipy.h5:/csr", with(io::Missing::drop)).says("is sparse"));
  CHECK(refusal_of("dense.h5:/pair", with(io::Missing::drop)).says("is complex"));
}
