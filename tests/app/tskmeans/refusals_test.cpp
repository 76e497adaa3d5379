#include "tallskinny/tests/app/tskmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

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
  expect({points, "-k", "9223372036854775807"}, 2, "at most 2147483647");
  expect({points, "-k", "9223372036854775800:9223372036854775807"}, 2, "at most 2147483647");
  expect({points, "-k", "1:2:9223372036854775807"}, 2, "at most 2147483647");
  expect({points, "-k", "2:8:0"}, 2, "A:B:STEP");
  expect({points, "-k", "2:8:2:1"}, 2, "A:B:STEP");
  expect({points, "--choose", "davies-bouldin"}, 2, "several numbers of clusters");
  expect({points, "-k", "2:4", "--checkpoint", folder / "c.h5"}, 2, "not a range");
  expect({points, "-k", "2:4", "--init", file + ":/weights"}, 4, "features");
  expect({points, "--algorithm", "bisecting", "--checkpoint", folder / "c.h5"}, 2, "lloyd only");
  expect({points, "--algorithm", "bisecting", "--init", points}, 2, "--algorithm bisecting chooses");
  expect({points, "--batch-size", "10"}, 2, "mini-batch only");
  expect({points, "--algorithm", "mini-batch", "--tol", "1"}, 2, "no meaning");
  expect({points, "--algorithm", "balanced", "--verify"}, 2, "nothing to verify");
  expect({points, "--algorithm", "balanced", "--precision", "fast"}, 2, "--precision has no meaning");
  expect({points, "--verify", "--verify-sample", "5"}, 2, "--verify-sample");
  expect({points, "--sample", "-1"}, 2, "--sample");
  expect({points, "--sample", "5", "--algorithm", "mini-batch"}, 2,
         "--sample works with --algorithm lloyd and two-level");
  expect({points, "--sample", "5", "--checkpoint", folder / "c.h5"}, 2, "--checkpoint works without --sample only");
  expect({points, "--refine", "5"}, 2, "--refine works with --algorithm two-level only");
  expect({points, "--algorithm", "two-level", "--checkpoint", folder / "c.h5"}, 2, "lloyd only");
  expect({points, "--algorithm", "two-level", "--init", points}, 2,
         "--init " + points + ": --algorithm two-level chooses");
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

TEST_CASE("defaults may be given by name where other values have no meaning", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string points = blobs_file(folder) + ":/features";
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {points, "-k", "3", "-q"});
    return tskmeans(more).code;
  };
  CHECK(run({"--algorithm", "bisecting", "--filter", "auto", "--sample", "0", "--refine", "2"}) == 0);
  CHECK(run({"--algorithm", "bisecting", "--filter", "none"}) == 2);
  CHECK(run({"--algorithm", "mini-batch", "--tol-mode", "relative"}) == 0);
}

TEST_CASE("rows without columns are refused at once, however many there are", "[tskmeans]") {
  const std::string file = std::string(TS_DATA) + "/../tests/io/fixtures/many_empty_rows.mat";
  for (const char* missing : {"refuse", "mean", "drop"}) {
    const ProcessResult r = tskmeans({file, "-k", "2", "--missing", missing});
    CHECK(r.code == 4);
    CHECK(mentions(r.err, "the points have no features"));
  }
}
