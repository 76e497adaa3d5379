#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

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
  expect({points, "-k", "301"}, 2, "larger than the number of points (300)");
  expect({points, "--init", "kmeans++"}, 2, "no such file");
  expect({points, "--init", file + ":/few"}, 4, "features but the points have 5");
  expect({points, "--init", points, "-k", "3"}, 2, "holds 300 centres");
  expect({points, "--predict", points, "-k", "3"}, 2, "no meaning with --predict");
  expect({points, "--weights", file + ":/few"}, 4, "10 weights for 300 points");
  expect({points, "--weights", file + ":/negative"}, 4, "point 3");
  expect({points, "--tol", "-1"}, 2, "--tol");
  expect({points, "--device", "cuda:7"}, 5, "cuda:7");
  expect({points, "-o", file}, 2, "--output");
  expect({folder / "missing.h5"}, 4, "missing.h5");
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
  for (const char* option : {"--n-clusters", "--init", "--n-init", "--max-iter", "--tol", "--metric",
                             "--weights", "--predict", "--seed", "--output", "--json", "--quiet", "--device",
                             "--threads", "--dry-run", "--verify", "--config", "--version"})
    CHECK(mentions(help.out, option));
  CHECK(tskmeans({"--version"}).code == 0);
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
