#include <zlib.h>

#include "tallskinny/tests/io/support.hpp"

namespace {

Table read_market(const std::string& content, const io::ReadOptions& options = {}) {
  TemporaryFolder folder;
  return table_of(io::read_matrix(file_in(folder, "m.mtx", content), options));
}
Refusal refused_market(const std::string& content) { return refusal_in("m.mtx", content); }

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

}  // namespace

TEST_CASE("coordinate files of every field") {
  CHECK(read_market(general + "% a comment\n\n2 3 3\n1 1 1.5\n\n2 3 -2e-1\n1 2 +4\n") ==
        Table(2, 3, {1.5, 4, 0, 0, 0, -0.2}));
  CHECK(read_market("%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 1 7") == Table(2, 2, {0, 0, 7, 0}));
  CHECK(read_market("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n") == Table(2, 2, {0, 0, 1, 0}));
  CHECK(read_market("%%MATRIXMARKET Matrix Coordinate Complex General\r\n1 2 1\r\n1 2 1 -2\r\n") ==
        Table(1, 2, {0, {1, -2}}));
  CHECK(read_market(general + "1 1 1\n1 1 1.5D+01\n") == Table(1, 1, {15}));
  CHECK(read_market(general + "0 0 0\n") == Table(0, 0));
  CHECK(read_market(general + "3 2 0\n") == Table(3, 2));
}

TEST_CASE("symmetries are expanded, whichever triangle is stored") {
  const std::string head = "%%MatrixMarket matrix coordinate ";
  const Table symmetric(2, 2, {1, 3, 3, 0});
  CHECK(read_market(head + "real symmetric\n2 2 2\n1 1 1\n2 1 3\n") == symmetric);
  CHECK(read_market(head + "real symmetric\n2 2 2\n1 1 1\n1 2 3\n") == symmetric);
  CHECK(read_market(head + "pattern symmetric\n2 2 1\n2 1\n") == Table(2, 2, {0, 1, 1, 0}));
  CHECK(read_market(head + "real skew-symmetric\n2 2 1\n2 1 3\n") == Table(2, 2, {0, -3, 3, 0}));
  const std::string hermitian = head + "complex hermitian\n2 2 2\n1 1 1 0\n2 1 3 4\n";
  CHECK(read_market(hermitian) == Table(2, 2, {1, {3, -4}, {3, 4}, 0}));
  CHECK(read_market(hermitian, {.transpose = true}) == Table(2, 2, {1, {3, 4}, {3, -4}, 0}));
  CHECK(refused_market(head + "real symmetric\n2 2 2\n2 1 3\n1 2 3\n").says("two entries"));
  CHECK(refused_market(head + "real symmetric\n2 3 0\n").says("2 rows and 3 columns"));
  CHECK(refused_market(head + "complex hermitian\n1 1 1\n1 1 1 2\n").says("line 3: the matrix is declared hermitian"));
  CHECK(refused_market(head + "real skew-symmetric\n1 1 1\n1 1 1\n").says("not zero"));
}

TEST_CASE("array files are dense, column by column") {
  const std::string head = "%%MatrixMarket matrix array ";
  CHECK(read_market(head + "real general\n2 3\n1\n2\n3\n4\n5\n6\n") == Table(2, 3, {1, 3, 5, 2, 4, 6}));
  CHECK(read_market(head + "real general\n2 2\n1 2 3\n4\n") == Table(2, 2, {1, 3, 2, 4}));
  CHECK(read_market(head + "complex hermitian\n2 2\n1 0\n2 3\n4 0\n") == Table(2, 2, {1, {2, -3}, {2, 3}, 4}));
  CHECK(read_market(head + "integer skew-symmetric\n2 2\n5\n") == Table(2, 2, {0, -5, 5, 0}));
  CHECK(refused_market(head + "real general\n2 2\n1\n2\n3\n").says("ends before all 4 numbers"));
  CHECK(refused_market(head + "real general\n1 1\n1\n2\n").says("more numbers"));
  CHECK(refused_market(head + "pattern general\n1 1\n").says("field 'pattern'"));
}

TEST_CASE("rows can be chosen and the matrix turned") {
  const std::string content = general + "3 2 3\n1 1 1\n2 2 2\n3 1 3\n";
  CHECK(read_market(content, {.row_begin = 1, .row_end = 3}) == Table(2, 2, {0, 2, 3, 0}));
  CHECK(read_market(content, {.transpose = true}) == Table(2, 3, {1, 0, 3, 0, 2, 0}));
}

