#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/tests/app/tskmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

io::Location at(const std::string& where) { return io::parse_location(where); }

}  // namespace

TEST_CASE("each file that was written is named once, on standard error", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string all = folder / "all.h5", centers = folder / "c.npy", labels = folder / "l.npy";
  const auto r = tskmeans(
      {blobs_file(folder) + ":/features", "-k", "4", "-o", all, "--centers-out", centers, "--labels-out", labels});
  INFO(r.out << r.err);
  CHECK(r.code == 0);
  for (const std::string& file : {all, centers, labels}) {
    CHECK(mentions(r.err, "wrote " + file + ": "));
    CHECK_FALSE(mentions(r.out, file));
  }
}

TEST_CASE("centres and labels in the types and files of NumPy belong together", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string points = blobs_file(folder) + ":/features";
  const std::string all = folder / "all.h5", centers = folder / "centers.npy", labels = folder / "labels.npy";
  for (const auto& [type, stored] : {std::pair("float64", "<f8"), {"float32", "<f4"}, {"float16", "<f2"}}) {
    CAPTURE(type);
    const auto json = json_of(tskmeans({points, "-k", "9", "--centers-type", type, "-o", all, "--centers-out", centers,
                                        "--labels-out", labels, "--verify", "--measures", "--json"}));
    CHECK(json["verified"] == true);
    CHECK(json["centers_type"] == type);
    CHECK(json["centers_out"] == centers);
    CHECK(json["labels_out"] == labels);
    CHECK(name_of(io::describe(at(all + ":/cluster_centers")).type) == type);
    CHECK(io::describe(at(centers)).stored_type == stored);
    CHECK(io::describe(at(labels)).stored_type == "<i4");
    const auto in_h5 = io::read_dense_as<double>(at(all + ":/cluster_centers"));
    const auto in_npy = io::read_dense_as<double>(at(centers));
    REQUIRE(in_npy.rows() == 9);
    CHECK(std::equal(in_h5.data(), in_h5.data() + 9 * 5, in_npy.data()));
    CHECK(io::read_vector(at(labels)) == io::read_vector(at(all + ":/labels")));
    // Stored centres predict the stored labels.
    for (const std::string& given : {all, centers}) {
      const auto again = json_of(tskmeans({points, "--predict", given, "-o", folder / "again.h5", "--json"}));
      expect_same(again, json, {"inertia", "cluster_sizes"});
      CHECK(io::read_vector(at(folder / "again.h5:/labels")) == io::read_vector(at(labels)));
    }
  }
}

TEST_CASE("centres and labels as text are those of the file", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string points = blobs_file(folder) + ":/features", all = folder / "all.h5";
  const std::string centers = folder / "centers.csv", labels = folder / "labels.csv";
  (void)json_of(tskmeans({points, "-k", "6", "-o", all, "--centers-out", centers, "--labels-out", labels, "--json"}));
  CHECK(io::read_vector(at(labels)) == io::read_vector(at(all + ":/labels")));
  const auto text = io::read_dense_as<double>(at(centers)),
             stored = io::read_dense_as<double>(at(all + ":/cluster_centers"));
  CHECK(std::equal(stored.data(), stored.data() + 6 * 5, text.data()));
  CHECK(content_of(centers).starts_with("x0,x1,x2,x3,x4\n"));
  // Text on standard output comes alone, and centres as text predict the same labels.
  const ProcessResult printed = tskmeans({points, "--predict", centers, "--labels-out", "-"});
  CHECK(printed.code == 0);
  CHECK(printed.out == content_of(labels));
  CHECK(printed.out.starts_with("label\n"));
}

TEST_CASE("centres are read in every type, and a prediction rounds them when asked", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string points = blobs_file(folder) + ":/features", file = folder / "centers.h5";
  const auto x = io::read_dense_as<double>(at(points));
  Matrix<float> single(3, 5);
  Matrix<float16> half(3, 5);
  Matrix<double> rounded(3, 5), as_half(3, 5);
  for (index_t e = 0; e < 15; ++e) {
    single.data()[e] = static_cast<float>(x.data()[e]), rounded.data()[e] = single.data()[e];
    half.data()[e] = narrowed<float16>(x.data()[e]), as_half.data()[e] = to_wide(half.data()[e]);
  }
  io::OutputFile out(file);
  out.write("single", single);
  out.write("half", half);
  out.write("rounded", rounded);
  out.write("as_half", as_half);
  out.commit();
  const auto inertia = [&](const std::string& centers, const std::vector<std::string>& more = {}) {
    const auto json = json_of(tskmeans(joined({points, "--predict", file + ":/" + centers, "--json", "-q"}, more)));
    return json["inertia"].get<double>();
  };
  CHECK(inertia("single") == inertia("rounded"));
  CHECK(inertia("half") == inertia("as_half"));
  CHECK(inertia("half") != inertia("single"));
  CHECK(inertia("single", {"--centers-type", "float16", "--centers-out", folder / "c.npy"}) == inertia("half"));
}

TEST_CASE("outputs that cannot be are refused", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = blobs_file(folder), points = file + ":/features", out = folder / "a.npy";
  const auto expect = [](const std::vector<std::string>& arguments, const std::string& part) {
    const ProcessResult r = tskmeans(arguments);
    INFO(r.err);
    CHECK(r.code == 2);
    CHECK(mentions(r.err, part));
  };
  expect({points, "-o", out}, "expected a file name ending in .h5");
  expect({points, "--centers-out", folder / "a.h5"}, "ends in .npy or .csv");
  expect({points, "--labels-out", "-", "--json"}, "both write to standard output");
  expect({points, "--labels-out", "-", "--centers-out", "-"}, "also the file of --centers-out");
  expect({points, "--labels-out", folder / "no/a.npy"}, "--labels-out");
  expect({points, "--labels-out", out, "--centers-out", out}, "--centers-out");
  expect({points, "--centers-type", "float16"}, "--output or --centers-out");
  expect({points, "--centers-type", "float8", "-o", folder / "a.h5"}, "float64|float32|float16");
  expect({points, "--algorithm", "balanced", "--centers-type", "float16", "--centers-out", out},
         "would not be balanced");
  std::ofstream(folder / "large.csv") << "1,2\n-80000,3\n";
  expect({folder / "large.csv", "-k", "2", "--centers-type", "float16", "--centers-out", out},
         "has the coordinate -80000, which is beyond its range");
  CHECK_FALSE(std::filesystem::exists(out));
}
