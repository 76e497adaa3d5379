#include "tallskinny/tests/app/tssolve/runs.hpp"

TEST_CASE("eigenpairs of a file as JSON and as a file") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "ring.h5", generators::laplacian({400}, generators::Boundary::ring));
  auto exact = generators::laplacian_spectrum({400}, generators::Boundary::ring).largest(7);
  std::reverse(exact.begin(), exact.end());
  const auto json = proved({matrix, "-k", "7", "--which", "LA", "-o", folder / "pairs.h5"});
  CHECK(json["converged"] == true);
  CHECK(json["conv"] == "rel");
  for (const char* count : {"iterations", "operator_applications", "elapsed_seconds"})
    CHECK(json[count].get<double>() > 0);
  for (const std::string list : {"eigenvalues", "residual_norms", "vector_errors"}) {
    REQUIRE(json[list].size() == 7);
    CHECK(list_in(folder / "pairs.h5:/" + list) == json[list].get<std::vector<double>>());
  }
  CHECK(json["vector_errors"][0].get<double>() < allowed::three_digits);
  CHECK(mentions(tssolve({matrix, "-k", "7", "--which", "LA"}).out, "angle <"));
  check_near(json["eigenvalues"], exact, allowed::run_of_norm_10);
  for (const auto& residual : json["residual_norms"]) CHECK(residual.get<double>() <= allowed::default_run * 4);
  const auto vectors = dense_in(folder / "pairs.h5:/eigenvectors");
  CHECK((vectors.rows() == 400 && vectors.cols() == 7));
  const auto history = dense_in(folder / "pairs.h5:/history/residual_over_tolerance");
  CHECK(history.cols() == 7);
  REQUIRE(history.rows() > 0);
  for (index_t j = 0; j < 7; ++j) CHECK(history(history.rows() - 1, j) <= 1);

  SECTION("and a warm start from them needs fewer applications") {
    const Words plain = {matrix, "-k", "7", "--which", "LA", "--method", "lanczos"};
    CHECK(solve_json(joined(plain, {"--initial", folder / "pairs.h5:/eigenvectors"}))["operator_applications"]
              .get<int>() < solve_json(plain)["operator_applications"].get<int>());
  }
  SECTION("same seed, same bits, for any number of threads") {
    const auto one = solve_json({matrix, "-k", "7", "--which", "LA", "--threads", "1"});
    const auto three = solve_json({matrix, "-k", "7", "--which", "LA", "--threads", "3"});
    CHECK(one["eigenvalues"] == json["eigenvalues"]);
    CHECK(three["residual_norms"] == one["residual_norms"]);
  }
}

TEST_CASE("the table, more eigenvalues than there are, and a dry run") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "small.h5", generators::identity(3));
  check_run({matrix, "-k", "9", "--which", "SA"}, 0, {"multiplicity", "9 eigenvalues were asked for"});
  CHECK(solve_json({matrix, "-k", "9"})["eigenvalues"].size() == 3);
  check_run({matrix, "--dry-run"}, 0, {"memory"});
}

TEST_CASE("a dry run shows where the memory goes, and --memory limits it") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const auto plan = plan_of({matrix});
  const auto& memory = plan["memory"];
  CHECK(memory["basis"].get<double>() >= 8000.0 * 8 * plan["max_basis"].get<double>());
  CHECK(plan["memory_bytes"] ==
        memory["basis"].get<long>() + memory["blocks"].get<long>() + memory["matrix"].get<long>());
  CHECK(plan_of({matrix, "--memory", "2M"})["available_memory_bytes"] == 2 << 20);
  check_run({matrix, "--memory", "2M"}, 1, {"2.00 MiB"});
  check_run({matrix, "--memory", "much"}, 2);
}

