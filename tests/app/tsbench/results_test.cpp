#include <nlohmann/json.hpp>

#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/markup.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::bench;

namespace {

Measured measured(const char* table, Operation op, DType type, Shape widths, double share, double ratio) {
  Measured m;
  m.described.table = table, m.described.problem = {op, type, 1000, widths.p, widths.q};
  m.place = Space::device;
  m.ours.median = 1e-3, m.roof_seconds = share * 1e-3;
  m.right = share > 0;
  if (ratio > 0) m.peers.push_back({"vendor", "gemm", {0, ratio * 1e-3}});
  return m;
}

}  // namespace

TEST_CASE("a summary has a line for each table, operation and type") {
  std::vector<Measured> cases = {measured("dense", Operation::tsmm, DType::float64, {1, 1}, 0.9, 2),
                                 measured("dense", Operation::tsmm, DType::float64, {64, 64}, 0.8, 0.5),
                                 measured("dense", Operation::tsmm, DType::float32, {8, 8}, 0, 0),
                                 measured("rectangular", Operation::tsmttsm, DType::float64, {1, 4}, 0.95, 0)};
  cases.back().same_bits = false;
  std::ostringstream out;
  print_summary(out, cases);
  const std::string text = out.str();
  CHECK(test::mentions(text, "90.0 ..  90.0   80.0 ..  80.0  84.9    1.00   0.50     1  64x64"));
  CHECK(test::mentions(text, "64x64 float64 rows"));  // of all types and layouts
  CHECK(test::mentions(text, "1 WRONG"));
  CHECK(test::mentions(text, "1 with other BITS"));
}

TEST_CASE("a results file is whole after every write") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "gpu.json").string();
  ResultsFile file(path);
  app::JsonObject header;
  header.add("device", "a GPU").add("date", "today").add("commit", "abc");
  header.add("read_bytes_per_second", 3e12).add("copy_bytes_per_second", 2.9e12);
  file.set_header(header);
  app::JsonObject cell;
  cell.add("table", "dense").add("operation", "tsmm").add("type", "float64").add("form", "rows");
  cell.add("n", 1000).add("p", 8).add("q", 4).add("same_bits", true).add("right", true);
  cell.add("median_seconds", 1e-3).add("roof_share", 0.75).add("times_vendor", 1.5);
  file.add(cell);
  CHECK(!std::filesystem::exists(path));  // not every few milliseconds
  file.write();
  file.add(cell);
  file.write();
  CHECK(!std::filesystem::exists(path + ".part"));
  CHECK(test::count(test::content_of(path), "\n    {") == 2);  // a result a line
  const nlohmann::json stored = nlohmann::json::parse(test::content_of(path));
  CHECK(stored.at("device") == "a GPU");
  REQUIRE(stored.at("results").size() == 2);
  CHECK(stored.at("results")[1].at("roof_share") == 0.75);
  CHECK_THROWS_AS(app::write_text_file((folder.path() / "none" / "x").string(), ""), Error);
}
