#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using test::ProcessResult;
using test::TemporaryFolder;

namespace {

ProcessResult tskmeans(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {}) {
  return test::run_process(TS_TSKMEANS, arguments, environment);
}

nlohmann::json json_of(const ProcessResult& result) {
  INFO(result.err);
  REQUIRE(result.code == 0);
  return nlohmann::json::parse(result.out);
}

/// 300 float32 points in 4 blobs, a vector of weights, and the true labels.
std::string blobs_file(const TemporaryFolder& folder) {
  const std::string file = folder / "blobs.h5";
  const generators::Blobs set(300, 5, 4, 0.5, 10, 0, 3);
  io::OutputFile out(file);
  out.write("features", generators::blobs<float>(set));
  std::vector<double> weights(300, 1.0);
  weights[7] = 2.5;
  out.write("weights", std::span<const double>(weights));
  weights[3] = -1;
  out.write("negative", std::span<const double>(weights));
  out.write("few", std::span<const double>(weights).first(10));
  out.commit();
  return file;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("clusters a file and writes what belongs together", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder), result = folder / "result.h5";
  const auto json = json_of(tskmeans({file + ":/features", "-k", "4", "--json", "--verify", "-o", result}));
  CHECK(json["converged"] == true);
  CHECK(json["verified"] == true);
  CHECK(json["n_iter"].get<int>() >= 1);
  CHECK(json["cluster_sizes"].size() == 4);
  CHECK(json["elapsed_seconds"].get<double>() > 0);
  CHECK(json["relocated"] == 0);
  CHECK(json["points_verified"] == 300);
  CHECK(json["precision"] == "exact");
  const auto sample = json_of(tskmeans({file + ":/features", "-k", "4", "--json", "--verify-sample", "50",
                                        "--precision", "fast", "--init", "afk-mc2", "--chain-length", "30"}));
  CHECK(sample["points_verified"] == 50);
  CHECK(sample["precision"] == "fast");
  CHECK(sample["rescored"] == 0);
  CHECK(sample["seeding_seconds"].get<double>() > 0);
  const auto labels = io::read_vector(io::parse_location(result + ":/labels"));
  const auto centers = io::read_dense_as<double>(io::parse_location(result + ":/cluster_centers"));
  CHECK(labels.size() == 300);
  CHECK(centers.rows() == 4);
  CHECK(centers.cols() == 5);
  CHECK(io::read_vector(io::parse_location(result + ":/cluster_sizes")).size() == 4);

  const auto points = io::read_dense_as<double>(io::parse_location(file + ":/features"));
  double inertia = 0;
  for (index_t i = 0; i < 300; ++i)
    for (index_t j = 0; j < 5; ++j)
      inertia +=
          std::pow(points(i, j) - centers(static_cast<index_t>(labels[static_cast<std::size_t>(i)]), j), 2);
  CHECK(json["inertia"].get<double>() == Approx(inertia).epsilon(1e-12));

  SECTION("the stored centres predict the stored labels") {
    const std::string again = folder / "again.h5";
    const auto predicted =
        json_of(tskmeans({file + ":/features", "--predict", result, "--json", "-o", again}));
    CHECK(predicted["mode"] == "predict");
    CHECK(predicted["n_iter"].is_null());  // there is no iteration
    CHECK(predicted["converged"].is_null());
    CHECK(predicted["inertia"] == json["inertia"]);
    CHECK(io::read_vector(io::parse_location(again + ":/labels")) == labels);
  }
  SECTION("the stored centres start a run that ends at once") {
    const auto next = json_of(tskmeans({file + ":/features", "--init", result, "--json", "--tol", "0"}));
    CHECK(next["inertia"] == json["inertia"]);
    CHECK(next["n_iter"].get<int>() <= 2);
  }
  SECTION("any number of threads gives the same file") {
    const std::string other = folder / "other.h5";
    CHECK(tskmeans({file + ":/features", "-k", "4", "--threads", "3", "-q", "-o", other}).code == 0);
    CHECK(io::read_vector(io::parse_location(other + ":/labels")) == labels);
  }
}

TEST_CASE("results go to standard output, the rest to standard error", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder) + ":/features";
  const ProcessResult people = tskmeans({file, "-k", "4"});
  CHECK(people.code == 0);
  CHECK(mentions(people.out, "4 clusters, inertia"));
  CHECK(people.err.empty());  // not a terminal: no meter
  const ProcessResult limited = tskmeans({file, "-k", "40", "--init", "random", "--max-iter", "1", "--json"});
  CHECK(limited.code == 3);
  CHECK(nlohmann::json::parse(limited.out)["converged"] == false);
  CHECK(mentions(limited.err, "not converged after 1 iteration"));
}

