#include "tallskinny/io/npy_output.hpp"
#include "tallskinny/tests/app/tskmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("points to be labelled pass by once, in blocks, though they fit", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5", found = folder / "found.h5", labels = folder / "labels.npy";
  io::OutputFile out(file);
  out.write("features", generators::uniform<float>(100000, 24, 1));
  out.commit();
  const auto whole =
      json_of(tskmeans({file, "-k", "5", "--init", "random", "--tol", "0", "-o", found, "--json", "-q"}));
  const std::vector<std::string> predict = {file, "--predict", found, "--json", "-q", "--labels-out", labels};
  const auto with = [&predict](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = predict;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(tskmeans(arguments));
  };
  for (const char* memory : {"4G", "5M"}) {
    const auto predicted = with({"--memory", memory});
    CHECK(predicted["streamed"]["from"] == "file");
    CHECK(predicted["streamed"]["passes"] == 1);
    CHECK(predicted["streamed"]["bytes_read"] == 100000 * 24 * 4);
    CHECK(predicted["inertia"] == whole["inertia"]);
    CHECK(predicted["cluster_sizes"] == whole["cluster_sizes"]);
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
  const auto plan = with({"--dry-run", "--metric", "cosine", "--threads", "2"});
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
