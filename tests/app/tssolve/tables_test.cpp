#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/tests/app/tssolve/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

std::vector<double> list(const std::string& file) { return io::read_vector(io::parse_location(file)); }

template <class T>
void same_matrix(const std::string& table, const std::string& dataset) {
  const auto a = io::read_dense_as<T>(io::parse_location(table)), b = io::read_dense_as<T>(io::parse_location(dataset));
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.cols() == b.cols());
  CHECK(std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data()));
}

std::string page_text(const std::string& page) {
  std::ifstream in(page, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

TEST_CASE("values and vectors as npy and csv are those of the file") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "ring.h5", generators::laplacian({400}, generators::Boundary::ring));
  const std::string h5 = folder / "pairs.h5";
  for (const std::string end : {".npy", ".csv"}) {
    CAPTURE(end);
    const std::string values = folder / "values" + end, vectors = folder / "vectors" + end;
    (void)solve_json({matrix, "-k", "5", "--which", "LA", "-o", h5, "--values-out", values, "--vectors-out", vectors});
    CHECK(list(values) == list(h5 + ":/eigenvalues"));
    same_matrix<double>(vectors, h5 + ":/eigenvectors");
  }
  CHECK(content_of(folder / "vectors.csv").starts_with("eigenvector0,eigenvector1,"));
  // Vectors are computed for a table alone, too.
  const std::string alone = folder / "alone.npy";
  (void)solve_json({matrix, "-k", "5", "--which", "LA", "--vectors-out", alone});
  same_matrix<double>(alone, h5 + ":/eigenvectors");
}

TEST_CASE("singular triplets and pairs of a general matrix as tables") {
  const TemporaryFolder folder;
  const std::string tall = folder / "tall.h5", h5 = folder / "svd.h5";
  io::OutputFile out(tall);
  out.write("x", generators::blobs<double>(generators::Blobs(300, 5, 4, 0.5, 10, 0, 3)));
  out.commit();
  const std::string left = folder / "left.csv", right = folder / "right.npy", values = folder / "values.csv";
  (void)solve_json(
      {tall, "--svd", "-k", "3", "-o", h5, "--left-vectors-out", left, "--vectors-out", right, "--values-out", values});
  same_matrix<double>(left, h5 + ":/left_singular_vectors");
  same_matrix<double>(right, h5 + ":/right_singular_vectors");
  CHECK(list(values) == list(h5 + ":/singular_values"));
  CHECK(content_of(values).starts_with("singular_value\n"));

  const auto flow = write_sparse(folder / "flow.h5", generators::circulant(50, std::vector<double>{1, 2, 4}));
  (void)solve_json(
      {flow, "--general", "-k", "4", "-o", h5, "--values-out", folder / "z.npy", "--vectors-out", folder / "z.csv"});
  same_matrix<std::complex<double>>(folder / "z.npy", h5 + ":/eigenvalues");
  const auto text = io::read_dense_as<double>(io::parse_location(folder / "z.csv"));
  const auto vectors = io::read_dense_as<std::complex<double>>(io::parse_location(h5 + ":/eigenvectors"));
  REQUIRE(text.cols() == 2 * vectors.cols());
  CHECK(text(7, 2) == vectors(7, 1).real());
  CHECK(text(7, 3) == vectors(7, 1).imag());
}

TEST_CASE("a table goes to standard output alone, and other names are refused") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "small.h5", generators::laplacian({30}, generators::Boundary::ring));
  const auto r = tssolve({matrix, "-k", "3", "--which", "LA", "--values-out", "-"});
  CHECK(r.code == 0);
  CHECK(r.out.starts_with("eigenvalue\n4\n3."));
  CHECK(std::count(r.out.begin(), r.out.end(), '\n') == 4);
  const auto expect = [&](std::vector<std::string> more, const std::string& part) {
    more.insert(more.begin(), {matrix, "-k", "3", "--which", "LA"});
    const auto refused = tssolve(more);
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(mentions(refused.err, part));
  };
  expect({"--values-out", "-", "--json"}, "--json and a table named - are both for standard output");
  expect({"--values-out", "-", "--vectors-out", "-"}, "--vectors-out -: this is also the file of --values-out");
  expect({"--values-out", folder / "v.txt"}, "ends in .npy or .csv, or - for text");
  expect({"-o", folder / "v.csv"}, "ends with .h5");
  expect({"--left-vectors-out", folder / "v.csv"}, "--left-vectors-out goes with --svd");
  expect({"--values-out", folder / "no/v.csv"}, "--values-out");
}

TEST_CASE("a matrix comes from standard input") {
  const std::string tssolve = std::string("P=") + TS_TSSOLVE;
  const auto r = run_process("/bin/sh",
                             {"-c",
                              "printf '%%%%MatrixMarket matrix coordinate real symmetric\\n3 3 3\\n1 1 1\\n2 2 "
                              "2\\n3 3 3\\n' | $P - -k 2 --which LA --json -q"},
                             {tssolve});
  INFO(r.err);
  REQUIRE(r.code == 0);
  const auto json = nlohmann::json::parse(r.out);
  CHECK(json["matrix"] == "standard input");
  CHECK(json["eigenvalues"][0].get<double>() == Approx(3));
}

TEST_CASE("the report is one well-formed page that needs nothing else") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap & <cube>.h5", generators::laplacian({10, 10, 10}));
  const std::string page = folder / "run.html";
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--which", "SA", "-k", "7"},
                                              {"--which", "LA", "-k", "1", "--conv", "rel"},
                                              {"--which", "SA", "-k", "3", "--method", "dense"},
                                              {"--general", "--which", "LR", "-k", "2", "--tol", "1e-4"},
                                              {"--general", "--sigma", "3+0.5i", "-k", "3"},
                                              {"--which", "SA", "-k", "5", "--max-iter", "3", "--method", "lanczos"}}) {
    std::vector<std::string> arguments = {matrix, "--report", page};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const int code = tssolve(arguments).code;
    CHECK((code == 0 || code == 3));
    const auto text = page_text(page);
    CHECK_FALSE(mentions(text, "nan"));
    CHECK_FALSE(mentions(text, "<script"));
    CHECK_FALSE(mentions(text, "src="));
    CHECK_FALSE(mentions(text, "href="));
    CHECK_FALSE(mentions(text, "url("));
    CHECK(mentions(text, "<svg"));
    CHECK(mentions(text, "lap &amp; &lt;cube&gt;"));
    CHECK(mentions(text, "<td>tssolve '" + (folder / "lap &amp; &lt;cube&gt;.h5") + "' --report "));
    CHECK(mentions(text, "tssolve (tallskinny)"));
    CHECK(test::tags_are_balanced(text));
    CHECK_FALSE(std::filesystem::exists(page + ".part"));
  }
  CHECK(mentions(page_text(page), "not converged"));
  CHECK(tssolve({matrix, "--report", "/nonexistent/folder/x.html"}).code == 2);
}

TEST_CASE("the report marks an eigenvalue whose copies were cut off at the end of the set") {
  const test::TemporaryFolder folder;
  // The second smallest eigenvalue is threefold.
  const auto matrix = write_sparse(folder / "cube.h5", generators::laplacian({10, 10, 10}));
  const std::string page = folder / "run.html";
  for (const std::string count : {"3", "4"}) {
    CHECK(tssolve({matrix, "--which", "SA", "-k", count, "-q", "--report", page}).code == 0);
    const bool cut = count == "3";
    CHECK((mentions(page_text(page), ">2 or more</text>")) == cut);
    CHECK((mentions(page_text(page), "may have more copies than the 2 found")) == cut);
  }
}
