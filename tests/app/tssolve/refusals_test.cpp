#include "tallskinny/tests/app/tssolve/runs.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("input that cannot be used is exit status 4 with the first entry") {
  const test::TemporaryFolder folder;
  write_text(folder / "skew.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.0\n1 3 2.5\n3 1 2.0\n");
  auto r = tssolve({folder / "skew.mtx"});
  CHECK(r.code == 4);
  CHECK(mentions(r.err, "(0, 2)"));
  write_text(folder / "lower.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1.0\n3 1 2.0\n");
  r = tssolve({folder / "lower.mtx"});
  CHECK(r.code == 4);
  CHECK(mentions(r.err, "nothing above its diagonal"));
  write_text(folder / "close.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 5\n2 1 5.000001\n");
  r = tssolve({folder / "close.mtx"});
  CHECK(mentions(r.err, "is 5 but entry (1, 0) is 5.000001 (counted from 0); --general"));
  write_text(folder / "eye.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 1\n");
  r = tssolve({folder / "eye.mtx", "--mass", folder / "close.mtx"});
  CHECK(r.code == 4);
  CHECK_FALSE(mentions(r.err, "--general"));
  write_text(folder / "phase.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1.0 0.5\n2 2 2.0 0\n");
  r = tssolve({folder / "phase.mtx"});
  CHECK(r.code == 4);
  CHECK(mentions(r.err, "diagonal"));
  write_text(folder / "wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1.0\n");
  CHECK(tssolve({folder / "wide.mtx"}).code == 4);
  CHECK(tssolve({folder / "missing.mtx"}).code != 0);
}

TEST_CASE("a matrix that is Hermitian to rounding, or by name, is solved as its Hermitian part") {
  const test::TemporaryFolder folder;
  const auto write = [&folder](const char* name, const char* entries) {
    write_text(folder / name, std::string("%%MatrixMarket matrix coordinate real general\n2 2 4\n") + entries);
    return folder / name;
  };
  // (2 1; 1 2) has 3 and 1.
  const std::string near = write("near.mtx", "1 1 2\n1 2 1.00000000001\n2 1 0.99999999999\n2 2 2\n"),
                    far = write("far.mtx", "1 1 2\n1 2 1.5\n2 1 0.5\n2 2 2\n");
  const auto expect = [](const nlohmann::json& found, double asymmetry, double least, double most) {
    CHECK(std::abs(found["eigenvalues"][0].get<double>() - 3) < allowed::many_steps);
    CHECK(std::abs(found["asymmetry"].get<double>() - asymmetry) < allowed::many_steps);
    CHECK(found["symmetrised"] == true);
    const double bound = found["error_bounds"][0];
    CHECK((bound >= least && bound <= most));
  };
  expect(solve_json({near}), 1e-11, 1e-11, 2e-11);
  CHECK(mentions(tssolve({near, "-q"}).out, "error bounds count the difference"));
  CHECK(tssolve({far}).code == 4);
  const auto by_name = solve_json({far, "--symmetrise"});
  expect(by_name, 0.5, 0, allowed::short_sum);
  CHECK(mentions(by_name["note"].get<std::string>(), "as --symmetrise asks"));
  CHECK(tssolve({far, "--symmetrise", "--general"}).code == 2);
  // Both matrices of a pencil: A x = lambda A x.
  const auto pencil = solve_json({far, "--mass", far, "--symmetrise"});
  CHECK(std::abs(pencil["eigenvalues"][0].get<double>() - 1) < allowed::many_steps);
  CHECK(solve_json({near, "--mass", near})["error_bounds"][0].get<double>() > 1e-11);
}

TEST_CASE("a dump that does not say its layout, unsorted and with duplicates, is read as it is told") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "dump.h5";
  io::OutputFile out(file);  // (2 -1; -1 2), one entry in two parts
  out.write("data", std::vector<double>{-1, 1, 1, 2, -1});
  out.write("indices", std::vector<std::int32_t>{1, 0, 0, 1, 0});
  out.write("indptr", std::vector<std::int64_t>{0, 3, 5});
  out.write("shape", std::vector<std::int64_t>{2, 2});
  out.commit();
  CHECK(mentions(tssolve({file}).err, "--layout"));
  CHECK(mentions(tssolve({file, "--layout", "csr"}).err, "--accept-unsorted"));
  const auto json =
      solve_json({file, "--layout", "csr", "--accept-unsorted", "--which", "SA", "-k", "2", "--mass", file});
  CHECK(std::abs(json["eigenvalues"][0].get<double>() - 1) < allowed::many_steps);  // of A x = lambda A x
  CHECK(std::abs(json["eigenvalues"][1].get<double>() - 1) < allowed::many_steps);
}