TEST_CASE("every way to begin, every tolerance, both metrics", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder);
  for (const char* init : {"k-means++", "k-means||", "random"})
    for (const char* mode : {"relative", "absolute", "labels"})
      for (const char* metric : {"euclidean", "cosine"}) {
        const auto json = json_of(tskmeans({file + ":/features", "-k", "4", "--init", init, "--tol-mode",
                                            mode, "--metric", metric, "--n-init", "3", "--seed", "5",
                                            "--verify", "--weights", file + ":/weights", "--json"}));
        CHECK(json["verified"] == true);
        CHECK(json["distinct_clusters"] == 4);
      }
}

TEST_CASE("sparse points", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "sparse.mtx";
  std::ofstream(file) << "%%MatrixMarket matrix coordinate real general\n4 3 4\n1 1 5\n2 1 6\n3 3 5\n4 3 6\n";
  const auto json = json_of(tskmeans({file, "-k", "2", "--json", "--verify"}));
  CHECK(json["sparse"] == true);
  CHECK(json["inertia"] == 1.0);
  CHECK(json["cluster_sizes"] == nlohmann::json({2, 2}));
}

TEST_CASE("each failure has its exit status and a sentence", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder), points = file + ":/features";
  const auto expect = [](const std::vector<std::string>& arguments, int code, const std::string& part) {
    const ProcessResult r = tskmeans(arguments);
    INFO(r.err);
    CHECK(r.code == code);
    CHECK(mentions(r.err, part));
    CHECK(r.out.empty());
  };
  expect({}, 2, "FEATURES");
  expect({points, "--n-cluster", "3"}, 2, "--n-clusters");
  expect({points, "-k", "0"}, 2, "at least 1");
  expect({points, "-k", "301"}, 2, "larger than the number of points (300) in " + points);
  expect({points, "--init", "kmeans++"}, 2, "no such file");
  expect({points, "--init", file + ":/few"}, 4, "features but the points have 5");
  expect({points, "--init", points, "-k", "3"}, 2, "holds 300 centres");
  expect({points, "--predict", points, "-k", "3"}, 2, "no meaning with --predict");
  expect({points, "--weights", file + ":/few"}, 4, "10 weights for 300 points");
  expect({points, "--weights", file + ":/negative"}, 4, "point 3");
  expect({points, "--tol", "-1"}, 2, "--tol");
  expect({points, "-k", "4:2"}, 2, "A:B:STEP");
  expect({points, "-k", "2:8:0"}, 2, "A:B:STEP");
  expect({points, "-k", "2:8:2:1"}, 2, "A:B:STEP");
  expect({points, "--choose", "simplified-silhouette"}, 2, "several numbers of clusters");
  expect({points, "-k", "2:4", "--checkpoint", folder / "c.h5"}, 2, "not a range");
  expect({points, "-k", "2:4", "--init", file + ":/weights"}, 4, "features");
  expect({points, "--algorithm", "bisecting", "--checkpoint", folder / "c.h5"}, 2, "lloyd only");
  expect({points, "--algorithm", "bisecting", "--init", points}, 2, "");
  expect({points, "--batch-size", "10"}, 2, "mini-batch only");
  expect({points, "--algorithm", "mini-batch", "--tol", "1"}, 2, "no meaning");
  expect({points, "--algorithm", "balanced", "--verify"}, 2, "nothing to verify");
  expect({points, "--algorithm", "balanced", "--precision", "fast"}, 2, "--precision has no meaning");
  expect({points, "--verify", "--verify-sample", "5"}, 2, "--verify-sample");
  expect({points, "--chain-length", "5"}, 2, "afk-mc2");
  expect({points, "--transform"}, 2, "needs --output");
  expect({points, "--every", "3"}, 2, "needs --checkpoint");
  expect({points, "--memory", "many"}, 2, "500M or 4G");
  expect({points, "--memory", "1K"}, 1, "memory");
  expect({points, "--resume", folder / "missing.h5"}, 4, "missing.h5");
  expect({points, "--resume", file}, 4, "not a checkpoint");
  expect({points, "--report", folder / "no/r.html"}, 2, "--report");
  expect({points, "--log", file}, 2, "--log");
  expect({points, "--device", "cuda:7"}, 5, "cuda:7");
  expect({points, "-o", file}, 2, "--output");
  expect({folder / "missing.h5"}, 4, "missing.h5");
  {
    io::OutputFile three(folder / "three.h5");
    three.write("only", Matrix<double>::zeros(4, 6));
    three.commit();
  }
  const std::string only = folder / "three.h5";
  expect({only, "-k", "5"}, 2, "points (4) in " + only + ":/only");
  expect({points, "--init", only}, 4, only + ":/only: the centres have 6 features");
  expect({points, "--weights", only}, 4, only + ":/only is a matrix of 4 x 6 where a vector is needed");
  expect({file + ":/nothing"}, 4, "nothing");

  std::ofstream(folder / "nan.csv") << "1,2\n3,nan\n5,6\n";
  expect({folder / "nan.csv", "-k", "2"}, 4, "row");
  Matrix<std::complex<double>> complex(2, 2);
  complex(0, 0) = complex(0, 1) = complex(1, 0) = complex(1, 1) = {1, 2};
  io::OutputFile out(folder / "complex.h5");
  out.write("z", complex);
  out.commit();
  expect({folder / "complex.h5", "-k", "1"}, 4, "complex");
}