TEST_CASE("a run says why it takes the method that it takes") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const auto reason = [&](const Words& more) { return plan_of(joined({matrix}, more))["method_reason"]; };
  CHECK(reason({}) == "few of many eigenvalues are wanted");
  CHECK(reason({"-k", "4000"}) == "more than a third of all eigenvalues are wanted");
  CHECK(reason({"--method", "lanczos"}) == "");
  CHECK(reason({"--sigma", "1"}) == "the inverse makes what is near the target converge first");
  CHECK(mentions(tssolve({matrix, "--dry-run"}).out, "block Lanczos, since few"));
  // The list of ways: Krylov and LAPACK for an end, the inverse in place of Krylov beside a target.
  const std::string ends = tssolve({matrix, "--dry-run", "--which", "SA"}).out;
  CHECK((mentions(ends, "ways, the cheapest first") && mentions(ends, "  block Lanczos  ")));
  const auto near = nlohmann::json::parse(tssolve({matrix, "--dry-run", "--sigma", "0.5", "--json"}).out);
  REQUIRE(near["ways"].size() >= 1);
  for (const auto& way : near["ways"]) CHECK(way["way"] != "block Lanczos");

  const auto other = write_sparse(folder / "ring.h5", generators::laplacian({1000}, generators::Boundary::ring));
  const auto found = solve_json({other, "-k", "6", "--which", "LA"});
  CHECK(mentions(found["method"].get<std::string>(), "shift-invert beyond the end"));
  CHECK(mentions(found["method_reason"].get<std::string>(), "a factorisation is cheap"));
}

TEST_CASE("a profile tells where the time went") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({14, 14, 14}));
  const auto json = solve_json({matrix, "-k", "5", "--which", "SA", "--method", "lanczos", "--profile"});
  const auto& profile = json["profile"];
  CHECK(profile["roofs"]["read_bytes_per_second"].get<double>() > 1e6);
  CHECK(profile["roofs"]["float64_flops"].get<double>() > 1e6);
  double noted = profile["other_seconds"].get<double>(), applied = 0;
  for (const auto& work : profile["work"]) {
    noted += work["seconds"].get<double>();
    if (work["work"] != "spmm") continue;
    applied = work["bytes"].get<double>();
    CHECK(work["roof_share"].get<double>() > 0);
  }
  // Products with the matrix: at least the blocks of all columns that it was applied to.
  CHECK(applied > 16.0 * 2744 * json["operator_applications"].get<double>());
  CHECK(std::abs(noted - json["elapsed_seconds"].get<double>()) < allowed::six_digits + allowed::two_digits * noted);
  const double near = profile["near_roof_share"].get<double>();
  CHECK(near >= 0);
  CHECK(near <= 1);
  CHECK_FALSE(solve_json({matrix, "-k", "5", "--which", "SA"}).contains("profile"));
  for (const Words& kind : {Words{}, {"--general", "--which", "LR"}, {"--svd"}})
    CHECK(mentions(tssolve(joined({matrix, "-k", "2", "--profile"}, kind)).out, "of their own roof or more"));
}

TEST_CASE("not converged is exit status 3 with a reason and the partial result") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(600));
  check_run({matrix, "-k", "5", "--which", "SA", "--method", "lanczos", "--max-iter", "20", "-o", folder / "part.h5"},
            3, {"--max-iter"});
  CHECK(list_in(folder / "part.h5:/eigenvalues").size() == 5);
}

TEST_CASE("less precision states what it gives, and refuses what it cannot") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "plate.h5", generators::laplacian({40, 60}));
  auto exact = generators::laplacian_spectrum({40, 60}).largest(5);
  std::reverse(exact.begin(), exact.end());
  const Words plain = {matrix, "-k", "5", "--which", "LA", "--method", "lanczos"};
  const auto mixed = proved(joined(plain, {"--precision", "mixed", "--tol", "1e-11"}));
  CHECK(mixed["precision"] == "mixed");
  CHECK(mixed["float32_applications"].get<int>() > 0);
  CHECK(mixed["operator_applications"].get<int>() > mixed["float32_applications"].get<int>());
  const auto single = proved(joined(plain, {"--precision", "float32"}));
  CHECK(single["tol"] == 1e-5);
  CHECK(mentions(single["reason"].get<std::string>(), "float32"));
  check_near(mixed["eigenvalues"], exact, allowed::tight_run);
  check_near(single["eigenvalues"], exact, allowed::run_of_norm_100);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(mixed["residual_norms"][i].get<double>() <= 8 * allowed::conditioned);
    CHECK(single["residual_norms"][i].get<double>() <= 8 * allowed::single);
  }
  CHECK(solve_json(plain)["float32_applications"] == 0);
  check_run(joined(plain, {"--precision", "float32", "--tol", "1e-8"}), 2, {"--tol 1e-08", "--precision mixed"});
  for (const Words& other :
       {Words{"--sigma", "1"}, {"--general"}, {"--svd"}, {"--threshold", "7"}, {"--checkpoint", folder / "state.h5"}})
    check_run(joined({matrix, "--which", "LA", "--precision", "mixed"}, other), 2, {other[0]});
}

