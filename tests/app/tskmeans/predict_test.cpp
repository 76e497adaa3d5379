#include <iomanip>

#include "tallskinny/io/npy_output.hpp"
#include "tallskinny/io/table_output.hpp"
#include "tallskinny/tests/app/tskmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// Runs a command in a shell; $P is tskmeans, whose name has no blanks.
ProcessResult in_shell(const std::string& command) {
  return run_process("/bin/sh", {"-c", "P='" TS_TSKMEANS "'; " + command});
}

}  // namespace

TEST_CASE("points to be labelled pass by once, in blocks, though they fit", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = points_file(folder, generators::uniform<float>(100000, 24, 1)), found = folder / "found.h5",
                    labels = folder / "labels.npy", centers = folder / "centers.npy";
  const auto whole = json_of(tskmeans(
      {file, "-k", "5", "--init", "random", "--tol", "0", "-o", found, "--centers-out", centers, "--json", "-q"}));
  const std::vector<std::string> predict = {file, "--predict", found, "--json", "-q", "--labels-out", labels};
  const auto with = [&](const std::vector<std::string>& more) { return json_of(tskmeans(joined(predict, more))); };
  for (const char* memory : {"4G", "5M"}) {
    const auto predicted = with({"--memory", memory});
    CHECK(predicted["streamed"]["from"] == "file");
    CHECK(predicted["streamed"]["passes"] == 1);
    CHECK(predicted["streamed"]["bytes_read"] == 100000 * 24 * 4);
    expect_same(predicted, whole, {"inertia", "cluster_sizes"});
    CHECK(io::read_vector(io::parse_location(labels)) == io::read_vector(io::parse_location(found + ":/labels")));
  }
  io::NpyOutput<float> npy(folder / "x.npy", 100000, 24);
  const auto points = generators::uniform<float>(100000, 24, 1);
  npy.add({points.data(), 100000 * 24});
  npy.commit();
  const auto from_npy = json_of(tskmeans({folder / "x.npy", "--predict", found, "--json", "-q", "--memory", "5M"}));
  CHECK(from_npy["streamed"]["passes"] == 1);
  CHECK(from_npy["inertia"] == whole["inertia"]);
  // Where points are needed again, they are kept if they fit.
  CHECK_FALSE(with({"--verify"}).contains("streamed"));
  CHECK(with({"--verify", "--memory", "5M"})["streamed"]["passes"].get<int>() > 1);
  const auto plan =
      json_of(tskmeans({file, "--predict", centers, "--json", "--dry-run", "--metric", "cosine", "--threads", "2"}));
  CHECK(plan["memory_bytes"].get<double>() < 2 * (8 << 20) + 100000 * 4 + 50000);
}

TEST_CASE("a number that is not finite is named while points pass by", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5", labels = folder / "labels.npy";
  auto x = generators::uniform<float>(9000, 4, 1);
  io::OutputFile out(file);
  out.write("centers", Matrix<float>::copy_of(x.cview().rows(0, 3)));
  x(8999, 2) = HUGE_VALF;
  out.write("features", x);
  out.commit();
  const ProcessResult r = tskmeans({file + ":/features", "--predict", file + ":/centers", "--labels-out", labels});
  CHECK(r.code == 4);
  CHECK(mentions(r.err, "row 8999, column 2"));
  CHECK_FALSE(std::filesystem::exists(labels));
}

TEST_CASE("points are labelled by the metric of the model, with the inertia of its centres as they are stored",
          "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5", found = folder / "found.h5";
  auto x = generators::uniform<double>(2000, 6, 1);
  for (index_t i = 0; i < 2000; ++i)
    for (index_t j = 0; j < 6; ++j) x(i, j) = i < 3 ? 0 : (x(i, j) - 0.5) * (1 + static_cast<double>(i % 50));
  io::OutputFile out(file);
  out.write("features", x);
  out.commit();
  const auto whole = json_of(
      tskmeans({file, "-k", "5", "--metric", "cosine", "--centers-type", "float16", "-o", found, "--json", "-q"}));
  const auto centers = io::read_dense_as<double>(io::parse_location(found + ":/cluster_centers"));
  const auto labels = io::read_vector(io::parse_location(found + ":/labels"));
  double inertia = 0;
  for (index_t i = 3; i < 2000; ++i) {
    double norm = 0;
    for (index_t j = 0; j < 6; ++j) norm += x(i, j) * x(i, j);
    for (index_t j = 0; j < 6; ++j)
      inertia += std::pow(
          x(i, j) / std::sqrt(norm) - centers(static_cast<index_t>(labels[static_cast<std::size_t>(i)]), j), 2);
  }
  CHECK(whole["inertia"].get<double>() == Approx(inertia).epsilon(allowed::many_steps));
  for (const char* memory : {"4G", "1M"}) {
    const auto predicted = json_of(tskmeans({file, "--predict", found, "--memory", memory, "--json", "-q"}));
    CHECK(predicted["metric"] == "cosine");
    expect_same(predicted, whole, {"inertia", "cluster_sizes"});
  }
  const ProcessResult refused = tskmeans({file, "--predict", found, "--metric", "euclidean"});
  CHECK(refused.code == 2);
  CHECK(mentions(refused.err, "--metric euclidean: the centres in " + found + " were computed with --metric cosine"));
}