TEST_CASE("numbers that float64 cannot square are refused with the name of their file", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "extreme.h5";
  io::OutputFile out(file);
  Matrix<double> points(4, 2);
  for (index_t e = 0; e < 8; ++e) points.data()[e] = static_cast<double>(e * e);
  const auto times = [&](double factor) {
    auto scaled = Matrix<double>::copy_of(points.cview());
    for (index_t e = 0; e < 8; ++e) scaled.data()[e] *= factor;
    return scaled;
  };
  out.write("points", points);
  out.write("large", times(1e200));
  out.write("small", times(1e-200));
  auto centers = Matrix<double>::copy_of(points.cview().rows(0, 2));
  centers(1, 0) = 1e308;
  out.write("centers", centers);
  const std::vector<double> heavy(4, 1e308), light(4, 1e-300);
  out.write("heavy", std::span<const double>(heavy));
  out.write("light", std::span<const double>(light));
  out.commit();
  const auto expect = [](const std::vector<std::string>& arguments, const std::string& start) {
    const ProcessResult r = tskmeans(arguments);
    INFO(r.err);
    CHECK(r.code == 4);
    CHECK(mentions(r.err, "tskmeans: " + start));
    CHECK(mentions(r.err, "multiply by a power of two"));
    CHECK(r.out.empty());
  };
  const std::string good = file + ":/points", bad = file + ":/centers";
  expect({file + ":/large", "-k", "2"}, file + ":/large: the points have coordinates beyond 2^500");
  expect({file + ":/small", "-k", "2"}, file + ":/small: the points differ by less than 2^-480");
  expect({file + ":/large", "--predict", good}, file + ":/large: the points");
  expect({good, "-k", "2", "--weights", file + ":/heavy"}, file + ":/heavy: the weights are so large");
  expect({good, "-k", "2", "--weights", file + ":/light"}, file + ":/light: all weights are below 2^-480");
  expect({good, "--init", bad}, bad + ": centre 1 (counted from 0) has a coordinate beyond 2^500");
  expect({good, "--predict", bad}, bad + ": centre 1 (counted from 0)");
  expect({good, "-k", "2:3", "--weights", file + ":/heavy"}, file + ":/heavy: the weights");
}

