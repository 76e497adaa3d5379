#include "tallskinny/app/common/rank_prediction.hpp"

#include <fstream>
#include <sstream>

#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/temporary_folder.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::app;

namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string laptop = TS_MACHINES "/laptop.json";

/// What is said of the laptop's file in which `part` is replaced.
std::string said_of(const std::string& part, const std::string& by) {
  const test::TemporaryFolder folder;
  std::string text = text_of(laptop);
  const auto at = text.find(part);
  REQUIRE(at != std::string::npos);
  text.replace(at, part.size(), by);
  const std::string file = folder / "machine.json";
  std::ofstream(file) << text;
  const std::string said = test::message_of([&] { (void)read_machine(file); });
  CHECK(said.find(file) != std::string::npos);
  return said;
}

}  // namespace

TEST_CASE("machines that are shipped are read") {
  for (const char* name : {"laptop", "cpu-cluster", "h100-cluster", "h100-pair"})
    CHECK_FALSE(read_machine(std::string(TS_MACHINES "/") + name + ".json").name.empty());
  const solvers::MachineModel m = read_machine(laptop);
  CHECK(m.ranks_per_node == 2);
  CHECK(m.memory_bytes_per_second == 1e10);
  CHECK(read_machine(TS_MACHINES "/h100-cluster.json").gpu);
}

TEST_CASE("a machine that is written is read as it was") {
  const test::TemporaryFolder folder;
  solvers::MachineModel m = read_machine(laptop);
  m.name = "a \"machine\"", m.node_message_seconds = 1.0 / 3 * 1e-6, m.memory_bytes_per_second = 1.0 / 3 * 1e11;
  const std::string file = folder / "machine.json";
  std::ofstream(file) << machine_text(m, "a test");
  CHECK(read_machine(file) == m);
}

TEST_CASE("a wrong machine is told by its file and key") {
  const auto mentions = [](const std::string& said, const std::string& part) {
    INFO(said);
    CHECK(said.find(part) != std::string::npos);
  };
  mentions(said_of("\"message_seconds\": 5e-5,", ""), "the key \"message_seconds\" is missing");
  mentions(said_of("5e-5", "\"fast\""), "\"message_seconds\" must be a number above 0");
  mentions(said_of("5e-5", "0"), "\"message_seconds\" must be a number above 0");
  mentions(said_of("\"gpu\": false", "\"gpu\": 0"), "\"gpu\" must be true or false");
  mentions(said_of("\"ranks_per_node\": 2", "\"ranks_per_node\": 0"), "\"ranks_per_node\" must be an integer");
  mentions(said_of("\"gpu\": false", "\"gpu\": false, \"cores\": 2"), "\"cores\" is no key of a machine");
  mentions(said_of("{", ""), "is no JSON");
  mentions(test::message_of([] { (void)read_machine("absent.json"); }), "absent.json cannot be opened");
  const test::TemporaryFolder folder;
  mentions(test::message_of([&] { (void)read_machine(folder / ""); }), "cannot be read");
}

TEST_CASE("ranks are predicted in a dry run of a machine, or not at all") {
  CommonOptions common;
  CHECK_NOTHROW(check_ranks_options({}, common));
  CHECK_THROWS_AS(check_ranks_options({4, ""}, common), Error);
  CHECK_THROWS_AS(check_ranks_options({0, laptop}, common), Error);
  CHECK_THROWS_AS(check_ranks_options({4, laptop}, common), Error);
  common.dry_run = true;
  CHECK_NOTHROW(check_ranks_options({4, laptop}, common));
}

TEST_CASE("a prediction is printed with its limits") {
  solvers::RankPrediction p;
  p.ranks = 4, p.rows = 1000, p.memory = {{"points", 5000}}, p.limits = {"one rank waits"};
  std::ostringstream out;
  print_prediction(out, read_machine(laptop), p);
  CHECK(out.str().find("predicted for 4 ranks on 2 nodes") != std::string::npos);
  CHECK(out.str().find("limit: one rank waits") != std::string::npos);
}
