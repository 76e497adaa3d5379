#include "tallskinny/tests/app/tssolve/runs.hpp"

TEST_CASE("input that cannot be used is exit status 4 with the first entry") {
  const TemporaryFolder folder;
  const auto text = [&](const std::string& kind, const std::string& entries) {
    return folder.file("a.mtx", "%%MatrixMarket matrix coordinate " + kind + "\n" + entries);
  };
  check_run({text("real general", "3 3 3\n1 1 1.0\n1 3 2.5\n3 1 2.0\n")}, 4, {"(0, 2)"});
  check_run({text("real general", "3 3 2\n1 1 1.0\n3 1 2.0\n")}, 4, {"nothing above its diagonal"});
  check_run({text("complex general", "2 2 2\n1 1 1.0 0.5\n2 2 2.0 0\n")}, 4, {"diagonal"});
  check_run({text("real general", "2 3 1\n1 1 1.0\n")}, 4);
  const std::string close = text("real general", "2 2 2\n1 2 5\n2 1 5.000001\n");
  check_run({close}, 4, {"is 5 but entry (1, 0) is 5.000001 (counted from 0); --general"});
  std::filesystem::rename(close, folder / "close.mtx");
  const auto r = tssolve({text("real symmetric", "2 2 2\n1 1 1\n2 2 1\n"), "--mass", folder / "close.mtx"});
  CHECK(r.code == 4);
  CHECK_FALSE(mentions(r.err, "--general"));
  check_run({folder / "missing.mtx"}, 4);
}

TEST_CASE("a matrix that is Hermitian to rounding, or by name, is solved as its Hermitian part") {
  const TemporaryFolder folder;
  const auto write = [&folder](const char* name, const char* entries) {
    return folder.file(name, std::string("%%MatrixMarket matrix coordinate real general\n2 2 4\n") + entries);
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
  const TemporaryFolder folder;
  const std::string file = write_h5(  // (2 -1; -1 2), one entry in two parts
      folder / "dump.h5", "data", std::vector<double>{-1, 1, 1, 2, -1}, "indices",
      std::vector<std::int32_t>{1, 0, 0, 1, 0}, "indptr", std::vector<std::int64_t>{0, 3, 5}, "shape",
      std::vector<std::int64_t>{2, 2});
  CHECK(mentions(tssolve({file}).err, "--layout"));
  CHECK(mentions(tssolve({file, "--layout", "csr"}).err, "--accept-unsorted"));
  const auto json =
      solve_json({file, "--layout", "csr", "--accept-unsorted", "--which", "SA", "-k", "2", "--mass", file});
  check_near(json["eigenvalues"], {1, 1}, allowed::many_steps);  // of A x = lambda A x
}

TEST_CASE("wrong use is exit status 2, no device 5") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "ring.h5", generators::laplacian({400}));
  for (const Words& wrong :
       {Words{}, {matrix, "--nev", "0"}, {matrix, "--which", "XX"}, {matrix, "-o", "/nonexistent/folder/x.h5"}})
    check_run(wrong, 2);
  check_run({matrix, "-o", folder / "x.h5", "--checkpoint", folder / "x.h5"}, 2, {"also the file of --output"});
  CHECK(tssolve({matrix, "--device", "cuda:999"}).code == 5);
  CHECK(tssolve({"--help"}).code == 0);
  CHECK(tssolve({"--version"}).code == 0);
}

TEST_CASE("results beyond the largest number are refused with a sentence, not printed as nothing") {
  const TemporaryFolder folder;
  auto a = csr_by_rows<double>(4, 4, [](index_t, auto add) {  // the eigenvalues 4e308 and 0
    for (index_t j = 0; j < 4; ++j) add(j, 1e308);
  });
  const auto matrix = write_sparse(folder / "large.h5", a);
  for (const Words& how : {Words{}, {"--general"}, {"--svd"}, {"--general", "--sigma", "1e308+1e308i"}})
    check_run(joined({matrix, "-k", how.size() == 3 ? "4" : "1"}, how), 1, {"larger than 1.8e308", "large.h5"});
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
    check_run({"a.mtx", theirs, "20"}, 2, {std::string("unknown option ") + theirs + "; did you mean " + ours + "?"});
  }
}

TEST_CASE("a basis that is too small for restarts is raised, with a word") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "ring.h5", generators::laplacian({400}));
  for (const Words& kind : {Words{"LA", "--method", "lanczos"}, {"LR", "--general"}, {"LA", "--method", "davidson"}}) {
    const Words words = joined({matrix, "-k", "6", "--which"}, kind);
    check_run(joined(words, {"--max-basis", "7"}), tssolve(words).code, {"--max-basis is raised from 7 to "});
  }
}