TEST_CASE("Matrix Market: errors name the line") {
  CHECK(refused_market(" %%MatrixMarket2\n").says("line 1"));
  CHECK(refused_market("%% MatrixMarket matrix coordinate real general\n1 1 0\n")
            .says("line 1: the first line must start with"));
  CHECK(refused_market("%%MatrixMarket vector coordinate real general\n").says("'vector'"));
  CHECK(refused_market("%%MatrixMarket matrix dense real general\n").says("'dense'"));
  CHECK(refused_market("%%MatrixMarket matrix coordinate double symmetric\n8 8\n").says("field 'double'"));
  CHECK(refused_market("%%MatrixMarket matrix coordinate real diagonal\n").says("symmetry 'diagonal'"));
  CHECK(refused_market(general).says("before the line with its sizes"));
  CHECK(refused_market(general + "2 2\n").says("line 2: a coordinate matrix needs three sizes"));
  CHECK(refused_market(general + "2 -2 1\n").says("negative size"));
  CHECK(refused_market(general + "2 2 1\n0 1 1\n").says("line 3: row 0 is outside 1..2"));
  CHECK(refused_market(general + "2 2 1\n1 3 1\n").says("line 3: column 3 is outside 1..2"));
  CHECK(refused_market(general + "2 2 1\n1 1\n").says("line 3: a number is missing"));
  CHECK(refused_market(general + "2 2 1\n1 1 x\n").says("line 3"));
  CHECK(refused_market(general + "2 2 1\n1 1 1 1\n").says("line 3: has more than an entry"));
  CHECK(refused_market(general + "2 2 1\n1.5 1 1\n").says("a row and a column number"));
  CHECK(refused_market(general + "2 2 2\n1 1 1\n").says("ends after 1 of 2 entries"));
  CHECK(refused_market(general + "2 2 1\n1 1 1\n2 2 1\n").says("line 4: follows the 1 entries"));
  CHECK(refused_market(general + "2 2 2\n1 1 1\n1 1 2\n").says("two entries for row 0, column 0"));
  CHECK(refused_market(general + "2 2 1\n2 1 nan\n").says("NaN at row 1, column 0"));
  CHECK(refused_market(general + "2 2 1\n2 1 1e999\n").says("Inf at row 1, column 0"));
}

TEST_CASE("Matrix Market: duplicates add up when that is accepted") {
  CHECK(read_market(general + "2 2 3\n1 2 1\n1 1 5\n1 2 2\n", {.accept_unsorted = true}) == Table(2, 2, {5, 3, 0, 0}));
}

TEST_CASE("sizes that a file cannot hold take no memory") {
  CHECK(refused_market(general + "9 9 4000000000000000000\n1 1 1\n").code != Errc::interrupted);
  CHECK(refused_market(general + "1000000 1000000 100000000\n1 1 1\n").says("more than a file of its size can hold"));
  const TemporaryFolder folder;
  const auto many = file_in(folder, "many.mtx", general + "2000000 2000000 2000000000000\n1 1 1\n");
  CHECK(
      refusal_of([&] { (void)io::describe(many); }).says("many.mtx declares 2000000000000 entries, more than a file"));
  CHECK(refused_market(general + "9000000000000000000 3 1\n1 1 1\n").code == Errc::out_of_memory);
  CHECK(refused_market(general + "3 9000000000000000000 1\n1 1 1\n").says("2^31 - 1"));
  CHECK(refused_market("%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n").code !=
        Errc::interrupted);
}

TEST_CASE("gzip: whole, truncated and damaged") {
  CHECK(table_in("scipy.mtx.gz") == matrix_z());
  const std::string whole = bytes_of("scipy.mtx.gz");
  check_refusal(refusal_in("cut.mtx.gz", whole.substr(0, whole.size() - 20)), Errc::bad_input, {"truncated"});
  std::string other = whole;
  other[other.size() / 2] = static_cast<char>(other[other.size() / 2] ^ 0x55);
  CHECK(refusal_in("odd.mtx.gz", other).code == Errc::bad_input);
}

TEST_CASE("a line that does not fit into the memory allowed is refused before it is there") {
  const TemporaryFolder folder;
  const auto where =
      file_in(folder, "a.mtx",
              "%%MatrixMarket matrix coordinate real general\n%" + std::string(20 << 20, 'x') + "\n1 1 1\n1 1 1\n");
  CHECK(table_of(io::read_matrix(where))(0, 0) == 1.0);
  check_refusal(refusal_of(where, {.memory_limit = 8 << 20}), Errc::out_of_memory, {"a.mtx needs"});
}

TEST_CASE("a line that a small file cannot mean to hold is refused") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.mtx.gz";
  const gzFile out = gzopen(file.c_str(), "wb1");
  REQUIRE(out != nullptr);
  const std::string part(1 << 20, 'x');
  gzputs(out, "%%MatrixMarket matrix coordinate real general\n%");
  for (int i = 0; i < 80; ++i) gzwrite(out, part.data(), static_cast<unsigned>(part.size()));
  gzputs(out, "\n1 1 1\n1 1 1\n");
  gzclose(out);
  CHECK(refusal_of(io::Location{file, ""}).says("line 1: is longer than 67.1 MB"));
}
