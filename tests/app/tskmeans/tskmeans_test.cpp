#include "tallskinny/tests/app/tskmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

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
  const auto sample = json_of(tskmeans(
      {file + ":/features", "-k", "4", "--json", "--verify-sample", "50", "--precision", "fast", "--init", "random"}));
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
      inertia += std::pow(points(i, j) - centers(static_cast<index_t>(labels[static_cast<std::size_t>(i)]), j), 2);
  CHECK(json["inertia"].get<double>() == Approx(inertia).epsilon(allowed::many_steps));

  SECTION("the stored centres predict the stored labels") {
    const std::string again = folder / "again.h5";
    const auto predicted = json_of(tskmeans({file + ":/features", "--predict", result, "--json", "-o", again}));
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
        const auto json =
            json_of(tskmeans({file + ":/features", "-k", "4", "--init", init, "--tol-mode", mode, "--metric", metric,
                              "--n-init", "3", "--seed", "5", "--verify", "--weights", file + ":/weights", "--json"}));
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
       {"--restart", "--n-clusters", "--init",      "--n-init",        "--max-iter",   "--tol",       "--metric",
        "--weights", "--predict",    "--seed",      "--output",        "--json",       "--quiet",     "--device",
        "--threads", "--dry-run",    "--verify",    "--config",        "--version",    "--algorithm", "--batch-size",
        "--filter",  "--choose",     "--measures",  "--transform",     "--checkpoint", "--resume",    "--log",
        "--report",  "--memory",     "--precision", "--verify-sample", "--sample",     "--refine"})
    CHECK(mentions(help.out, option));
  CHECK(tskmeans({"--version"}).code == 0);
}

TEST_CASE("every algorithm, with measures", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder);
  for (const char* algorithm : {"lloyd", "mini-batch", "bisecting", "balanced"}) {
    const auto json = json_of(tskmeans({file + ":/features", "-k", "4", "--algorithm", algorithm, "--measures",
                                        "--weights", file + ":/weights", "--json"}));
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
    const auto json = json_of(
        tskmeans({file + ":/features", "-k", "2:6", "--choose", choose, "--n-init", "5", "--json", "--report", page}));
    CHECK(json["n_clusters"] == 4);
    CHECK(json["chosen_by"] == choose);
    CHECK(json["choices"].size() == 5);
  }
  const std::string text = content_of(page);
  for (const char* part : {"How many clusters", "Inertia by iteration", "Sizes", "principal components", "<svg",
                           "tskmeans (tallskinny)", "Z</td>", "--choose calinski-harabasz", "centre of cluster 3"})
    CHECK(mentions(text, part));
  CHECK(mentions(tskmeans({file + ":/features", "-k", "2:6:2"}).out, "<- simplified-silhouette"));
}

TEST_CASE("a page tells what each cluster is like, with the rows of the file", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "points.csv", page = folder / "page.html", centers = folder / "centers.csv";
  // Behind five rows that are left out: two groups that differ in the second feature alone.
  std::ofstream(file) << "9,9\n9,9\n9,9\n9,9\n9,9\n1,0\n2,0.1\n3,0\n1,8\n2,8.1\n3,8\n";
  std::ofstream(centers) << "2,0\n2,8\n";
  CHECK(tskmeans({file, "--rows", "5:11", "--init", centers, "-q", "--report", page}).code == 0);
  const std::string text = content_of(page);
  for (const char* part : {"<td>0</td><td>3</td><td>50 %</td><td>1: -1.00</td><td>6, 5, 7</td>",
                           "<td>1</td><td>3</td><td>50 %</td><td>1: +1.00</td><td>9, 8, 10</td>", "cluster 1</span>"})
    CHECK(mentions(text, part));
  CHECK(tags_are_balanced(text));
}

TEST_CASE("a page names columns, and has an axis for each number of clusters", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "people.csv", page = folder / "page.html";
  std::ofstream out(file);
  out << "age,height\n";
  for (int i = 0; i < 60; ++i) out << i % 7 + 50 * (i % 3) << ',' << i % 5 + 20 * (i % 2) << '\n';
  out.close();
  CHECK(tskmeans({file, "-k", "2:4", "-q", "--report", page}).code == 0);
  const std::string text = content_of(page);
  const std::string inertia = text.substr(text.find("Inertia by iteration"));
  CHECK((mentions(text, "<td>age: ") || mentions(text, "<td>height: ")));
  CHECK(mentions(text, "nearest to the centre, counted from 0 as in the file."));
  for (const char* part : {"2 clusters", "3 clusters", "4 clusters"})
    CHECK(mentions(inertia.substr(0, inertia.find("Sizes of the clusters")), part));
  CHECK(tags_are_balanced(text));
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
  const auto json =
      json_of(tskmeans({file + ":/features", "-k", "9", "--init", "random", "--tol", "0", "--log", log, "--json"}));
  std::ifstream lines(log);
  std::string line;
  int count = 0;
  nlohmann::json last;
  while (std::getline(lines, line)) {
    last = nlohmann::json::parse(line);
    CHECK(last["iteration"] == ++count);
    for (const char* name :
         {"inertia", "moved", "relocated", "rescored", "skipped", "seconds", "gb_per_second", "share_of_limit"})
      CHECK(last.contains(name));
  }
  CHECK(json["n_iter"] == count);
  CHECK(last["moved"] == 0);
  CHECK(last["inertia"].get<double>() == Approx(json["inertia"].get<double>()).epsilon(allowed::nine_digits));
}

TEST_CASE("points that do not fit are read in blocks, with the same result", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = points_file(folder, generators::uniform<float>(60000, 24, 1));
  // Some of the rows, from a file of more.
  const std::vector<std::string> some = {file, "-k",     "5",  "--init", "random",    "--max-iter",
                                         "3",  "--json", "-q", "--rows", "5000:52000"};
  const auto whole = nlohmann::json::parse(tskmeans(some).out);
  const auto in_blocks = nlohmann::json::parse(tskmeans(joined(some, {"--memory", "4M"})).out);
  CHECK(in_blocks["streamed"]["from"] == "file");
  CHECK(in_blocks["inertia"] == whole["inertia"]);
  for (const char* init : {"k-means||", "random"}) {
    const std::vector<std::string> common = {file, "-k", "5", "--init", init, "--max-iter", "5", "--json", "-q"};
    const std::string log = folder / "log.jsonl";
    const auto small = joined(common, {"--memory", "5M", "--verify", "--measures", "--log", log});
    const auto a = nlohmann::json::parse(tskmeans(common).out), b = nlohmann::json::parse(tskmeans(small).out);
    expect_same(a, b, {"inertia", "cluster_sizes", "n_iter"});
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