TEST_CASE("a csv file with an index is refused, or read as it is told", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "iris.csv";
  std::ofstream(file) << ",length,width\n0,1,1\n1,9,9\n2,1,2\n3,9,8\n";
  const ProcessResult refused = tskmeans({file, "-k", "2"});
  CHECK(refused.code == 4);
  CHECK(mentions(refused.err, file + ": the first column has no name and counts the rows"));
  const auto dropped = json_of(tskmeans({file, "-k", "2", "--drop-index", "--json"}));
  CHECK(dropped["cols"] == 2);
  CHECK(dropped["inertia"] == 1.0);
  CHECK(json_of(tskmeans({file, "-k", "2", "--keep-index", "--json"}))["cols"] == 3);
  CHECK(tskmeans({file, "-k", "2", "--keep-index", "--drop-index"}).code == 2);
}

TEST_CASE("the number of threads is that of --threads, else of OMP_NUM_THREADS", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string points = blobs_file(folder) + ":/features";
  CHECK(json_of(tskmeans({points, "-k", "4", "--json", "--threads", "3"}))["threads"] == 3);
  CHECK(json_of(tskmeans({points, "-k", "4", "--json"}, {"OMP_NUM_THREADS=2"}))["threads"] == 2);
  CHECK(tskmeans({points, "--threads", "-1"}).code == 2);
  CHECK(tskmeans({points, "--threads", "4097"}).code == 2);
}

TEST_CASE("fewer distinct points than clusters are reported, not refused", "[tskmeans]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "few.csv") << "1,1\n2,2\n1,1\n2,2\n3,3\n";
  const ProcessResult r = tskmeans({folder / "few.csv", "-k", "4", "--json"});
  CHECK(r.code == 0);
  CHECK(mentions(r.err, "distinct clusters (3) found smaller than n_clusters (4)"));
  CHECK(nlohmann::json::parse(r.out)["distinct_clusters"] == 3);
}

TEST_CASE("a dry run plans and touches nothing", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder) + ":/features", result = folder / "never.h5";
  const auto plan = json_of(tskmeans({file, "-k", "4", "--dry-run", "--json", "-o", result}));
  CHECK(plan["memory_bytes"].get<double>() > 6000);
  CHECK(plan["n_clusters"] == 4);
  CHECK_FALSE(std::filesystem::exists(result));
  std::ofstream(folder / "k.ini") << "n-clusters = 6\n";
  CHECK(json_of(tskmeans({file, "--config", folder / "k.ini", "--json"}))["n_clusters"] == 6);
  CHECK(json_of(tskmeans({file, "--json"}, {"TSKMEANS_N_CLUSTERS=5"}))["n_clusters"] == 5);
  CHECK(json_of(tskmeans({file, "--json"}))["n_clusters"] == 8);
}

TEST_CASE("help and version", "[tskmeans]") {
  const ProcessResult help = tskmeans({"--help"});
  CHECK(help.code == 0);
  for (const char* option :
       {"--restart",   "--n-clusters",    "--init",        "--n-init",  "--max-iter", "--tol",
        "--metric",    "--weights",       "--predict",     "--seed",    "--output",   "--json",
        "--quiet",     "--device",        "--threads",     "--dry-run", "--verify",   "--config",
        "--version",   "--algorithm",     "--batch-size",  "--bounds",  "--choose",   "--measures",
        "--transform", "--checkpoint",    "--resume",      "--log",     "--report",   "--memory",
        "--precision", "--verify-sample", "--chain-length"})
    CHECK(mentions(help.out, option));
  CHECK(tskmeans({"--version"}).code == 0);
}

