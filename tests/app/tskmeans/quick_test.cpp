// Quick modes, and what they say of their cost.
#include "tallskinny/tests/app/tskmeans/runs.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("every quick mode tells its inertia beside the exact one's", "[tskmeans][quick]") {
  const TemporaryFolder folder;
  const std::string points = blobs_file(folder) + ":/features", result = folder / "r.h5";
  const double exact = json_of(tskmeans({points, "-k", "9", "--json"}))["inertia"];
  const std::vector<std::vector<std::string>> modes = {{"--algorithm", "two-level", "--refine", "1"},
                                                       {"--algorithm", "mini-batch", "--batch-size", "64"},
                                                       {"--sample", "10"},
                                                       {"--tol-mode", "changed", "--tol", "0.1"}};
  for (const auto& mode : modes) {
    std::vector<std::string> arguments = {points, "-k", "9", "--verify"};
    arguments.insert(arguments.end(), mode.begin(), mode.end());
    CAPTURE(mode[1]);
    CHECK(mentions(tskmeans(arguments).out, "that of the exact mode, by a sample: both on 300 points in 9 clusters"));
    arguments.insert(arguments.end(), {"--json", "-o", result});
    const auto json = json_of(tskmeans(arguments));
    std::filesystem::remove(result);
    CHECK(json["verified"] == true);
    const auto& beside = json["beside_exact"];
    CHECK(beside["points"] == 300);  // few: what is compared is what was asked for
    CHECK(beside["n_clusters"] == 9);
    CHECK(beside["inertia"] == json["inertia"]);
    CHECK(beside["exact_inertia"] == exact);
    CHECK(beside["ratio"].get<double>() == Approx(json["inertia"].get<double>() / exact).epsilon(allowed::many_steps));
    CHECK(beside["seconds"].get<double>() > 0);
    CHECK(json.contains("points_sampled") == (mode[0] == "--sample"));
  }
  CHECK_FALSE(json_of(tskmeans({points, "-k", "9", "--json"})).contains("beside_exact"));
  const auto refined = json_of(tskmeans({points, "-k", "40", "--algorithm", "two-level", "--refine", "1", "--json"}));
  CHECK(refined["stop"] == "refined");
  CHECK(refined["n_iter"] == 1);
  CHECK(json_of(tskmeans({points, "-k", "9", "--sample", "10", "--json"}))["points_sampled"] == 90);
}

TEST_CASE("a sample of points that are read in blocks", "[tskmeans][quick]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5";
  io::OutputFile out(file);
  out.write("features", generators::uniform<float>(60000, 24, 1));
  out.commit();
  for (const char* algorithm : {"lloyd", "two-level"}) {
    const std::vector<std::string> common = {file,          "-k",      "5",      "--sample", "500",
                                             "--algorithm", algorithm, "--json", "-q"};
    auto small = common;
    small.insert(small.end(), {"--memory", "5M", "--verify"});
    const auto a = json_of(tskmeans(common)), b = json_of(tskmeans(small));
    CHECK(b["streamed"]["from"] == "file");
    CHECK(b["verified"] == true);
    CHECK(a["inertia"] == b["inertia"]);
    CHECK(a["cluster_sizes"] == b["cluster_sizes"]);
    CHECK(a["beside_exact"]["ratio"] == b["beside_exact"]["ratio"]);
    CHECK(a["points_sampled"] == 2500);
  }
  const auto plan = json_of(tskmeans({file, "-k", "5", "--sample", "500", "--dry-run", "--json"}));
  CHECK(plan["memory"].contains("sample"));
  CHECK(plan["memory"].contains("comparison"));
  const ProcessResult refused = tskmeans({file, "-k", "5", "--memory", "4M", "--algorithm", "two-level"});
  CHECK(refused.code == 1);
  CHECK(mentions(refused.err, "by two-level with --sample"));
}
