#include "tallskinny/tests/io/support.hpp"

using namespace ts;
using namespace ts::test;

namespace {
const std::string head =
    "% a comment\n@RELATION flowers\n@attribute 'petal length' REAL\n@Attribute width\tnumeric\n"
    "@ATTRIBUTE kind {setosa, 'iris virginica'}\n@ATTRIBUTE n integer\n@DATA\n";
const std::string body = "4.8,3.4,setosa,1\n% between\n\n 5,3,'iris virginica',2\n";

Refusal refused_arff(const std::string& content) {
  TemporaryFolder folder;
  return refusal_of([&] { (void)io::read_matrix(file_in(folder, "f.arff", content)); });
}
}  // namespace

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