TEST_CASE("wrong use is exit status 2, no device 5") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "ring.h5", generators::laplacian({400}));
  CHECK(tssolve({}).code == 2);
  CHECK(tssolve({matrix, "--nev", "0"}).code == 2);
  CHECK(tssolve({matrix, "--which", "XX"}).code == 2);
  CHECK(tssolve({matrix, "-o", "/nonexistent/folder/x.h5"}).code == 2);
  const auto twice = tssolve({matrix, "-o", folder / "x.h5", "--checkpoint", folder / "x.h5"});
  CHECK(twice.code == 2);
  CHECK(mentions(twice.err, "also the file of --output"));
  CHECK(tssolve({matrix, "--device", "cuda:999"}).code == 5);
  CHECK(tssolve({"--help"}).code == 0);
  CHECK(tssolve({"--version"}).code == 0);
}

TEST_CASE("results beyond the largest number are refused with a sentence, not printed as nothing") {
  const test::TemporaryFolder folder;
  CsrMatrix<double> a;  // all elements 1e308: the eigenvalues 4e308 and 0
  a.rows = a.cols = 4;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) a.indices.push_back(j), a.values.push_back(1e308);
    a.pointers.push_back(4 * (i + 1));
  }
  const auto matrix = write_sparse(folder / "large.h5", a);
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{}, {"--general"}, {"--svd"}, {"--general", "--sigma", "1e308+1e308i"}}) {
    std::vector<std::string> arguments = {matrix, "-k", how.size() == 3 ? "4" : "1"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const auto r = tssolve(arguments);
    CHECK(r.code == 1);
    CHECK(mentions(r.err, "larger than 1.8e308"));
    CHECK(mentions(r.err, "large.h5"));
  }
  const auto json = solve_json({matrix, "-k", "1", "--which", "SA"});
  CHECK(std::abs(json["eigenvalues"][0].get<double>()) < 1e294);
}

TEST_CASE("options of SciPy and SLEPc are answered with those that are meant") {
  for (const auto& [theirs, ours] : {std::pair{"--ncv", "--max-basis"},
                                     {"-eps_ncv", "--max-basis"},
                                     {"--maxiter", "--max-iter"},
                                     {"-eps_max_it", "--max-iter"},
                                     {"-n", "--nev"},
                                     {"--k", "--nev"},
                                     {"--eps_nev", "--nev"},
                                     {"-svd_nsv", "--nev"},
                                     {"-eps_target", "--sigma"},
                                     {"--v0", "--initial"},
                                     {"--random-state", "--seed"}}) {
    CAPTURE(theirs);
    const auto r = tssolve({"a.mtx", theirs, "20"});
    CHECK(r.code == 2);
    CHECK(mentions(r.err, std::string("unknown option ") + theirs + "; did you mean " + ours + "?"));
  }
}

TEST_CASE("a basis that is too small for restarts is raised, with a word") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "ring.h5", generators::laplacian({400}));
  const std::vector<std::string> plain = {matrix, "-k", "6", "--which", "LA", "--method", "lanczos"};
  for (const std::vector<std::string>& kind : {std::vector<std::string>{}, {"--general"}, {"--method", "davidson"}}) {
    auto words = kind.size() == 2 ? std::vector<std::string>{matrix, "-k", "6", "--which", "LA"} : plain;
    if (kind.size() == 1) words = {matrix, "-k", "6", "--which", "LR"};
    words.insert(words.end(), kind.begin(), kind.end());
    const auto free = tssolve(words);
    words.insert(words.end(), {"--max-basis", "7"});
    const auto r = tssolve(words);
    INFO(r.err);
    CHECK(r.code == free.code);
    CHECK(mentions(r.err, "--max-basis is raised from 7 to "));
  }
}