TEST_CASE("every algorithm, with measures", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder);
  for (const char* algorithm : {"lloyd", "mini-batch", "bisecting", "balanced"}) {
    const auto json = json_of(tskmeans({file + ":/features", "-k", "4", "--algorithm", algorithm,
                                        "--measures", "--weights", file + ":/weights", "--json"}));
    CHECK(json["algorithm"] == algorithm);
    CHECK(json["simplified_silhouette"].get<double>() > 0.5);
    CHECK(json["davies_bouldin"].get<double>() > 0);
    CHECK(json["calinski_harabasz"].get<double>() > 1);
  }
  const auto sizes = json_of(tskmeans({file + ":/features", "-k", "7", "--algorithm", "balanced", "--json"}));
  CHECK(sizes["cluster_sizes"] == nlohmann::json::parse(sizes["cluster_sizes"].dump()));
  for (const auto& size : sizes["cluster_sizes"]) CHECK((size == 42 || size == 43));
}

TEST_CASE("the number of clusters is chosen by a measure, with a page of pictures", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder), page = folder / "page.html";
  for (const char* choose : {"simplified-silhouette", "davies-bouldin", "calinski-harabasz"}) {
    const auto json = json_of(tskmeans(
        {file + ":/features", "-k", "2:6", "--choose", choose, "--n-init", "5", "--json", "--report", page}));
    CHECK(json["n_clusters"] == 4);
    CHECK(json["chosen_by"] == choose);
    CHECK(json["choices"].size() == 5);
  }
  std::ostringstream read;
  read << std::ifstream(page).rdbuf();
  for (const char* part :
       {"How many clusters", "Inertia by iteration", "Sizes", "principal components", "<svg"})
    CHECK(mentions(read.str(), part));
  CHECK(mentions(tskmeans({file + ":/features", "-k", "2:6:2"}).out, "<- simplified-silhouette"));
}

TEST_CASE("distances of all points to all centres", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder), result = folder / "r.h5";
  CHECK(tskmeans({file + ":/features", "-k", "3", "--transform", "-q", "-o", result}).code == 0);
  const auto distances = io::read_dense_as<double>(io::parse_location(result + ":/distances"));
  const auto labels = io::read_vector(io::parse_location(result + ":/labels"));
  REQUIRE(distances.rows() == 300);
  REQUIRE(distances.cols() == 3);
  for (index_t i = 0; i < 300; ++i)
    for (index_t m = 0; m < 3; ++m)
      CHECK(distances(i, static_cast<index_t>(labels[static_cast<std::size_t>(i)])) <= distances(i, m));
}

TEST_CASE("a log has a line for each iteration", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder), log = folder / "log.jsonl";
  const auto json = json_of(
      tskmeans({file + ":/features", "-k", "9", "--init", "random", "--tol", "0", "--log", log, "--json"}));
  std::ifstream lines(log);
  std::string line;
  int count = 0;
  nlohmann::json last;
  while (std::getline(lines, line)) {
    last = nlohmann::json::parse(line);
    CHECK(last["iteration"] == ++count);
    for (const char* name : {"inertia", "moved", "relocated", "rescored", "skipped", "seconds",
                             "gb_per_second", "share_of_limit"})
      CHECK(last.contains(name));
  }
  CHECK(json["n_iter"] == count);
  CHECK(last["moved"] == 0);
  CHECK(last["inertia"].get<double>() == Approx(json["inertia"].get<double>()).epsilon(1e-9));
}

