#include "tallskinny/tests/io/support.hpp"

namespace {

Table read_csv(const std::string& content, const io::ReadOptions& options = {}) {
  TemporaryFolder folder;
  return table_of(io::read_matrix(file_in(folder, "t.csv", content), options));
}
Refusal refused_csv(const std::string& content) { return refusal_in("t.csv", content); }

const std::string head =
    "% a comment\n@RELATION flowers\n@attribute 'petal length' REAL\n@Attribute width\tnumeric\n"
    "@ATTRIBUTE kind {setosa, 'iris virginica'}\n@ATTRIBUTE n integer\n@DATA\n";
const std::string body = "4.8,3.4,setosa,1\n% between\n\n 5,3,'iris virginica',2\n";

Refusal refused_arff(const std::string& content) { return refusal_in("f.arff", content); }

}  // namespace

TEST_CASE("csv: separators, names, comments, quotes, line ends") {
  const Table expected(2, 3, {1, 2.5, -3, 4, 5, 6e3});
  CHECK(read_csv("1,2.5,-3\n4,5,6e3\n") == expected);
  CHECK(read_csv("1;2.5;-3\r\n4;5;6e3\r\n") == expected);
  CHECK(read_csv("1\t2.5\t-3\n4\t5\t6e3") == expected);
  CHECK(read_csv("  1   2.5 -3\n4 5  6e3  \n") == expected);
  CHECK(read_csv("a,b,c\n1,2.5,-3\n4,5,6e3\n") == expected);
  CHECK(read_csv("\"a, b\",\"b\",c\n\"1\", 2.5 ,-3\n\n4,5,+6e3\n") == expected);
  CHECK(read_csv("1|2.5|-3\n4|5|6e3\n") == expected);
  CHECK(read_csv("sep=;\r\na;b;c\r\n1;2.5;-3\r\n4;5;6e3\r\n") == expected);
  CHECK(read_csv("SEP=\t\n1\t2.5\t-3\n4\t5\t6e3\n") == expected);
  CHECK(read_csv("\xef\xbb\xbf"
                 "1,2.5,-3\n4,5,6e3\n") == expected);
  CHECK(read_csv("x\n7\n8\n") == Table(2, 1, {7, 8}));
}

TEST_CASE("csv: comments begin with # before the first other line, or as --comment says") {
  CHECK(read_csv("# made by hand\n\n #\na,b\n1,2\n") == Table(1, 2, {1, 2}));
  io::ReadOptions options;
  options.table.missing = io::Missing::mean;
  CHECK(read_csv("a,b\n#N/A,1\n2,3\n4,5\n", options) == Table(3, 2, {3, 1, 2, 3, 4, 5}));
  CHECK(read_csv("#N/A,1\n2,3\n", options) == Table(2, 2, {2, 1, 2, 3}));
  CHECK(refused_csv("#N/A,1\n2,3\n").says("line 1: field 1 is '#N/A', not a number; --missing drop"));
  CHECK(refused_csv("#DIV/0!,1\n2,3\n").says("line 1: field 1 is '#DIV/0!', not a number"));
  CHECK(refused_csv("a,b\n1,2\n# end\n").says("line 3: field 1 (a) is '# end', not a number; --comment '#'"));
  options = {};
  options.comment = "#";
  CHECK(read_csv("a,b\n1,2\n# end\n", options) == Table(1, 2, {1, 2}));
  options.comment = "//";
  CHECK(read_csv("// x\n1,2\n// y\n3,4\n", options) == Table(2, 2, {1, 2, 3, 4}));
  options.comment = "";
  CHECK(read_csv("#a,b\n1,2\n", options) == Table(1, 2, {1, 2}));
  const TemporaryFolder folder;
  const auto where = file_in(folder, "c.csv", "#1,2\n#2,3\n5,6\n");
  CHECK(io::describe(where).note == "2 lines are comments");
  CHECK(io::describe(where, options).column_names.empty());
  CHECK(refusal_of(where, options).says("field 1 is '#1'"));
}

