#include "tallskinny/tests/app/tskmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// 40 points in two groups, with a number and a known group, and two rows that lack a value.
std::string table(const TemporaryFolder& folder, bool decimal_comma = false) {
  std::string text = "id,height,width,group\n";
  for (int i = 0; i < 40; ++i) {
    const bool second = i % 2 == 1;
    text += std::to_string(1000 * i) + ',' + (i == 4 ? "" : (second ? "10." : "0.") + std::to_string(i + 10)) + ',' +
            (i == 9 ? "NA" : (second ? "5." : "1.") + std::to_string(i + 10)) + ',' + (second ? "big" : "small") + '\n';
  }
  if (decimal_comma)
    for (char& c : text) c = c == ',' ? ';' : c == '.' ? ',' : c;
  return folder.file(decimal_comma ? "comma.csv" : "points.csv", text);
}

}  // namespace

TEST_CASE("columns of a csv file are chosen, and rows that lack a value are told of", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = table(folder), centers = folder / "centers.csv", labels = folder / "labels.csv";
  const std::vector<std::string> common = {file, "-k", "2", "--drop", "id", "--labels-column", "group"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  const ProcessResult refused = tskmeans(common);
  CHECK(refused.code == 4);
  CHECK(mentions(refused.err, file + " line 6: field 2 (height) is empty; --missing drop leaves out such rows"));

  const auto dropped = json_of(tskmeans(with({"--missing", "drop", "--json", "--centers-out", centers})));
  CHECK(dropped["rows"] == 38);
  CHECK(dropped["cols"] == 2);
  CHECK(dropped["rows_dropped"] == 2);
  CHECK(dropped["values_filled"] == 0);
  CHECK(dropped["cluster_sizes"] == nlohmann::json({19, 19}));
  CHECK(dropped["known_labels"] == 2);
  CHECK(dropped["adjusted_rand_index"] == 1);
  CHECK(mentions(tskmeans(with({"--missing", "drop"})).out, "adjusted Rand index 1 with the 2 labels of column group"));
  CHECK(json_of(
            tskmeans({file, "-k", "2", "--columns", "id", "--labels-column", "group", "--json"}))["adjusted_rand_index"]
            .get<double>() < 0.5);
  CHECK(content_of(centers).starts_with("height,width\n"));

  const auto filled = json_of(tskmeans(with({"--missing", "mean", "--json", "--labels-out", labels})));
  CHECK(filled["rows"] == 40);
  CHECK(filled["rows_dropped"] == 0);
  CHECK(filled["values_filled"] == 2);
  CHECK(io::read_vector(io::parse_location(labels)).size() == 40);
  CHECK(mentions(tskmeans(with({"--missing", "drop"})).out, "2 rows that lack a value left out"));
  CHECK(mentions(tskmeans(with({"--missing", "mean"})).out, "2 missing values replaced by means of columns"));
  CHECK_FALSE(json_of(tskmeans({file, "-k", "2", "--columns", "id", "--json"})).contains("rows_dropped"));

  // A table with decimal commas gives equal points.
  auto commas = with({"--missing", "drop", "--decimal", "comma", "--json"});
  commas.front() = table(folder, true);
  CHECK(json_of(tskmeans(commas))["inertia"] == dropped["inertia"]);
  const ProcessResult points = tskmeans({commas.front(), "-k", "2", "--columns", "1-2"});
  CHECK(points.code == 4);
  CHECK(mentions(points.err, "line 2: field 2 (height) is '0,10', not a number; --decimal comma reads it as one"));
}

TEST_CASE("columns of features in HDF5 are chosen by number, also out of memory's reach", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string points = blobs_file(folder) + ":/features";
  const auto two = json_of(tskmeans({points, "-k", "4", "--columns", "0,3", "--json"}));
  CHECK(two["cols"] == 2);
  CHECK(json_of(tskmeans({points, "-k", "4", "--drop", "1-2,-1", "--json"}))["inertia"] == two["inertia"]);
  const ProcessResult refused = tskmeans({points, "-k", "4", "--columns", "height"});
  CHECK(refused.code == 2);
  CHECK(mentions(refused.err, "--columns: " + points + " has no column 'height'; it has columns 0 to 4"));
  CHECK(tskmeans({points, "--decimal", "comma"}).code == 2);
  CHECK(mentions(tskmeans({points, "--columns", "0,,1"}).err, "separated by commas"));
}

TEST_CASE("points of HDF5 and npy that lack values are left out or filled in, as those of tables", "[tskmeans]") {
  const TemporaryFolder folder;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr index_t n = 40000;
  const generators::Blobs set(n, 5, 4, 0.5, 10, 0, 3);
  Matrix<double> x = generators::blobs<double>(set), whole(n - 2, 5);
  x(7, 2) = nan, x(n - 1, 0) = nan;
  for (index_t i = 0, to = 0; i < n; ++i)
    if (i != 7 && i != n - 1) std::copy_n(x.data() + 5 * i, 5, whole.data() + 5 * to++);
  const std::string file = folder / "holes.h5", npy = folder / "holes.npy", csv = folder / "holes.csv";
  io::OutputFile out(file);
  out.write("holes", x);
  out.write("whole", whole);
  out.commit();
  REQUIRE(test::run_process(TS_TSDATA, {"convert", file + ":/holes", npy, "--missing", "mean"}).code == 0);
  const auto of = [&](const std::string& points, std::vector<std::string> more) {
    more.insert(more.begin(), {points, "-k", "4", "--init", "random", "--json"});
    return json_of(tskmeans(more));
  };
  CHECK(mentions(tskmeans({file + ":/holes", "-k", "4"}).err, "has NaN at row 7, column 2"));
  const auto expected = of(file + ":/whole", {});
  const std::string labels = folder / "labels.npy", expected_labels = folder / "expected.npy";
  CHECK(of(file + ":/whole", {"--labels-out", expected_labels})["rows"] == n - 2);
  // In memory; in blocks from the file, too.
  for (const char* memory : {"4G", "1500K"}) {
    CAPTURE(memory);
    const auto dropped = of(file + ":/holes", {"--missing", "drop", "--labels-out", labels, "--memory", memory});
    CHECK(dropped["rows"] == n - 2);
    CHECK(dropped["rows_dropped"] == 2);
    CHECK(dropped.contains("streamed") == (std::string(memory) == "1500K"));
    CHECK(dropped["inertia"] == expected["inertia"]);
    CHECK(io::read_vector({labels, ""}) == io::read_vector({expected_labels, ""}));
  }
  const auto filled = of(file + ":/holes", {"--missing", "mean"});
  CHECK(filled["values_filled"] == 2);
  CHECK(filled["inertia"] == of(npy, {})["inertia"]);
  CHECK(
      mentions(tskmeans({file + ":/holes", "-k", "4", "--missing", "drop"}).out, "2 rows that lack a value left out"));
}

TEST_CASE("labels beside the points: attributes of arff, objects of HDF5", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string arff = folder / "iris.arff", h5 = folder / "cells.h5ad";
  std::ofstream out(arff);
  out << "@relation r\n@attribute x numeric\n@attribute y numeric\n@attribute class {big, small}\n@data\n";
  Matrix<double> x(30, 2);
  std::vector<std::int32_t> codes;
  for (index_t i = 0; i < 30; ++i) {
    x(i, 0) = static_cast<double>(i % 2) * 50 + static_cast<double>(i % 7), x(i, 1) = static_cast<double>(i % 5);
    codes.push_back(static_cast<std::int32_t>(i % 2));
    out << x(i, 0) << ',' << x(i, 1) << ',' << (i % 2 == 0 ? "small" : "big") << '\n';
  }
  out.close();
  io::OutputFile cells(h5);
  cells.write("X", x);
  cells.write("obs/kind/codes", std::span<const std::int32_t>(codes));
  cells.write("obs/kind/categories", std::span<const std::int32_t>(codes).first(2));
  cells.write("obs/group", std::span<const std::int32_t>(codes));
  cells.commit();
  const auto agrees = [](const std::string& points, const std::string& column, int labels) {
    const auto json = json_of(tskmeans({points, "-k", "2", "--labels-column", column, "--rows", "3:28", "--json"}));
    CHECK(json["adjusted_rand_index"] == 1);
    CHECK(json["known_labels"] == labels);
    CHECK(json["cols"] == 2);
  };
  agrees(arff, "class", 2);
  for (const char* column : {"/obs/kind", "kind", "/obs/group", "obs/group"}) agrees(h5 + ":/X", column, 2);
  CHECK(mentions(tskmeans({h5 + ":/X", "-k", "2", "--labels-column", "/obs/type"}).err, "has no object '/obs/type'"));
  CHECK(mentions(tskmeans({h5 + ":/X", "-k", "2", "--labels-column", "/obs"}).err, "holds no labels"));
}
