#include "tallskinny/tests/app/tsdata/runs.hpp"

TEST_CASE("what was written where is told on standard error, unless --quiet") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.h5", copy = folder / "b.h5", points = folder / "p.h5";
  CHECK(tsdata({"gen", "lap1d", "--n", "5", "-o", file}).err == "wrote " + file + ": matrix, exact_eigenvalues\n");
  CHECK(tsdata({"convert", file, copy}).err == "wrote " + copy + ": matrix\n");
  CHECK(tsdata({"gen", "uniform", "--n", "5", "-o", points}).err == "wrote " + points + ": features\n");
  CHECK(tsdata({"gen", "uniform", "--n", "5", "-q", "-o", points}).err.empty());
  CHECK(tsdata({"convert", file, copy, "--quiet"}).err.empty());
}

TEST_CASE("a generated matrix comes back bit by bit, with its spectrum") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.h5";
  expect_ok({"gen", "lap3d", "--n", "4x3x2", "-o", file});
  CHECK(same(sparse<double>(file), generators::laplacian({4, 3, 2})));
  CHECK(io::read_vector({file, "exact_eigenvalues"}) == generators::laplacian_spectrum({4, 3, 2}).all());
  CHECK(io::describe({file, ""}).declared == io::Structure::symmetric);

  expect_ok({"gen", "lap3d", "--n", "4x3x2", "--full", "--compress", "6", "-o", file});
  CHECK(same(sparse<double>(file), generators::laplacian({4, 3, 2})));
  CHECK(io::describe({file, ""}).declared == io::Structure::general);
}

TEST_CASE("every kind can be made, and its file is described and read") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.h5";
  const std::vector<std::vector<std::string>> calls = {
      {"lap1d", "--n", "7", "--boundary", "neumann"},
      {"lap2d", "--n", "5"},
      {"lap3d", "--n", "3"},
      {"ring", "--n", "8"},
      {"copies", "--n", "4", "--copies", "3"},
      {"hypercube", "--n", "4"},
      {"complete", "--n", "5"},
      {"graphene", "--n", "3x2"},
      {"fluxring", "--n", "6", "--phi", "0.7"},
      {"xxchain", "--n", "4"},
      {"anderson", "--n", "4x4x3", "--disorder", "5", "--seed", "3"},
      {"hofstadter", "--n", "4x5", "--flux", "3"},
      {"identity", "--n", "1e1"},
      {"clusters", "--n", "9", "--clusters", "2", "--spread", "0"},
      {"clement", "--n", "9"},
      {"sakurai", "--n", "9"},
      {"minij", "--n", "6"},
      {"wilkinson", "--n", "10"},
      {"toeplitz", "--n", "6", "--below", "-1", "--diagonal", "0", "--above", "1"},
      {"circulant", "--n", "6", "--width", "3"},
      {"lauchli", "--n", "6", "--mu", "1e-3"},
      {"frank", "--n", "6"},
      {"blobs", "--n", "20", "--cols", "3", "--groups", "4"},
      {"far", "--n", "20", "--offset", "1e6"},
      {"uniform", "--n", "20", "--cols", "1", "--dtype", "float16"},
      {"duplicates", "--n", "20", "--groups", "3", "--dtype", "bfloat16"}};
  for (const auto& call : calls) {
    CAPTURE(call[0]);
    expect_ok(joined(joined({"gen"}, call), {"--output", file}));
    CHECK_NOTHROW(io::read_matrix({file, ""}));
    CHECK(has(expect_ok({"info", file, "--json"}).out, "\"not_finite\": 0"));
  }
  expect_ok({"gen", "mikota", "--n", "6", "-o", file});
  CHECK(same(sparse<double>(file + ":/K"), generators::mikota(6).stiffness));
  CHECK(same(sparse<double>(file + ":/M"), generators::mikota(6).mass));
}

TEST_CASE("complex matrices and other element types are stored as such") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.h5";
  expect_ok({"gen", "fluxring", "--n", "6", "-o", file});
  CHECK(same(sparse<std::complex<double>>(file), generators::flux_ring(6, 0.3)));
  CHECK(has(expect_ok({"info", file}).out, "declared hermitian, found hermitian"));

  expect_ok({"gen", "clement", "--n", "6", "--dtype", "float32", "-o", file});
  CHECK(sparse<float>(file).values[0] == static_cast<float>(std::sqrt(5.0)));
  CHECK(tsdata({"gen", "fluxring", "--n", "6", "--dtype", "float32", "-o", file}).code == 2);
  CHECK(tsdata({"gen", "clement", "--n", "6", "--dtype", "float16", "-o", file}).code == 2);
}

TEST_CASE("the smallest sizes are made and read like any other") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.h5";
  for (const char* kind : {"lap1d", "ring", "identity", "clement", "sakurai", "minij"})
    for (const char* n : {"0", "1", "2"}) {
      CAPTURE(kind, n);
      expect_ok({"gen", kind, "--n", n, "-o", file});
      const io::Description d = io::describe({file, ""});
      CHECK(d.rows == std::stoi(n));
      CHECK(d.cols == std::stoi(n));
    }
}

TEST_CASE("only the ends of a long spectrum are stored when asked for") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.h5";
  expect_ok({"gen", "lap2d", "--n", "9", "--spectrum-count", "5", "-o", file});
  const auto spectrum = generators::laplacian_spectrum({9, 9});
  CHECK(io::read_vector({file, "exact_eigenvalues_smallest"}) == spectrum.smallest(5));
  CHECK(io::read_vector({file, "exact_eigenvalues_largest"}) == spectrum.largest(5));
}

TEST_CASE("generated features come with labels and centres, and the same seed makes the same file") {
  const TemporaryFolder folder;
  const std::string one = folder / "one.h5", two = folder / "two.h5";
  for (const std::string& file : {one, two})
    expect_ok({"gen", "blobs", "--n", "300", "--cols", "3", "--groups", "5", "--seed", "9", "-o", file});
  const generators::Blobs set(300, 3, 5, 1, 10, 0, 9);
  CHECK(same(io::read_dense_as<double>({one, ""}), generators::blobs<double>(set)));
  const auto labels = io::read_vector({one, "labels"});
  const auto truth = set.labels();
  CHECK(std::equal(labels.begin(), labels.end(), truth.begin(), truth.end()));
  CHECK(io::read_dense_as<double>({one, "centers"})(4, 2) == set.centers()(4, 2));
  CHECK(content_of(one) == content_of(two));
}

TEST_CASE("the sample files hold what data/README.md says, and are small") {
  const std::string data = TS_DATA;
  CHECK(same(sparse<double>(data + "/graphene.h5"), generators::graphene(24, 24)));
  CHECK(io::read_vector({data + "/graphene.h5", "exact_eigenvalues"}).size() == 1152);
  CHECK(same(sparse<double>(data + "/membrane.h5"), generators::laplacian({40, 30})));
  const auto x = io::read_dense_as<float>({data + "/blobs.h5", ""});
  const auto expected = generators::blobs<float>(generators::Blobs(1500, 2, 12, 0.7, 10, 0, 11));
  REQUIRE((x.rows() == 1500 && x.cols() == 2));
  CHECK(max_difference(x, expected) < allowed::single);
  for (const auto& file : std::filesystem::recursive_directory_iterator(data))
    if (file.is_regular_file()) CHECK(file.file_size() < 100000);
}
