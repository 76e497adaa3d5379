// tsdata as a user runs it: what gen makes, info describes and convert keeps.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <span>

#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using test::ProcessResult;

namespace {

ProcessResult tsdata(const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment = {}) {
  return test::run_process(TS_TSDATA, arguments, environment);
}

ProcessResult expect_ok(const std::vector<std::string>& arguments) {
  const ProcessResult result = tsdata(arguments);
  INFO(result.err);
  CHECK(result.code == 0);
  bool writes = arguments[0] != "info";
  for (const std::string& argument : arguments) writes &= argument != "--dry-run" && argument != "--help";
  CHECK(result.err.starts_with("wrote ") == writes);
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == (writes ? 1 : 0));
  return result;
}

template <class T>
CsrMatrix<T> sparse(const std::string& where) {
  const io::MatrixFile file = io::read_matrix(io::parse_location(where));
  return std::get<CsrMatrix<T>>(std::get<io::SparseMatrix>(file.matrix));
}

template <class T>
void check_equal(const CsrMatrix<T>& a, const CsrMatrix<T>& b) {
  CHECK(a.rows == b.rows);
  CHECK(a.cols == b.cols);
  CHECK(a.pointers == b.pointers);
  CHECK(a.indices == b.indices);
  CHECK(a.values == b.values);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what was written where is told on standard error, unless --quiet") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "a.h5", copy = folder / "b.h5", points = folder / "p.h5";
  CHECK(tsdata({"gen", "lap1d", "--n", "5", "-o", file}).err ==
        "wrote " + file + ": matrix, exact_eigenvalues\n");
  CHECK(tsdata({"convert", file, copy}).err == "wrote " + copy + ": matrix\n");
  CHECK(tsdata({"gen", "uniform", "--n", "5", "-o", points}).err == "wrote " + points + ": features\n");
  CHECK(tsdata({"gen", "uniform", "--n", "5", "-q", "-o", points}).err.empty());
  CHECK(tsdata({"convert", file, copy, "--quiet"}).err.empty());
}

TEST_CASE("a generated matrix comes back bit by bit, with its spectrum") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "a.h5";
  expect_ok({"gen", "lap3d", "--n", "4x3x2", "-o", file});
  check_equal(sparse<double>(file), generators::laplacian({4, 3, 2}));
  CHECK(io::read_vector({file, "exact_eigenvalues"}) == generators::laplacian_spectrum({4, 3, 2}).all());
  CHECK(io::describe({file, ""}).declared == io::Structure::symmetric);

  expect_ok({"gen", "lap3d", "--n", "4x3x2", "--full", "--compress", "6", "-o", file});
  check_equal(sparse<double>(file), generators::laplacian({4, 3, 2}));
  CHECK(io::describe({file, ""}).declared == io::Structure::general);
}

TEST_CASE("every kind can be made, and its file is described and read") {
  const test::TemporaryFolder folder;
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
  for (auto call : calls) {
    CAPTURE(call[0]);
    call.insert(call.begin(), "gen");
    call.insert(call.end(), {"--output", file});
    expect_ok(call);
    CHECK_NOTHROW(io::read_matrix({file, ""}));
    CHECK(has(expect_ok({"info", file, "--json"}).out, "\"not_finite\": 0"));
  }
  expect_ok({"gen", "mikota", "--n", "6", "-o", file});
  check_equal(sparse<double>(file + ":/K"), generators::mikota(6).stiffness);
  check_equal(sparse<double>(file + ":/M"), generators::mikota(6).mass);
}

TEST_CASE("complex matrices and other element types are stored as such") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "a.h5";
  expect_ok({"gen", "fluxring", "--n", "6", "-o", file});
  check_equal(sparse<std::complex<double>>(file), generators::flux_ring(6, 0.3));
  CHECK(has(expect_ok({"info", file}).out, "declared hermitian, found hermitian"));

  expect_ok({"gen", "clement", "--n", "6", "--dtype", "float32", "-o", file});
  CHECK(sparse<float>(file).values[0] == static_cast<float>(std::sqrt(5.0)));
  CHECK(tsdata({"gen", "fluxring", "--n", "6", "--dtype", "float32", "-o", file}).code == 2);
  CHECK(tsdata({"gen", "clement", "--n", "6", "--dtype", "float16", "-o", file}).code == 2);
}