TEST_CASE("a checkpoint leads to the result of a run never stopped", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5", state = folder / "state.h5", points = file + ":/features";
  io::OutputFile out(file);
  out.write("features", generators::uniform<float>(3000, 4, 1));
  out.write("others", generators::uniform<float>(3000, 4, 2));
  out.commit();
  const std::vector<std::string> common = {"-k", "12", "--tol", "0", "--n-init", "2", "--json"};
  const auto with = [&common](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), common.begin(), common.end());
    return tskmeans(arguments);
  };
  const auto straight = json_of(with({points, "-o", folder / "a.h5"}));
  CHECK(with({points, "--max-iter", "6", "--checkpoint", state, "--every", "0"}).code == 3);
  const auto resumed = json_of(with({points, "--resume", state, "-o", folder / "b.h5"}));
  CHECK(resumed["resumed"] == true);
  if (straight["best_run"] == 1) {  // the restart that was stopped
    CHECK(resumed["inertia"] == straight["inertia"]);
    CHECK(resumed["n_iter"] == straight["n_iter"]);
    CHECK(io::read_vector(io::parse_location(folder / "a.h5:/labels")) ==
          io::read_vector(io::parse_location(folder / "b.h5:/labels")));
  }
  const ProcessResult others = with({file + ":/others", "--resume", state});
  CHECK(others.code == 4);
  CHECK(mentions(others.err, "other points"));
  const ProcessResult settings = with({points, "--resume", state, "--seed", "7"});
  CHECK(settings.code == 4);
  CHECK(mentions(settings.err, "another --n-clusters"));
}

TEST_CASE("the same command takes a run up, and what is no checkpoint of it is left alone", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5", state = folder / "state.h5", log = folder / "log.jsonl";
  io::OutputFile out(file);
  auto points = generators::uniform<float>(3000, 4, 1);
  out.write("features", points);
  points(1777, 2) += 1;  // no row of a sample of 64
  out.write("others", points);
  out.commit();
  const auto run = [&](const std::string& object, std::vector<std::string> more) {
    more.insert(more.begin(), {file + ":/" + object, "-k", "12", "--tol", "0", "--json", "--every", "0"});
    return tskmeans(more);
  };
  const std::vector<std::string> kept = {"--checkpoint", state, "--log", log};
  auto few = kept, anew = kept;
  few.insert(few.end(), {"--max-iter", "6"});
  anew.emplace_back("--restart");
  const auto straight = json_of(run("features", {"--log", log, "--checkpoint", folder / "none.h5"}));
  const std::string lines = test::content_of(log);
  CHECK_FALSE(std::filesystem::exists(folder / "none.h5"));

  for (const std::string& other :
       {file, folder.file("text.h5", "a text that is worth more than a run"), log}) {
    const std::string before = test::content_of(other);
    for (const bool restart : {false, true}) {
      std::vector<std::string> words = {"--checkpoint", other};
      if (restart) words.emplace_back("--restart");
      const ProcessResult r = run("features", words);
      CHECK(r.code == 4);
      CHECK(mentions(r.err, other));
      CHECK(test::content_of(other) == before);
    }
  }

  CHECK(run("features", few).code == 3);
  const std::string stored = test::content_of(state), earlier = test::content_of(log);
  CHECK(run("others", kept).code == 4);
  CHECK(run("features", {"--checkpoint", state, "--seed", "7"}).code == 4);
  CHECK(test::content_of(state) == stored);
  const auto resumed = json_of(run("features", kept));
  CHECK(resumed["resumed"] == true);
  CHECK(resumed["inertia"] == straight["inertia"]);
  CHECK(resumed["n_iter"] == straight["n_iter"]);
  CHECK_FALSE(std::filesystem::exists(state));
  // The lines up to the state are those that were there; the others follow.
  const std::string later = test::content_of(log);
  const auto five = [](const std::string& text) {
    std::size_t at = 0;
    for (int i = 0; i < 5; ++i) at = text.find('\n', at) + 1;
    return text.substr(0, at);
  };
  CHECK(five(later) == five(earlier));
  CHECK(std::count(later.begin(), later.end(), '\n') == std::count(lines.begin(), lines.end(), '\n'));

  CHECK(run("features", few).code == 3);
  const auto again = json_of(run("others", anew));
  CHECK(again["resumed"] == false);
}