TEST_CASE("csv: a separator at the end of lines is followed by no column") {
  const Table expected(2, 2, {1, 2, 3, 4});
  for (const char* text : {"a,b,\n1,2,\n3,4,\n", "1,2,\n3,4,\n", "a,b\n1,2,\n3,4,\n", "a,b,\n1,2\n3,4\n",
                           "a\tb\t\r\n1\t2\t\r\n3\t4\t\r\n", "a,b,\n1,2, \n3,4,\"\"\n"}) {
    CAPTURE(text);
    CHECK(read_csv(text) == expected);
  }
  io::ReadOptions options;
  options.table.missing = io::Missing::mean;
  CHECK(read_csv("1,2,\n3,4,5\n", options) == Table(2, 3, {1, 2, 5, 3, 4, 5}));  // a column with a value
  CHECK(read_csv("a,b,\n1,2,3\n") == Table(1, 3, {1, 2, 3}));
  options.table.missing = io::Missing::refuse, options.table.drop = {"-1"};
  CHECK(read_csv("a,b,\n1,2,\n", options) == Table(1, 1, {1}));
  CHECK(refused_csv("a,b\n1,2,,\n").says("has 4 fields"));
  CHECK(refused_csv("a,b,c\n1,2,\n").says("field 3 (c) is empty"));
}

TEST_CASE("csv: text that is not UTF-8 is named") {
  const auto of_units = [](const std::string& text, std::size_t zeros, bool big, const std::string& mark) {
    std::string wide = mark;
    for (const char c : text) wide += big ? std::string(zeros, '\0') + c : c + std::string(zeros, '\0');
    return wide;
  };
  for (const std::string mark : {"", "\xff\xfe"})
    CHECK(refused_csv(of_units("a,b\n1,2\n", 1, false, mark)).says("t.csv is UTF-16 text"));
  for (const std::string mark : {"", "\xfe\xff"})
    CHECK(refused_csv(of_units("a,b\n1,2\n", 1, true, mark)).says("iconv -f UTF-16 -t UTF-8"));
  CHECK(refused_csv(of_units("a,b\n1,2\n", 3, false, std::string("\xff\xfe\0\0", 4))).says("t.csv is UTF-32 text"));
  const std::string zero("a,b\n1,\0002\n", 9);
  CHECK(refused_csv(zero).says("line 2: field 2 (b) is '\\x002', not a number; --drop b"));
}

TEST_CASE("csv: the transpose and some rows") {
  CHECK(read_csv("1,2\n3,4\n5,6\n", {.transpose = true, .row_begin = 1, .row_end = 2}) == Table(1, 3, {2, 4, 6}));
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
  CHECK(mentions(note(",a\n0,1.5\n1,2.5\n"), "none for the first column"));
  CHECK(note("a,b\n0,1.5\n") == "the first line holds names");
  CHECK(note("0,1.5\n").empty());
}

TEST_CASE("csv: errors name line and field") {
  CHECK(refused_csv("1,2\n3\n").says("line 2: has 1 fields; the first line has 2"));
  CHECK(refused_csv("1,2\n3,4,5\n").says("line 2: has 3 fields"));
  CHECK(refused_csv("1,2\n3,\n").says("line 2: field 2 is empty; --missing drop leaves out such rows"));
  CHECK(refused_csv("a,b\n1,2\n3,x\n").says("line 3: field 2 (b) is 'x', not a number; --drop b leaves"));
  CHECK(refused_csv("1,x\n1,2\n").says("line 1: field 2 is 'x'"));  // a number stands in it: no line of names
  CHECK(refused_csv("1,5;2,5\n3,5;4,5\n").says("line 2: field 1 (1,5) is '3,5', not a number; --decimal comma"));
  CHECK(refused_csv("1,nan\n").says("NaN at row 0, column 1"));
  CHECK(refused_csv("# nothing\n\n").says("holds no numbers"));
  CHECK(refused_csv("a,b\n").says("holds no number"));
}

namespace {
io::ReadOptions with_table(const io::TableOptions& table) { return io::ReadOptions{.table = table}; }
Refusal refused_table(const std::string& content, const io::TableOptions& table) {
  return refusal_of([&] { (void)read_csv(content, with_table(table)); });
}
}  // namespace