TEST_CASE("the smallest sizes are made and read like any other") {
  const test::TemporaryFolder folder;
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
  const test::TemporaryFolder folder;
  const std::string file = folder / "a.h5";
  expect_ok({"gen", "lap2d", "--n", "9", "--spectrum-count", "5", "-o", file});
  const auto spectrum = generators::laplacian_spectrum({9, 9});
  CHECK(io::read_vector({file, "exact_eigenvalues_smallest"}) == spectrum.smallest(5));
  CHECK(io::read_vector({file, "exact_eigenvalues_largest"}) == spectrum.largest(5));
}

TEST_CASE("generated features come with labels and centres, and the same seed makes the same file") {
  const test::TemporaryFolder folder;
  const std::string one = folder / "one.h5", two = folder / "two.h5";
  const std::vector<std::string> call = {"gen",      "blobs", "--n",    "300", "--cols", "3",
                                         "--groups", "5",     "--seed", "9",   "-o"};
  const auto to = [&](const std::string& file) {
    auto words = call;
    words.push_back(file);
    expect_ok(words);
  };
  to(one);
  to(two);
  const generators::Blobs set(300, 3, 5, 1, 10, 0, 9);
  const auto x = io::read_dense_as<double>({one, ""});
  const auto expected = generators::blobs<double>(set);
  REQUIRE(x.rows() == 300);
  REQUIRE(x.cols() == 3);
  CHECK(std::equal(x.data(), x.data() + 900, expected.data()));
  const auto labels = io::read_vector({one, "labels"});
  const auto truth = set.labels();
  CHECK(std::equal(labels.begin(), labels.end(), truth.begin(), truth.end()));
  CHECK(io::read_dense_as<double>({one, "centers"})(4, 2) == set.centers()(4, 2));
  CHECK(test::content_of(one) == test::content_of(two));
}

TEST_CASE("convert keeps what it reads, from text and from HDF5") {
  const test::TemporaryFolder folder;
  const std::string mtx =
      folder.file("a.mtx",
                  "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 "
                  "2\n3 3 5\n");
  const std::string one = folder / "one.h5", two = folder / "two.h5";
  expect_ok({"convert", mtx, one});
  CHECK(has(expect_ok({"convert", one, two, "--object", "/deep/er"}).out, "two.h5:/deep/er: 3 x 3"));
  CHECK(has(tsdata({"convert", one, folder / "two.mtx"}).err, "the output is HDF5"));
  const auto a = sparse<double>(two);
  check_equal(a, sparse<double>(mtx));
  CHECK(a.nonzeros() == 5);
  CHECK(io::describe({two, "deep/er"}).declared == io::Structure::symmetric);
  CHECK(has(expect_ok({"info", two}).out, "declared symmetric, found symmetric"));

  expect_ok({"convert", one, two, "--storage", "dense", "--dtype", "complex64"});
  const auto dense = io::read_dense_as<std::complex<float>>({two, ""});
  CHECK(dense(0, 1) == std::complex<float>(-1));
  CHECK(dense(2, 2) == std::complex<float>(5));
  expect_ok({"convert", two, one, "--storage", "sparse", "--rows", "1:3"});
  const auto part = sparse<std::complex<float>>(one);
  CHECK(part.rows == 2);
  CHECK(part.nonzeros() == 3);
}

