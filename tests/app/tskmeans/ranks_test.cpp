// Several ranks, processes of mpirun or threads of one, find what one finds, and write it once.
#include "tallskinny/tests/app/tskmeans/runs.hpp"
#include "tallskinny/tests/support/mpi_run.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// Five chunks of 4096 rows, the last of which is short.
constexpr index_t rows = 17000;

ProcessResult on_ranks(int ranks, const std::vector<std::string>& arguments) {
  return run_on_ranks(ranks, TS_TSKMEANS, arguments);
}

std::string weighted_file(const TemporaryFolder& folder) {
  const std::string file = folder / "points.h5";
  io::OutputFile out(file);
  auto points = generators::blobs<double>(generators::Blobs(rows, 3, 7, 0.5, 3, 0, 3));
  out.write("features", points);
  points(16999, 1) = std::numeric_limits<double>::quiet_NaN();
  out.write("damaged", points);
  std::vector<double> weights(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.25 * static_cast<double>(i % 9);
  out.write("weights", std::span<const double>(weights));
  weights[16000] = -1;
  out.write("negative", std::span<const double>(weights));
  out.commit();
  return file;
}

void expect_same(const std::string& file, const std::string& other, const std::vector<std::string>& objects) {
  for (const std::string& object : objects) {
    CAPTURE(object);
    const auto a = io::read_dense_as<double>({file, object}), b = io::read_dense_as<double>({other, object});
    REQUIRE(a.rows() == b.rows());
    REQUIRE(a.cols() == b.cols());
    CHECK(std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data()));
  }
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("ranks cluster and write what one finds", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = weighted_file(folder), points = file + ":/features";
  const auto with = [&](const std::string& name) {
    const std::string named = folder / name;
    return words(points + " -k 5:6 --n-init 2 --weights " + file + ":/weights --init k-means|| --verify --measures" +
                 " --transform --json -o " + named + ".h5 --report " + named + ".html --log " + named + ".jsonl");
  };
  const auto one = json_of(tskmeans(with("one")));
  const ProcessResult run = on_ranks(3, with("three"));
  const auto three = json_of(run);
  CHECK(times(run.err, "3 ranks, together") == 1);
  CHECK(three["ranks"] == 3);
  CHECK(three["ranks_work"] == "together");
  CHECK(one["verified"] == true);
  expect_same(one, three,
              {"inertia", "n_iter", "cluster_sizes", "rows", "points_verified", "violations", "simplified_silhouette",
               "davies_bouldin", "calinski_harabasz", "choices", "n_clusters", "rescored", "skipped", "best_run"});
  expect_same(folder / "one.h5", folder / "three.h5", {"/labels", "/cluster_centers", "/cluster_sizes", "/distances"});
  const auto pictures_of = [&](const char* page) {  // without the command line and the date
    const std::string text = content_of(folder / page);
    return text.substr(0, text.find("<h2>This run</h2>"));
  };
  CHECK(mentions(pictures_of("one.html"), "Clusters in detail"));
  CHECK(pictures_of("one.html") == pictures_of("three.html"));
  CHECK(times(content_of(folder / "one.jsonl"), "\n") == times(content_of(folder / "three.jsonl"), "\n"));
}

TEST_CASE("ranks read the blocks of their rows", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = points_file(folder, generators::uniform<double>(41000, 12, 1));
  const auto with = [&](const std::string& memory, const std::string& result) {
    return words(file + " --rows 7:40900 -k 9 --init random --seed 3 --json --memory " + memory + " -o " +
                 folder / result);
  };
  const auto one = json_of(tskmeans(with("1G", "one.h5")));
  const auto two = json_of(on_ranks(2, with("1800K", "two.h5")));
  CHECK_FALSE(one.contains("streamed"));
  CHECK(two.at("streamed").at("bytes_read").get<double>() >= 41000.0 * 12 * 8);
  expect_same(one, two, {"inertia", "n_iter", "cluster_sizes", "rows"});
  expect_same(folder / "one.h5", folder / "two.h5", {"/labels", "/cluster_centers"});
}

TEST_CASE("two ranks, and one, resume from a checkpoint of three, and the other way round", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = weighted_file(folder), points = file + ":/features", state = folder / "state.h5";
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {points, "-k", "12", "--tol", "0", "--weights", file + ":/weights", "--json"});
    return more;
  };
  const auto straight = json_of(tskmeans(with({"--n-init", "1", "-o", folder / "straight.h5"})));
  REQUIRE(straight["n_iter"] > 4);
  const auto first = with({"--max-iter", "4", "--checkpoint", state, "--every", "0"});
  const auto resumed = [&](const std::string& result) { return with({"--resume", state, "-o", folder / result}); };
  const auto expect_straight = [&](const nlohmann::json& run, const std::string& result) {
    CHECK(run["resumed"] == true);
    expect_same(straight, run, {"inertia", "n_iter", "cluster_sizes"});
    expect_same(folder / "straight.h5", folder / result, {"/labels", "/cluster_centers"});
  };
  const std::string stored = [&] {
    CHECK(on_ranks(3, first).code == 3);
    return content_of(state);
  }();
  std::filesystem::copy_file(state, folder / "copy.h5");
  expect_straight(json_of(on_ranks(2, resumed("two.h5"))), "two.h5");
  std::filesystem::copy_file(folder / "copy.h5", state, std::filesystem::copy_options::overwrite_existing);
  expect_straight(json_of(tskmeans(resumed("one.h5"))), "one.h5");
  std::filesystem::remove(state);
  CHECK(tskmeans(first).code == 3);
  CHECK(content_of(state).size() == stored.size());
  expect_straight(json_of(on_ranks(3, resumed("three.h5"))), "three.h5");
}

