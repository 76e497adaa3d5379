#include "tallskinny/tests/io/support.hpp"

using namespace ts;
using namespace ts::test;

namespace {
Table read_csv(const std::string& content, const io::ReadOptions& options = {}) {
  TemporaryFolder folder;
  return table_of(io::read_matrix(file_in(folder, "t.csv", content), options));
}
Refusal refused_csv(const std::string& content) {
  return refusal_of([&] { (void)read_csv(content); });
}
}  // namespace

TEST_CASE("csv: separators, names, comments, quotes, line ends") {
  const Table expected(2, 3, {1, 2.5, -3, 4, 5, 6e3});
  CHECK(read_csv("1,2.5,-3\n4,5,6e3\n") == expected);
  CHECK(read_csv("1;2.5;-3\r\n4;5;6e3\r\n") == expected);
  CHECK(read_csv("1\t2.5\t-3\n4\t5\t6e3") == expected);
  CHECK(read_csv("  1   2.5 -3\n4 5  6e3  \n") == expected);
  CHECK(read_csv("a,b,c\n1,2.5,-3\n4,5,6e3\n") == expected);
  CHECK(read_csv("\"a, b\",\"b\",c\n\"1\", 2.5 ,-3\n\n# between\n4,5,+6e3\n") == expected);
  CHECK(read_csv("\xef\xbb\xbf"
                 "1,2.5,-3\n4,5,6e3\n") == expected);
  CHECK(read_csv("x\n7\n8\n") == Table(2, 1, {7, 8}));
}

TEST_CASE("csv: the transpose and some rows") {
  io::ReadOptions options;
  options.transpose = true;
  options.row_begin = 1, options.row_end = 2;
  CHECK(read_csv("1,2\n3,4\n5,6\n", options) == Table(1, 3, {2, 4, 6}));
}

TEST_CASE("csv: a column that counts the rows is read only where that is said") {
  io::ReadOptions drop, keep, both;
  drop.drop_index = keep.keep_index = both.drop_index = both.keep_index = true;
  const Table numbers(3, 2, {5, 6, 7, 8, 9, 5}), all(3, 3, {0, 5, 6, 1, 7, 8, 2, 9, 5});
  for (const char* head : {",a,b\n", "Unnamed: 0,a,b\n", "\"\",a,b\n"}) {
    CAPTURE(head);
    const std::string text = head + std::string("0,5,6\n1,7,8\n2,9,5\n");
    CHECK(refused_csv(text).says("t.csv: the first column has no name and counts the rows"));
    CHECK(refused_csv(text).says("--drop-index leaves it out, --keep-index reads it"));
    CHECK(read_csv(text, drop) == numbers);
    CHECK(read_csv(text, keep) == all);
    CHECK(refused_csv(head + std::string("1,5,6\n2,7,8\n")).says("counts the rows"));
    CHECK(read_csv(head + std::string("1,5,6\n2,7,8\n3,9,5\n"), drop) == numbers);
  }
  // An index in another order is told of, and can be left out.
  CHECK(read_csv(",a,b\n0,5,6\n2,7,8\n1,9,5\n").rows == 3);
  CHECK(read_csv(",a,b\n2,5,6\n0,7,8\n1,9,5\n", drop) == numbers);
  // A name, or no line of names, makes it a column like others.
  CHECK(read_csv("id,a,b\n0,5,6\n1,7,8\n2,9,5\n") == all);
  CHECK(read_csv("0,5,6\n1,7,8\n2,9,5\n") == all);
  const auto refusal = [&](const std::string& text, const io::ReadOptions& options) {
    return refusal_of([&] { (void)read_csv(text, options); });
  };
  CHECK(refusal("id,a\n0,5\n", drop).says("has a name"));
  CHECK(refusal(",a\n0,5\n", both).says("exclude each other"));
}

TEST_CASE("csv: an index without a name is told of") {
  TemporaryFolder folder;
  const auto note = [&](const std::string& text) { return io::describe(file_in(folder, "x.csv", text)).note; };
  CHECK(note(",a\n0,1.5\n1,2.5\n").find("none for the first column") != std::string::npos);
  CHECK(note("a,b\n0,1.5\n") == "the first line holds names");
  CHECK(note("0,1.5\n").empty());
}

TEST_CASE("csv: errors name line and field") {
  CHECK(refused_csv("1,2\n3\n").says("line 2: has 1 fields; the first line has 2"));
  CHECK(refused_csv("1,2\n3,4,5\n").says("line 2: has 3 fields"));
  CHECK(refused_csv("1,2\n3,\n").says("line 2: field 2 is empty"));
  CHECK(refused_csv("a,b\n1,2\n3,x\n").says("line 3: field 2 is 'x'"));
  CHECK(refused_csv("1,x\n1,2\n").says("line 1: field 2 is 'x'"));  // a number stands in it: no line of names
  CHECK(refused_csv("1,5;2,5\n3,5;4,5\n").says("line 2: field 1 is '3,5'"));
  CHECK(refused_csv("1,nan\n").says("NaN at row 0, column 1"));
  CHECK(refused_csv("# nothing\n\n").says("holds no numbers"));
  CHECK(refused_csv("a,b\n").says("holds no number"));
}