TEST_CASE("no byte of a checkpoint can change without notice", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5", state = folder / "state.h5", bad = folder / "bad.h5";
  io::OutputFile out(file);
  out.write("features", generators::uniform<float>(600, 2, 1));
  out.commit();
  const std::vector<std::string> run = {file,         "-k", "6",       "--tol", "0",
                                        "--max-iter", "3",  "--every", "0",     "--checkpoint"};
  auto first = run, other = run;
  first.push_back(state), other.push_back(bad);
  CHECK(tskmeans(first).code == 3);
  const std::string stored = test::content_of(state);
  REQUIRE(stored.size() > 1000);
  for (std::size_t i = 0; i < stored.size(); i += i < 130 ? 9 : 397) {
    std::string changed = stored;
    changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
    folder.file("bad.h5", changed);
    const ProcessResult r = tskmeans(other);
    INFO("byte " << i << ": " << r.err);
    CHECK(r.code == 4);
    CHECK(mentions(r.err, bad));
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{600}, stored.size() - 1}) {
    folder.file("bad.h5", stored.substr(0, size));
    CHECK(tskmeans(other).code == 4);
  }
  folder.file("bad.h5", stored + "x");
  CHECK(tskmeans(other).code == 4);
  // As it was written before there were checksums.
  io::OutputFile old(folder / "old.h5");
  old.write("key", std::span<const double>(std::vector<double>{1, 2, 3}));
  old.attribute("/", "kind", "tskmeans checkpoint");
  old.commit();
  const ProcessResult r = tskmeans({file, "-k", "6", "--resume", folder / "old.h5"});
  CHECK(r.code == 4);
  CHECK(mentions(r.err, "of another version"));
}

TEST_CASE("a full disk at a checkpoint or log does not end a run", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5", log = folder / "log.jsonl";
  io::OutputFile out(file);
  out.write("features", generators::uniform<float>(20000, 4, 1));
  out.commit();
  // A file may have 32 KiB: too few for the labels of a state.
  const ProcessResult r =
      test::run_process("/bin/sh", {"-c", "ulimit -f 64; exec \"$0\" \"$@\"", TS_TSKMEANS, file, "-k", "5",
                                    "--tol", "0", "--max-iter", "9", "--every", "0", "--checkpoint",
                                    folder / "state.h5", "--log", log, "--json"});
  INFO(r.err);
  CHECK(r.code != 128 + SIGXFSZ);
  const auto warning = r.err.find("tries again");
  CHECK(warning != std::string::npos);
  CHECK(r.err.find("tries again", warning + 1) == std::string::npos);
  CHECK(mentions(r.err, "state.h5"));
  CHECK((r.code == 0 || r.code == 3));
  CHECK(nlohmann::json::parse(r.out).contains("inertia"));
}

TEST_CASE("signals of batch systems and terminals end a run with what there is", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "slow.h5";
  io::OutputFile out(file);
  out.write("features", generators::uniform<float>(60000, 24, 1));
  out.commit();
  for (const int signal : {SIGHUP, SIGUSR1, SIGXCPU}) {
    const std::string state = folder / "state.h5", result = folder / "r.h5";
    const ProcessResult r = test::run_process("/usr/bin/timeout", {"--preserve-status",
                                                                   "-s",
                                                                   std::to_string(signal),
                                                                   "1.5",
                                                                   TS_TSKMEANS,
                                                                   file,
                                                                   "-k",
                                                                   "100",
                                                                   "--init",
                                                                   "random",
                                                                   "--tol",
                                                                   "0",
                                                                   "--max-iter",
                                                                   "100000",
                                                                   "--n-init",
                                                                   "1000",
                                                                   "--checkpoint",
                                                                   state,
                                                                   "-o",
                                                                   result});
    INFO(r.err);
    CHECK(r.code == 128 + signal);
    CHECK(std::filesystem::exists(state));
    CHECK(std::filesystem::exists(result));
    CHECK(mentions(r.err, "wrote " + result + ": labels, cluster_centers"));
    std::filesystem::remove(state), std::filesystem::remove(result);
  }
}