TEST_CASE("a signal to ranks leaves one result and one checkpoint", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = points_file(folder, generators::uniform<float>(20000, 8, 1)), state = folder / "state.h5",
                    result = folder / "r.h5";
  // A second signal, which timeout sends to its whole group, would make mpirun kill them.
  const auto command =
      command_on_ranks(2, TS_TSKMEANS,
                       words(file + " -k 40 --init random --tol 0 --max-iter 100000 --n-init 100000 --checkpoint " +
                             state + " -o " + result));
  const ProcessResult r =
      run_process("/usr/bin/timeout", joined(words("--foreground -s TERM 2.5"), command), mpi_environment);
  INFO(r.err);
  CHECK(times(r.err, "resume from " + state) == 1);
  CHECK(times(r.out, "interrupted") == 1);
  CHECK(std::filesystem::exists(state));
  CHECK(io::read_vector(io::parse_location(result + ":/labels")).size() == 20000);
}

TEST_CASE("ranks predict what one predicts", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = weighted_file(folder), centers = folder / "centers.h5";
  json_of(tskmeans({file + ":/features", "-k", "5", "--metric", "cosine", "--json", "-o", centers}));
  const auto with = [&](const std::string& result) {
    return words(file + ":/features --metric cosine --verify-sample 500 --json --predict " + centers + " -o " +
                 folder / result);
  };
  const auto one = json_of(tskmeans(with("one.h5"))), two = json_of(on_ranks(2, with("two.h5")));
  expect_same(one, two, {"inertia", "cluster_sizes", "points_verified", "violations", "mode"});
  expect_same(folder / "one.h5", folder / "two.h5", {"/labels", "/cluster_centers"});
}

