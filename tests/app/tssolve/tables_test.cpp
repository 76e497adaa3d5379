#include "tallskinny/tests/app/tssolve/runs.hpp"

namespace {

template <class T>
void same_matrix(const std::string& table, const std::string& dataset) {
  CHECK(same(dense_in<T>(table), dense_in<T>(dataset)));
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
    CHECK(list_in(values) == list_in(h5 + ":/eigenvalues"));
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
  const std::string h5 = folder / "svd.h5",
                    tall = write_h5(folder / "tall.h5", "x",
                                    generators::blobs<double>(generators::Blobs(300, 5, 4, 0.5, 10, 0, 3)));
  const std::string left = folder / "left.csv", right = folder / "right.npy", values = folder / "values.csv";
  (void)solve_json(
      {tall, "--svd", "-k", "3", "-o", h5, "--left-vectors-out", left, "--vectors-out", right, "--values-out", values});
  same_matrix<double>(left, h5 + ":/left_singular_vectors");
  same_matrix<double>(right, h5 + ":/right_singular_vectors");
  CHECK(list_in(values) == list_in(h5 + ":/singular_values"));
  CHECK(content_of(values).starts_with("singular_value\n"));

  const auto flow = write_sparse(folder / "flow.h5", generators::circulant(50, std::vector<double>{1, 2, 4}));
  (void)solve_json(
      {flow, "--general", "-k", "4", "-o", h5, "--values-out", folder / "z.npy", "--vectors-out", folder / "z.csv"});
  same_matrix<std::complex<double>>(folder / "z.npy", h5 + ":/eigenvalues");
  const auto text = dense_in(folder / "z.csv");
  const auto vectors = dense_in<std::complex<double>>(h5 + ":/eigenvectors");
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
  const auto expect = [&](const Words& more, const std::string& part) {
    check_run(joined({matrix, "-k", "3", "--which", "LA"}, more), 2, {part});
  };
  expect({"--values-out", "-", "--json"}, "--json and a table named - both write to standard output");
  expect({"--values-out", "-", "--vectors-out", "-"}, "--vectors-out -: this is also the file of --values-out");
  expect({"--values-out", folder / "v.txt"}, "ends in .npy or .csv, or - for text");
  expect({"-o", folder / "v.csv"}, "ending in .h5");
  expect({"--left-vectors-out", folder / "v.csv"}, "--left-vectors-out goes with --svd");
  expect({"--values-out", folder / "no/v.csv"}, "--values-out");
}

TEST_CASE("a matrix comes from standard input") {
  const auto r = run_process("/bin/sh",
                             {"-c",
                              "printf '%%%%MatrixMarket matrix coordinate real symmetric\\n3 3 3\\n1 1 1\\n2 2 "
                              "2\\n3 3 3\\n' | $P - -k 2 --which LA --json -q"},
                             {"P=" TS_TSSOLVE});
  INFO(r.err);
  REQUIRE(r.code == 0);
  const auto json = nlohmann::json::parse(r.out);
  CHECK(json["matrix"] == "standard input");
  CHECK(json["eigenvalues"][0].get<double>() == Approx(3));
}

TEST_CASE("the report is one well-formed page that needs nothing else") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap & <cube>.h5", generators::laplacian({10, 10, 10}));
  const std::string page = folder / "run.html";
  for (const Words& how : {Words{"--which", "SA", "-k", "7"},
                           {"--which", "LA", "-k", "1", "--conv", "rel"},
                           {"--which", "SA", "-k", "3", "--method", "dense"},
                           {"--general", "--which", "LR", "-k", "2", "--tol", "1e-4"},
                           {"--general", "--sigma", "3+0.5i", "-k", "3"},
                           {"--which", "SA", "-k", "5", "--max-iter", "3", "--method", "lanczos"}}) {
    const int code = tssolve(joined({matrix, "--report", page}, how)).code;
    CHECK((code == 0 || code == 3));
    const auto text = content_of(page);
    for (const char* bad : {"nan", "<script", "src=", "href=", "url("}) CHECK_FALSE(mentions(text, bad));
    for (const char* part : {"<svg", "lap &amp; &lt;cube&gt;", "tssolve (tallskinny)"}) CHECK(mentions(text, part));
    CHECK(mentions(text, "<td>tssolve '" + (folder / "lap &amp; &lt;cube&gt;.h5") + "' --report "));
    CHECK(tags_are_balanced(text));
    CHECK_FALSE(std::filesystem::exists(page + ".part"));
  }
  CHECK(mentions(content_of(page), "not converged"));
  CHECK(tssolve({matrix, "--report", "/nonexistent/folder/x.html"}).code == 2);
}

TEST_CASE("the report marks an eigenvalue whose copies were cut off at the end of the set") {
  const TemporaryFolder folder;
  // The second smallest eigenvalue is threefold.
  const auto matrix = write_sparse(folder / "cube.h5", generators::laplacian({10, 10, 10}));
  const std::string page = folder / "run.html";
  for (const std::string count : {"3", "4"}) {
    CHECK(tssolve({matrix, "--which", "SA", "-k", count, "-q", "--report", page}).code == 0);
    const bool cut = count == "3";
    CHECK((mentions(content_of(page), ">2 or more</text>")) == cut);
    CHECK((mentions(content_of(page), "may have more copies than the 2 found")) == cut);
  }
}