TEST_CASE("points that do not fit are read in blocks, with the same result", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5";
  io::OutputFile out(file);
  out.write("features", generators::uniform<float>(60000, 24, 1));
  out.commit();
  // Some of the rows, from a file of more.
  std::vector<std::string> some = {file, "-k",     "5",  "--init", "random",    "--max-iter",
                                   "3",  "--json", "-q", "--rows", "5000:52000"};
  const auto whole = nlohmann::json::parse(tskmeans(some).out);
  some.insert(some.end(), {"--memory", "4M"});
  const auto in_blocks = nlohmann::json::parse(tskmeans(some).out);
  CHECK(in_blocks["streamed"]["from"] == "file");
  CHECK(in_blocks["inertia"] == whole["inertia"]);
  for (const char* init : {"k-means||", "random"}) {
    const std::vector<std::string> common = {file,         "-k", "5",      "--init", init,
                                             "--max-iter", "5",  "--json", "-q"};
    auto small = common;
    const std::string log = folder / "log.jsonl";
    small.insert(small.end(), {"--memory", "5M", "--verify", "--measures", "--log", log});
    const auto a = nlohmann::json::parse(tskmeans(common).out),
               b = nlohmann::json::parse(tskmeans(small).out);
    CHECK(a["inertia"] == b["inertia"]);
    CHECK(a["cluster_sizes"] == b["cluster_sizes"]);
    CHECK(a["n_iter"] == b["n_iter"]);
    CHECK_FALSE(a.contains("streamed"));
    CHECK(b["verified"] == true);
    CHECK(b["streamed"]["from"] == "file");
    CHECK(b["streamed"]["passes"].get<int>() > 7);
    CHECK(b["streamed"]["reading_seconds"].get<double>() > 0);
    CHECK(b["streamed"]["using_seconds"].get<double>() > 0);
    CHECK(b["streamed"]["sending_seconds"] == 0);  // there is no device
    CHECK(b["streamed"]["share_of_slowest"].get<double>() <= 1);
    std::ifstream lines(log);
    for (std::string line; std::getline(lines, line);) {
      const double share = nlohmann::json::parse(line)["share_of_limit"].get<double>();
      CHECK(share > 0);
      CHECK(share <= 1);
    }
    CHECK(b["streamed"]["bytes_read"].get<double>() >= 60000.0 * 24 * 4 * b["streamed"]["passes"].get<int>());
  }
  const ProcessResult refused = tskmeans({file, "-k", "5", "--memory", "2M", "--algorithm", "bisecting"});
  CHECK(refused.code == 1);
  CHECK(mentions(refused.err, "can be read in blocks"));
}

TEST_CASE("a signal ends the run with what there is", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "slow.h5", result = folder / "partial.h5";
  io::OutputFile out(file);
  out.write("features", generators::uniform<float>(60000, 24, 1));
  out.commit();
  // Enough work for minutes; the signal comes after a moment of it.
  const ProcessResult r =
      test::run_process("/usr/bin/timeout", {"--preserve-status", "-s", "TERM", "1.5", TS_TSKMEANS, file,
                                             "-k", "500", "--init", "random", "--tol", "0", "--max-iter",
                                             "100000", "--n-init", "1000", "--json", "-o", result});
  CHECK(r.code == 128 + SIGTERM);
  if (std::filesystem::exists(result)) {
    CHECK(io::read_vector(io::parse_location(result + ":/labels")).size() == 60000);
    CHECK(nlohmann::json::parse(r.out)["stop"] == "interrupted");
  }
}