TEST_CASE("ranks read a table with holes as one does, and write tables", "[tskmeans]") {
  const TemporaryFolder folder;
  std::string text = "kind;x;y\n";
  for (index_t i = 0; i < rows; ++i)
    text += std::to_string(i % 7) + ';' +
            (i % 1000 == 999 ? "" : std::to_string(i % 7 * 10) + ',' + std::to_string(i % 89)) + ';' +
            std::to_string(i % 5) + '\n';
  const std::string file = folder.file("table.csv", text);
  for (const char* missing : {"drop", "mean"}) {
    CAPTURE(missing);
    nlohmann::json found[2];
    for (const int ranks : {1, 3})
      found[ranks / 3] = json_of(on_ranks(
          ranks, {file, "-k", "7", "--init", "random", "--max-iter", "300", "--labels-column", "kind", "--missing",
                  missing, "--decimal", "comma", "--labels-out", folder / (std::to_string(ranks) + ".csv"), "--json"}));
    CHECK(found[1]["ranks_work"] == "together");
    CHECK(found[0]["rows_dropped"] == (missing == std::string("drop") ? 17 : 0));
    CHECK(found[0]["values_filled"] == (missing == std::string("mean") ? 17 : 0));
    expect_same(found[0], found[1],
                {"rows", "rows_dropped", "values_filled", "inertia", "cluster_sizes", "adjusted_rand_index"});
    CHECK(content_of(folder / "1.csv") == content_of(folder / "3.csv"));
  }
}

TEST_CASE("what one rank refuses is said once", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = weighted_file(folder);
  const ProcessResult points = on_ranks(3, {file + ":/damaged", "-k", "5"});
  CHECK(points.code == 4);
  REQUIRE(lines_of("tskmeans", points.err).size() == 1);
  CHECK(mentions(points.err, "NaN at row 16999, column 1"));
  const ProcessResult weights = on_ranks(2, {file + ":/features", "-k", "5", "--weights", file + ":/negative"});
  CHECK(weights.code == 4);
  CHECK(lines_of("tskmeans", weights.err).size() == 1);
  CHECK(times(weights.err, "the weight of point 16000 (counted from 0) is negative") == 1);
}

TEST_CASE("rank 0 clusters alone what is not distributed", "[tskmeans]") {
  const TemporaryFolder folder;
  const auto json = json_of(on_ranks(2, {blobs_file(folder) + ":/features", "-k", "4", "--json"}));
  CHECK(json["ranks_work"] == "rank 0 alone: up to 8,192 points are too few to share");
}

#ifdef TS_ON_THREADS
TEST_CASE("ranks that are threads share the threads of the process, and rank 0 alone has them all", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = weighted_file(folder);
  const auto threads = [&](const std::vector<std::string>& more) {
    const auto all = joined(words(file + ":/features -k 3 --max-iter 100 --threads 6 --json"), more);
    return json_of(on_ranks(3, all))["threads"];
  };
  CHECK(threads({}) == 2);
  CHECK(threads({"--algorithm", "bisecting"}) == 6);
}

namespace {

/// Runs on GPUs, of which the first is one, find the same.
void expect_of_devices(const std::string& device, const std::string& sentence) {
  const TemporaryFolder folder;
  const std::string file = weighted_file(folder) + ":/features";
  const auto with = [&](const std::string& name, const std::string& result) {
    return tskmeans(
        {file, "-k", "9", "--init", "random", "--verify", "--json", "--device", name, "-o", folder / result});
  };
  const ProcessResult run = with(device, "several.h5");
  const auto one = json_of(with("cuda:0", "one.h5")), several = json_of(run);
  CHECK(several["ranks"].get<int>() > 1);
  CHECK(several["ranks_work"] == "together");
  CHECK(several["device"] == "cuda:0");
  CHECK(mentions(run.err, sentence));
  expect_same(one, several, {"inertia", "n_iter", "cluster_sizes", "violations"});
  expect_same(folder / "one.h5", folder / "several.h5", {"/labels", "/cluster_centers"});
}

}  // namespace

TEST_CASE("two ranks of one process may share a GPU", "[gpu]") {
  expect_of_devices("cuda:0,0", "through host memory: ranks share a GPU");
}

TEST_CASE("all GPUs of a machine find what one finds", "[gpus]") { expect_of_devices("cuda:all", "ranks, together"); }
#endif
