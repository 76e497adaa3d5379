#include "tallskinny/io/npy_output.hpp"
#include "tallskinny/tests/app/tskmeans/runs.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::test;

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
  CHECK(mentions(refused.err, "--metric euclidean: the centres in " + found + " were found by --metric cosine"));
}