TEST_CASE("labels are taken out of tables") {
  const test::TemporaryFolder folder;
  const std::string out = folder / "out.h5";
  const std::string csv = folder.file("a.csv", "x,label,y\n1.5,3,2.5\n-1,4,0\n");
  expect_ok({"convert", csv, out, "--labels-column", "1"});
  CHECK(io::read_vector({out, "labels"}) == std::vector<double>{3, 4});
  auto x = io::read_dense_as<double>({out, ""});
  CHECK(x.cols() == 2);
  CHECK(x(0, 1) == 2.5);
  expect_ok({"convert", csv, out, "--labels-column", "-2", "--rows", "1:"});
  CHECK(io::read_vector({out, "labels"}) == std::vector<double>{4});

  const std::string arff = folder.file("a.arff",
                                       "@relation r\n@attribute x real\n@attribute k integer\n@attribute c "
                                       "{no,yes}\n@data\n1,7,yes\n2,8,no\n");
  expect_ok({"convert", arff, out, "--labels-column", "c"});
  CHECK(io::read_vector({out, "labels"}) == std::vector<double>{1, 0});
  CHECK(io::read_dense_as<double>({out, ""}).cols() == 2);
  expect_ok({"convert", arff, out, "--labels-column", "k"});
  CHECK(io::read_vector({out, "labels"}) == std::vector<double>{7, 8});
  CHECK(io::read_dense_as<double>({out, ""}).cols() == 1);

  expect_ok({"convert", csv, out, "--labels-column", "label"});
  CHECK(io::read_vector({out, "labels"}) == std::vector<double>{3, 4});
  const std::string words = folder.file("b.csv", "1,2,rose\n3,4,\"iris, blue\"\n5,6,rose\n");
  expect_ok({"convert", words, out, "--labels-column", "-1"});
  CHECK(io::read_vector({out, "labels"}) == std::vector<double>{1, 0, 1});
  CHECK(io::read_dense_as<double>({out, ""})(2, 1) == 6);
  CHECK(tsdata({"convert", words, out}).code == 4);
  CHECK(tsdata({"convert", words, out, "--labels-column", "kind"}).code == 2);
  CHECK(tsdata({"convert", csv, out, "--labels-column", "3"}).code == 2);
  CHECK(tsdata({"convert", csv, out, "--labels-column", "1", "--transpose"}).code == 2);
}

TEST_CASE("info counts what makes a matrix unusable and names its other traits") {
  const test::TemporaryFolder folder;
  const std::string csv = folder.file("a.csv", "1,nan\ninf,-4\n0,0\n");
  const ProcessResult result = expect_ok({"info", csv});
  CHECK(has(result.out, "2 NaN or infinite"));
  CHECK(has(result.out, "values      -4 to 1"));
  CHECK(has(result.out, "empty rows  1"));
  const ProcessResult quick = expect_ok({"info", csv, "--quick"});
  CHECK(has(quick.out, "3 x 2"));
  CHECK_FALSE(has(quick.out, "NaN"));
}

TEST_CASE("wrong calls and unusable files end with their status, one line and no output") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "a.h5", text = folder.file("a.txt.h5", "not hdf5");
  const std::vector<std::pair<int, std::vector<std::string>>> calls = {
      {2, {}},
      {2, {"gne"}},
      {2, {"gen"}},
      {2, {"gen", "lap9d", "--n", "3", "-o", file}},
      {2, {"gen", "lap3d", "-o", file}},
      {2, {"gen", "lap3d", "--n", "3"}},
      {2, {"gen", "lap3d", "--n", "3x3", "-o", file}},
      {2, {"gen", "lap3d", "--n", "-3", "-o", file}},
      {2, {"gen", "lap3d", "--n", "3", "--phi", "1", "-o", file}},
      {2, {"gen", "lap3d", "--n", "1e6", "-o", file}},
      {2, {"gen", "hypercube", "--n", "31", "-o", file}},
      {2, {"gen", "lap3d", "--n", "3", "-o", folder / "no/such/folder.h5"}},
      {2, {"gen", "blobs", "--n", "3x3", "-o", file}},
      {2, {"gen", "blobs", "--n", "9e18", "--cols", "9000", "-o", file}},
      {1, {"gen", "minij", "--n", "1e9", "-o", file}},
      {4, {"info", folder / "missing.h5"}},
      {4, {"info", text}},
      {4, {"convert", text, file}},
      {2, {"convert", text, text}},
      {2, {"convert", text}},
      {2, {"info", text, "--config", folder / "missing.ini"}}};
  for (const auto& [code, call] : calls) {
    const ProcessResult result = tsdata(call);
    CAPTURE(call, result.err);
    CHECK(result.code == code);
    CHECK(result.out.empty());
    CHECK(result.err.starts_with("tsdata: "));
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  }
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("options also come from the environment and a configuration file") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "a.h5",
                    config = folder.file("a.ini", "n = 5\n[tsdata]\nboundary = ring\n");
  CHECK(tsdata({"gen", "lap1d", "--config", config, "-o", file}, {"TSDATA_N=6"}).code == 0);
  check_equal(sparse<double>(file), generators::laplacian({6}, generators::Boundary::ring));
}

