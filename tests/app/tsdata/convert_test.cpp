#include "tallskinny/tests/app/tsdata/runs.hpp"

TEST_CASE("convert keeps what it reads, from text and from HDF5") {
  const TemporaryFolder folder;
  const std::string mtx = folder.file("a.mtx",
                                      "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 "
                                      "2\n3 3 5\n");
  const std::string one = folder / "one.h5", two = folder / "two.h5";
  expect_ok({"convert", mtx, one});
  CHECK(has(expect_ok({"convert", one, two, "--object", "/deep/er"}).out, "two.h5:/deep/er: 3 x 3"));
  CHECK(has(tsdata({"convert", one, folder / "two.mtx"}).err, "the output is HDF5, .npy or .csv"));
  const auto a = sparse<double>(two);
  CHECK(same(a, sparse<double>(mtx)));
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

TEST_CASE("convert writes dense matrices as npy and csv") {
  const TemporaryFolder folder;
  const std::string csv = folder.file("a.csv", "x,y\n0.1,2\n-3,1e300\n"), npy = folder / "a.npy",
                    back = folder / "b.csv";
  CHECK(has(expect_ok({"convert", csv, npy}).out, "a.npy: 2 x 2 float64, dense"));
  expect_ok({"convert", npy, back});
  CHECK(content_of(back) == "x0,x1\n0.1,2\n-3,1e+300\n");
  expect_ok({"convert", csv, npy, "--dtype", "complex64", "--rows", "0:1"});
  CHECK(io::describe({npy, ""}).stored_type == "<c8");
  const std::string mtx = folder.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n");
  CHECK(has(tsdata({"convert", mtx, npy}).err, "is sparse, and " + npy + " takes dense matrices: add --storage dense"));
  expect_ok({"convert", mtx, npy, "--storage", "dense"});
  CHECK(io::read_dense_as<double>({npy, ""})(0, 1) == 5);
  CHECK(has(tsdata({"convert", csv, npy, "--compress", "4"}).err, "--compress is for HDF5"));
  const std::string holes = folder.file("holes.csv", "x,y\n1,2\n,3\n5,6\n");
  CHECK(
      has(expect_ok({"convert", holes, npy, "--missing", "mean"}).out, "1 missing value replaced by means of columns"));
  CHECK(io::read_dense_as<double>({npy, ""})(1, 0) == 3);
}

TEST_CASE("labels are taken out of tables") {
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
  const std::string file = folder / "a.h5", config = folder.file("a.ini", "n = 5\n[tsdata]\nboundary = ring\n");
  CHECK(tsdata({"gen", "lap1d", "--config", config, "-o", file}, {"TSDATA_N=6"}).code == 0);
  CHECK(same(sparse<double>(file), generators::laplacian({6}, generators::Boundary::ring)));
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
  const TemporaryFolder folder;
  CHECK(has(expect_ok({"gen", "lap3d", "--n", "100", "--dry-run", "-o", folder / "a.h5"}).out, "total"));
  CHECK(has(expect_ok({"gen", "minij", "--n", "1e9", "--dry-run", "--json"}).out, "\"memory_bytes\""));
  CHECK_FALSE(std::filesystem::exists(folder / "a.h5"));
}

TEST_CASE("a signal ends a conversion at once and leaves nothing behind") {
  const TemporaryFolder folder;
  const std::string table = folder / "big.csv", result = folder / "big.h5";
  std::string row, rows;
  for (int j = 0; j < 40; ++j) row += (j > 0 ? "," : "") + std::to_string(j) + ".12345678901234";
  for (int i = 0; i < 1000; ++i) rows += row + '\n';
  std::ofstream out(table);
  for (int i = 0; i < 300; ++i) out << rows;
  out.close();
  const auto r =
      run_process("/usr/bin/timeout", {"--preserve-status", "-s", "TERM", "0.2", TS_TSDATA, "convert", table, result});
  CHECK(r.code == 128 + SIGTERM);
  CHECK(r.err == "tsdata: stopped by signal 15\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("the rows of an empty matrix are not counted one by one") {
  const std::string file = std::string(TS_DATA) + "/../tests/io/fixtures/many_empty_rows.mat";
  const ProcessResult result = expect_ok({"info", file});
  CHECK(has(result.out, "4,611,686,018,427,387,904 x 0"));
  const TemporaryFolder folder;
  const ProcessResult sparse = tsdata({"convert", file, folder / "a.h5", "--storage", "sparse"});
  CHECK(sparse.code != 0);
  CHECK(has(sparse.err, "as a sparse matrix takes"));
}