// Quick modes.

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

// Pipes in and out.

TEST_CASE("points come from standard input in every format, as a file or a pipe", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string h5 = blobs_file(folder) + ":/features", csv = folder / "p.csv", npy = folder / "p.npy";
  const auto x = io::read_dense_as<double>(io::parse_location(h5));
  io::TableOutput<double> text(csv, 300, 5, {}), binary(npy, 300, 5, {});
  for (auto* out : {&text, &binary}) out->add({x.data(), 1500}), out->commit();
  std::ofstream mtx(folder / "p.mtx");
  mtx << "%%MatrixMarket matrix array real general\n300 5\n" << std::setprecision(17);
  for (index_t j = 0; j < 5; ++j)
    for (index_t i = 0; i < 300; ++i) mtx << x(i, j) << '\n';
  mtx.close();
  const auto inertia = json_of(tskmeans({csv, "-k", "4", "--json"}))["inertia"];
  for (const std::string& file : {csv, npy, folder / "p.mtx"}) {
    CAPTURE(file);
    const auto piped = json_of(in_shell("cat '" + file + "' | $P - -k 4 --json"));
    CHECK(piped["inertia"] == inertia);
    CHECK(piped["input"] == "standard input");
    CHECK(json_of(in_shell("$P - -k 4 --json < '" + file + "'"))["inertia"] == inertia);
  }
  CHECK(json_of(in_shell("gzip -c '" + csv + "' | $P - -k 4 --json"))["inertia"] == inertia);
  // Text to text.
  const ProcessResult labels = in_shell("cat '" + csv + "' | $P - -k 4 --labels-out - -q");
  CHECK(labels.code == 0);
  CHECK(std::count(labels.out.begin(), labels.out.end(), '\n') == 301);
}

TEST_CASE("what standard input cannot be is said of standard input", "[tskmeans]") {
  const auto refused = [](const std::string& command, int code) {
    const ProcessResult r = in_shell(command);
    INFO(r.err);
    CHECK(r.code == code);
    return r.err;
  };
  CHECK(
      mentions(refused("printf 'a,b\\n1,x\\n' | $P -", 4), "standard input line 2: field 2 (b) is 'x', not a number"));
  CHECK(mentions(refused(": | $P -", 4), "standard input is empty"));
  CHECK(mentions(refused("printf '\\001\\002' | $P -", 4),
                 "standard input is in no known format: name it with --format"));
  CHECK(mentions(refused("printf '1;2\\n3;4\\n' | $P - -k 2 --format npy", 4), "standard input"));
  CHECK(mentions(refused("printf '1,2\\n' | $P - -k 1 --format jpeg", 2), "one of mtx|npy|npz|"));
  CHECK(mentions(refused("printf '1,2\\n' | $P - -k 1 -o -", 2), "cannot be written to standard output"));
  CHECK(mentions(refused("printf '1,2\\n' | TMPDIR=/no/folder $P - -k 1", 1),
                 "standard input cannot be kept: /no/folder, which TMPDIR names for temporary files, is no folder"));
  // A format that a name hides.
  const TemporaryFolder folder;
  const std::string plain = folder.file("points", "1,2\n3,4\n");
  CHECK(mentions(refused("$P '" + plain + "' -k 2", 4), "its name is none of"));
  CHECK(json_of(tskmeans({plain, "-k", "2", "--format", "csv", "--json"}))["rows"] == 2);
}