TEST_CASE("help pages fit 80 columns, and a dry run writes nothing") {
  for (const std::vector<std::string>& call : std::vector<std::vector<std::string>>{
           {"--help"}, {"gen", "--help"}, {"convert", "--help"}, {"info", "--help"}}) {
    std::istringstream lines(expect_ok(call).out);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(line.size() <= 80);
    }
  }
  CHECK(expect_ok({"--version"}).out.starts_with("tsdata (tallskinny) "));
  const test::TemporaryFolder folder;
  CHECK(has(expect_ok({"gen", "lap3d", "--n", "100", "--dry-run", "-o", folder / "a.h5"}).out, "total"));
  CHECK(has(expect_ok({"gen", "minij", "--n", "1e9", "--dry-run", "--json"}).out, "\"memory_bytes\""));
  CHECK_FALSE(std::filesystem::exists(folder / "a.h5"));
}

TEST_CASE("the sample files hold what data/README.md says, and are small") {
  const std::string data = TS_DATA;
  check_equal(sparse<double>(data + "/graphene.h5"), generators::graphene(24, 24));
  CHECK(io::read_vector({data + "/graphene.h5", "exact_eigenvalues"}).size() == 1152);
  check_equal(sparse<double>(data + "/membrane.h5"), generators::laplacian({40, 30}));
  const auto x = io::read_dense_as<float>({data + "/blobs.h5", ""});
  const auto expected = generators::blobs<float>(generators::Blobs(1500, 2, 12, 0.7, 10, 0, 11));
  REQUIRE(x.rows() == 1500);
  REQUIRE(x.cols() == 2);
  for (index_t i = 0; i < 3000; ++i) CHECK(std::fabs(x.data()[i] - expected.data()[i]) < 1e-5f);
  for (const auto& file : std::filesystem::directory_iterator(data)) CHECK(file.file_size() < 100000);
}

TEST_CASE("a signal ends a conversion at once and leaves nothing behind") {
  const test::TemporaryFolder folder;
  const std::string table = folder / "big.csv", result = folder / "big.h5";
  std::string row, rows;
  for (int j = 0; j < 40; ++j) row += (j > 0 ? "," : "") + std::to_string(j) + ".12345678901234";
  for (int i = 0; i < 1000; ++i) rows += row + '\n';
  std::ofstream out(table);
  for (int i = 0; i < 150; ++i) out << rows;
  out.close();
  const auto r = test::run_process(
      "/usr/bin/timeout", {"--preserve-status", "-s", "TERM", "0.3", TS_TSDATA, "convert", table, result});
  CHECK(r.code == 128 + SIGTERM);
  CHECK(r.err == "tsdata: stopped by signal 15\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("the rows of an empty matrix are not counted one by one") {
  const std::string file = std::string(TS_DATA) + "/../tests/io/fixtures/many_empty_rows.mat";
  const ProcessResult result = expect_ok({"info", file});
  CHECK(has(result.out, "4,611,686,018,427,387,904 x 0"));
  const test::TemporaryFolder folder;
  const ProcessResult sparse = tsdata({"convert", file, folder / "a.h5", "--storage", "sparse"});
  CHECK(sparse.code != 0);
  CHECK(has(sparse.err, "as a sparse matrix takes"));
}
