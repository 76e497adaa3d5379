// What is broken is refused with a sentence that names the file, the object and the cause.
#include <sys/stat.h>

#include "tallskinny/tests/io/support.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("malformed objects are refused, each for its own reason") {
  struct Case {
    const char* object;
    const char* words;
    Errc code = Errc::bad_input;
  };
  const Case cases[] = {
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
  for (const Case& c : cases) {
    INFO(c.object);
    const auto refused = refusal_of(c.object);
    INFO(refused.sentence);
    CHECK(refused.code == c.code);
    CHECK(refused.says(c.words));
    CHECK(refused.says(fixture(c.object).file.string()));  // the sentence names the file
    CHECK(refused.says(fixture(c.object).object));         // and the object
  }
}

TEST_CASE("NaN and Inf pass when the caller looks after them") {
  io::ReadOptions options;
  options.check_finite = false;
  CHECK(std::isnan(table_in("broken.h5:/nan", options)(1, 1).real()));
  CHECK(std::isinf(table_in("broken.h5:/dense_inf_half", options)(2, 1).real()));
}

TEST_CASE("the row of a NaN counts from the first row of the whole matrix") {
  io::ReadOptions options;
  options.row_begin = 1;
  CHECK(refusal_of("broken.h5:/dense_nan", options).says("row 2, column 1"));
  CHECK(refusal_of("broken.h5:/inf", options).says("row 2, column 2"));
  options.row_begin = 3;
  CHECK_NOTHROW(table_in("broken.h5:/dense_nan", options));
}

TEST_CASE("duplicates add up when that is accepted") {
  io::ReadOptions options;
  options.accept_unsorted = true;
  CHECK(table_in("broken.h5:/duplicate", options) == Table(3, 3, {0, 3, 0, 0, 0, 0, 0, 0, 3}));
  CHECK(table_in("broken.h5:/duplicate_csc", options) == Table(3, 3, {0, 0, 0, 3, 0, 0, 0, 0, 3}));
  CHECK(table_in("broken.h5:/unsorted", options) == Table(3, 3, {2, 1, 0, 0, 0, 0, 0, 0, 3}));
}

TEST_CASE("a named pipe is refused at once, whatever its name says") {
  const TemporaryFolder folder;
  for (const char* name : {"a.csv", "a.mtx", "a.npy", "a.arff", "a.h5"}) {
    REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
    CHECK(refusal_of([&] { (void)io::read_matrix({folder / name, ""}); }).says("is not a regular file"));
    CHECK(refusal_of([&] { (void)io::read_vector({folder / name, ""}); }).says("is not a regular file"));
  }
}

TEST_CASE("Parquet and Arrow files are refused with the way to convert them") {
  const TemporaryFolder folder;
  const auto refused = [&](const char* name, const char* content) {
    return refusal_of([&] { (void)io::read_matrix(file_in(folder, name, content)); });
  };
  CHECK(refused("a.parquet", "PAR1....PAR1").says("a.parquet is a Parquet file, which is not read: docs/parquet.py"));
  CHECK(refused("b.dat2", "PAR1....PAR1").says("python3 parquet.py b.dat2 table.npy"));
  CHECK(refused("c.feather", "ARROW1..").says("is an Arrow file"));
  CHECK(refused("d.arrow", "anything").says("pandas.read_feather"));
  CHECK(refused("e.bin", "anything").says("its name is none of"));
}