TEST_CASE("targets") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "clement.h5", generators::clement(301));
  auto json = solve_json({matrix, "-k", "5", "--which", "SM"});  // singular: 0 is an eigenvalue
  const std::vector<double> nearest = {0, 2, 2, 4, 4};
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(std::abs(std::abs(json["eigenvalues"][i].get<double>()) - nearest[i]) < allowed::run_of_norm_100);
  json = solve_json({matrix, "-k", "2", "--which", "LA", "--sigma", "10.5"});
  check_near(json["eigenvalues"], {12, 14}, allowed::run_of_norm_100);
}

TEST_CASE("all eigenvalues of an interval or beyond a threshold") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "clement.h5", generators::clement(401));  // even numbers
  const auto json = solve_json({matrix, "--interval", "-5:4", "-o", folder / "some.h5"});
  REQUIRE(json["eigenvalues"].size() == 5);
  check_near(json["eigenvalues"], {-4, -2, 0, 2, 4}, allowed::run_of_norm_100);
  CHECK(json["verification"] == "inertia");
  CHECK(json["interval"] == "-5:4");
  CHECK(list_in(folder / "some.h5:/eigenvalues").size() == 5);
  CHECK(solve_json({matrix, "--interval", "0.5:1.5"})["eigenvalues"].empty());
  CHECK(solve_json({matrix, "--interval", "390:"})["eigenvalues"].size() == 6);
  for (const auto& [threshold, end] : {std::pair{"-395", "SA"}, {"395", "LA"}, {"3", "SM"}})
    CHECK(solve_json({matrix, "--threshold", threshold, "--which", end})["eigenvalues"].size() == 3);
  CHECK(proved({matrix, "--interval", ":-396", "--method", "lanczos"})["eigenvalues"].size() == 3);
  for (const Words& wrong :  // --threshold: of which end?
       {Words{"--interval", "2:1"}, {"--interval", "2"}, {"--threshold", "2"}, {"--interval", "1:2", "--sigma", "1"}})
    check_run(joined({matrix}, wrong), 2);
}

TEST_CASE("an end of the spectrum that converges slowly is sought through the inverse where that is cheap") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(1000));  // condition 1e11
  const auto json = proved({matrix, "-k", "5", "--which", "SA"});
  CHECK(mentions(json["method"].get<std::string>(), "shift-invert"));
  const auto exact = generators::sakurai_spectrum(1000).smallest(5);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(std::abs(json["eigenvalues"][i].get<double>() - exact[i]) < allowed::three_digits * exact[i]);
  CHECK(json["operator_applications"].get<int>() < 1000);
}

TEST_CASE("entries whose squares overflow or vanish") {
  const TemporaryFolder folder;
  for (const double unit : {1e-200, 1e200}) {
    auto a = generators::laplacian({600});
    for (double& x : a.values) x *= unit;
    const auto matrix = write_sparse(folder / "extreme.h5", a);
    const auto exact = generators::laplacian_spectrum({600}).largest(4);
    for (const std::string method : {"auto", "lanczos", "chebyshev", "dense"}) {
      CAPTURE(unit, method);
      const auto json = proved({matrix, "-k", "4", "--which", "LA", "--method", method});
      for (std::size_t i = 0; i < 4; ++i) {
        CHECK(std::abs(json["eigenvalues"][i].get<double>() / unit - exact[3 - i]) < allowed::run_of_norm_10);
        CHECK(json["residual_norms"][i].get<double>() <= 4 * allowed::default_run * unit);
      }
    }
    const auto mixed = solve_json({matrix, "-k", "4", "--which", "LA", "--method", "lanczos", "--precision", "mixed"});
    CHECK(mixed["float32_applications"].get<int>() > 0);
    CHECK(std::abs(mixed["eigenvalues"][3].get<double>() / unit - exact[0]) < allowed::run_of_norm_10);
    const auto near = solve_json({matrix, "-k", "2", "--sigma", value_of(unit)});
    CHECK(std::abs(near["eigenvalues"][0].get<double>() / unit - 1) < allowed::two_digits);
  }
}
