// Quick modes.
#include "tallskinny/tests/app/tskmeans/runs.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("every quick mode labels all points by the nearest centre", "[tskmeans][quick]") {
  const TemporaryFolder folder;
  const std::string points = blobs_file(folder) + ":/features";
  const double exact = json_of(tskmeans({points, "-k", "9", "--json"}))["inertia"];
  const std::vector<std::vector<std::string>> modes = {{"--algorithm", "two-level", "--refine", "1"},
                                                       {"--algorithm", "mini-batch", "--batch-size", "64"},
                                                       {"--sample", "10"},
                                                       {"--tol-mode", "changed", "--tol", "0.1"}};
  for (const auto& mode : modes) {
    CAPTURE(mode[1]);
    const auto json = json_of(tskmeans(joined({points, "-k", "9", "--verify", "--json"}, mode)));
    CHECK(json["verified"] == true);
    CHECK(json["inertia"].get<double>() < 2 * exact);
    CHECK(json.contains("points_sampled") == (mode[0] == "--sample"));
  }
  const auto refined = json_of(tskmeans({points, "-k", "40", "--algorithm", "two-level", "--refine", "1", "--json"}));
  CHECK(refined["stop"] == "refined");
  CHECK(refined["n_iter"] == 1);
  CHECK(json_of(tskmeans({points, "-k", "9", "--sample", "10", "--json"}))["points_sampled"] == 90);
}

TEST_CASE("a sample of points that are read in blocks", "[tskmeans][quick]") {
  const TemporaryFolder folder;
  const std::string file = points_file(folder, generators::uniform<float>(60000, 24, 1));
  for (const char* algorithm : {"lloyd", "two-level"}) {
    const std::vector<std::string> common = {file,          "-k",      "5",      "--sample", "500",
                                             "--algorithm", algorithm, "--json", "-q"};
    const auto a = json_of(tskmeans(common)), b = json_of(tskmeans(joined(common, {"--memory", "5M", "--verify"})));
    CHECK(b["streamed"]["from"] == "file");
    CHECK(b["verified"] == true);
    expect_same(a, b, {"inertia", "cluster_sizes"});
    CHECK(a["points_sampled"] == 2500);
  }
  const auto plan = json_of(tskmeans({file, "-k", "5", "--sample", "500", "--dry-run", "--json"}));
  CHECK(plan["memory"].contains("sample"));
  const ProcessResult refused = tskmeans({file, "-k", "5", "--memory", "4M", "--algorithm", "two-level"});
  CHECK(refused.code == 1);
  CHECK(mentions(refused.err, "by two-level with --sample"));
}