TEST_CASE("csv: columns by name, number and range; those left out; labels") {
  const std::string text = "id,a,b,c,kind\n9,1,2,3,x\n8,4,5,6,y\n";
  const auto read = [&](const io::TableOptions& table) { return read_csv(text, with_table(table)); };
  CHECK(read({.columns = {"c", "a"}}) == Table(2, 2, {1, 3, 4, 6}));
  CHECK(read({.columns = {"1-3"}}) == Table(2, 3, {1, 2, 3, 4, 5, 6}));
  CHECK(read({.columns = {"0", "-2"}}) == Table(2, 2, {9, 3, 8, 6}));
  CHECK(read({.drop = {"id", "kind"}}) == Table(2, 3, {1, 2, 3, 4, 5, 6}));
  CHECK(read({.columns = {"0-3"}, .drop = {"b"}}) == Table(2, 3, {9, 1, 3, 8, 4, 6}));
  CHECK(read({.drop = {"id"}, .labels = "kind"}) == Table(2, 3, {1, 2, 3, 4, 5, 6}));
  // A name wins over a range.
  CHECK(read_csv("x,1-2,c\n5,6,7\n", with_table({.columns = {"1-2"}})) == Table(1, 1, {6}));
  CHECK(refused_table(text, {.columns = {"d"}}).says("--columns: "));
  CHECK(refused_table(text, {.columns = {"d"}}).says("has no column 'd'; it has columns 0 to 4: id, a, b, c, kind"));
  CHECK(refused_table(text, {.drop = {"3-9"}}).says("--drop: "));
  CHECK(refused_table("a,a\n1,2\n", {.drop = {"a"}}).says("several columns 'a'"));
  CHECK(refused_table("a,b\n1,2\n", {.drop = {"a", "b"}}).says("leave no column"));
  // Columns that are not read need not be numbers, and an index that is left out is not reported.
  CHECK(read_csv(",a\n0,5\n1,6\n", with_table({.columns = {"a"}})) == Table(2, 1, {5, 6}));
  TemporaryFolder folder;
  CHECK(io::describe(file_in(folder, "t.csv", text), with_table({.drop = {"id", "kind"}})).column_names ==
        std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("csv: rows that lack a value are refused, left out, or filled with means") {
  const std::string text = "a,b,name\n1,2,u\n,4,v\n3,NA,\n5,nan,w\n7,8,x\n";
  const auto options = [](io::Missing missing) { return with_table({.drop = {"name"}, .missing = missing}); };
  CHECK(read_csv(text, options(io::Missing::drop)) == Table(2, 2, {1, 2, 7, 8}));
  const double a = (1. + 3 + 5 + 7) / 4, b = (2. + 4 + 8) / 3;
  CHECK(read_csv(text, options(io::Missing::mean)) == Table(5, 2, {1, 2, a, 4, 3, b, 5, b, 7, 8}));
  CHECK(refusal_of([&] {
          (void)read_csv(text, options(io::Missing::refuse));
        }).says("line 3: field 1 (a) is empty; --missing drop leaves out such rows, --missing mean takes the mean"));
  // Rows are counted among those that are left; means are those of all rows.
  auto some = options(io::Missing::drop);
  some.row_begin = 1, some.row_end = 2;
  CHECK(read_csv(text, some) == Table(1, 2, {7, 8}));
  some = options(io::Missing::mean);
  some.row_begin = 1, some.row_end = 3;
  CHECK(read_csv(text, some) == Table(2, 2, {a, 4, 3, b}));
  TemporaryFolder folder;
  const auto where = file_in(folder, "t.csv", text);
  auto d = io::describe(where, options(io::Missing::drop));
  CHECK((d.rows == 2 && d.rows_dropped == 3 && d.values_filled == 0));
  d = io::describe(where, options(io::Missing::mean));
  CHECK((d.rows == 5 && d.rows_dropped == 0 && d.values_filled == 3));
  CHECK(refused_table("a,b\n1,\n2,NA\n", {.missing = io::Missing::mean}).says("field 2 (b) has no value in any row"));
  CHECK(refused_table("a,b\n1,x\n", {.missing = io::Missing::drop}).says("line 2: field 2 (b) is 'x', not a number"));
  CHECK(read_csv("a,b\n1,\n", with_table({.missing = io::Missing::drop})).rows == 0);
}

TEST_CASE("csv: decimal commas") {
  const auto comma = with_table({.decimal_comma = true});
  CHECK(read_csv("a;b\n1,5;-2\n\"3,25\";1e3\n", comma) == Table(2, 2, {1.5, -2, 3.25, 1000}));
  CHECK(read_csv("1,5\t2\n3\t4,5\n", comma) == Table(2, 2, {1.5, 2, 3, 4.5}));
  CHECK(read_csv("1,5\n2,5\n", comma) == Table(2, 1, {1.5, 2.5}));
  CHECK(refused_table("a;b\n1.000,5;2\n", {.decimal_comma = true})
            .says("line 2: field 1 (a) is '1.000,5', not a number: with --decimal comma a number has no point"));
}

TEST_CASE("columns of dense matrices that are no text have numbers") {
  CHECK(table_in("c_order.npy", with_table({.columns = {"0", "2"}})).cols == 2);
  const auto d = io::describe(fixture("c_order.npy"), with_table({.drop = {"1"}}));
  CHECK((d.cols == 2 && d.bytes == io::describe(fixture("c_order.npy")).bytes / 3 * 2));
  Table kept = matrix_d(), some(5, 2);
  for (index_t i = 0; i < 5; ++i) some(i, 0) = kept(i, 0), some(i, 1) = kept(i, 2);
  CHECK(table_in("c_order.npy", with_table({.drop = {"1"}})) == some);
  CHECK(refusal_of("c_order.npy", with_table({.columns = {"x"}})).says("has no column 'x'; it has columns 0 to 2"));
  CHECK(refusal_of("sparse_csr.npz", with_table({.columns = {"0"}})).says("is sparse"));
  CHECK(refusal_of("c_order.npy", with_table({.decimal_comma = true})).says("--decimal is for csv files"));
}

TEST_CASE("arff: numeric attributes make the matrix, a nominal one gives labels") {
  TemporaryFolder folder;
  auto where = file_in(folder, "f.arff", head + body);
  const auto read = io::read_matrix(where);
  CHECK(table_of(read) == Table(2, 3, {4.8, 3.4, 1, 5, 3, 2}));
  CHECK(read.description.note == "left out: attribute kind");
  where.object = "KIND";
  CHECK(io::read_vector(where) == std::vector<double>{0, 1});
  where.object = "petal length";
  CHECK(io::read_vector(where) == std::vector<double>{4.8, 5});
  where.object = "none";
  CHECK(refusal_of([&] { (void)io::read_vector(where); }).says("petal length, width, kind, n"));
}

TEST_CASE("arff: errors name line and attribute") {
  CHECK(refused_arff(head + "1,2,setosa\n").says("line 8: has 3 values for 4 attributes"));
  CHECK(refused_arff(head + "?,2,setosa,1\n").says("attribute 'petal length' is missing"));
  CHECK(refused_arff(head + "1,x,setosa,1\n").says("attribute 'width' is 'x'"));
  CHECK(refused_arff(head + "{0 1}\n").says("sparse rows"));
  CHECK(refused_arff("@relation r\n@attribute a {x}\n@data\nx\n").says("no numeric attribute"));
  CHECK(refused_arff("@relation r\n@attribute a real\n").says("ends before @data"));
  CHECK(refused_arff("@relation r\nfoo\n").says("line 2: 'foo'"));
  CHECK(refused_arff("@relation r\n@attribute 'a real\n").says("not closed"));
  TemporaryFolder folder;
  auto where = file_in(folder, "f.arff", head + "1,2,other,1\n");
  where.object = "kind";
  CHECK(refusal_of([&] { (void)io::read_vector(where); }).says("'other' is not a value of attribute 'kind'"));
}
