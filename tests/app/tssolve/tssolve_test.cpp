#include "tallskinny/tests/app/tssolve/runs.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("eigenpairs of a file as JSON and as a file") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "ring.h5", generators::laplacian({400}, generators::Boundary::ring));
  auto exact = generators::laplacian_spectrum({400}, generators::Boundary::ring).largest(7);
  std::reverse(exact.begin(), exact.end());
  const auto json = solve_json({matrix, "-k", "7", "--which", "LA", "-o", folder / "pairs.h5"});
  CHECK(json["converged"] == true);
  CHECK(json["verified"] == true);
  CHECK(json["iterations"].get<int>() > 0);
  CHECK(json["operator_applications"].get<int>() > 0);
  CHECK(json["elapsed_seconds"].get<double>() > 0);
  REQUIRE(json["eigenvalues"].size() == 7);
  REQUIRE(json["residual_norms"].size() == 7);
  CHECK(json["conv"] == "rel");
  REQUIRE(json["vector_errors"].size() == 7);
  CHECK(json["vector_errors"][0].get<double>() < allowed::three_digits);
  CHECK(mentions(tssolve({matrix, "-k", "7", "--which", "LA"}).out, "angle <"));
  CHECK(io::read_vector(io::parse_location(folder / "pairs.h5:/vector_errors")).size() == 7);
  check_near(json["eigenvalues"], exact, allowed::run_of_norm_10);
  for (const auto& residual : json["residual_norms"]) CHECK(residual.get<double>() <= allowed::default_run * 4);
  const auto values = io::read_vector(io::parse_location(folder / "pairs.h5:/eigenvalues"));
  const auto vectors = io::read_dense_as<double>(io::parse_location(folder / "pairs.h5:/eigenvectors"));
  REQUIRE(values.size() == 7);
  CHECK(values[0] == json["eigenvalues"][0].get<double>());
  CHECK(vectors.rows() == 400);
  CHECK(vectors.cols() == 7);
  CHECK(io::read_vector(io::parse_location(folder / "pairs.h5:/residual_norms")).size() == 7);
  const auto history =
      io::read_dense_as<double>(io::parse_location(folder / "pairs.h5:/history/residual_over_tolerance"));
  CHECK(history.cols() == 7);
  REQUIRE(history.rows() > 0);
  for (index_t j = 0; j < 7; ++j) CHECK(history(history.rows() - 1, j) <= 1);

  SECTION("and a warm start from them needs fewer applications") {
    const std::vector<std::string> plain = {matrix, "-k", "7", "--which", "LA", "--method", "lanczos"};
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
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "small.h5", generators::identity(3));
  const auto r = tssolve({matrix, "-k", "9", "--which", "SA"});
  CHECK(r.code == 0);
  CHECK(mentions(r.out, "multiplicity"));
  CHECK(mentions(r.err, "9 eigenvalues were asked for"));
  CHECK(solve_json({matrix, "-k", "9"})["eigenvalues"].size() == 3);

  const auto plan = tssolve({matrix, "--dry-run"});
  CHECK(plan.code == 0);
  CHECK(mentions(plan.out, "memory"));
}

TEST_CASE("a dry run shows where the memory goes, and --memory limits it") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const auto plan = nlohmann::json::parse(tssolve({matrix, "--dry-run", "--json"}).out);
  const auto& memory = plan["memory"];
  CHECK(memory["basis"].get<double>() >= 8000.0 * 8 * plan["max_basis"].get<double>());
  CHECK(plan["memory_bytes"] ==
        memory["basis"].get<long>() + memory["blocks"].get<long>() + memory["matrix"].get<long>());
  const auto limited = nlohmann::json::parse(tssolve({matrix, "--dry-run", "--json", "--memory", "2M"}).out);
  CHECK(limited["available_memory_bytes"] == 2 << 20);
  const auto r = tssolve({matrix, "--memory", "2M"});
  CHECK(r.code != 0);
  CHECK(mentions(r.err, "2.00 MiB"));
  CHECK(tssolve({matrix, "--memory", "much"}).code == 2);
}

TEST_CASE("a run says why it takes the method that it takes") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const auto plan = [&](const std::vector<std::string>& more) {
    return nlohmann::json::parse(tssolve(joined({matrix, "--dry-run", "--json"}, more)).out);
  };
  CHECK(plan({})["method_reason"] == "few of many eigenvalues are wanted");
  CHECK(plan({"-k", "4000"})["method_reason"] == "more than a third of all eigenvalues are wanted");
  CHECK(plan({"--method", "lanczos"})["method_reason"] == "");
  CHECK(plan({"--sigma", "1"})["method_reason"] == "the inverse makes what is near the target converge first");
  CHECK(mentions(tssolve({matrix, "--dry-run"}).out, "block Lanczos, since few"));

  const auto other = write_sparse(folder / "ring.h5", generators::laplacian({1000}, generators::Boundary::ring));
  const auto found = solve_json({other, "-k", "6", "--which", "LA"});
  CHECK(mentions(found["method"].get<std::string>(), "shift-invert beyond the end"));
  CHECK(mentions(found["method_reason"].get<std::string>(), "a factorisation is cheap"));
}

TEST_CASE("a profile tells where the time went") {
  const test::TemporaryFolder folder;
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
  for (const std::vector<std::string>& kind : {std::vector<std::string>{}, {"--general", "--which", "LR"}, {"--svd"}}) {
    CHECK(mentions(tssolve(joined({matrix, "-k", "2", "--profile"}, kind)).out, "of their own roof or more"));
  }
}

TEST_CASE("not converged is exit status 3 with a reason and the partial result") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(600));
  const auto r = tssolve(
      {matrix, "-k", "5", "--which", "SA", "--method", "lanczos", "--max-iter", "20", "-o", folder / "part.h5"});
  CHECK(r.code == 3);
  CHECK(mentions(r.err, "--max-iter"));
  CHECK(io::read_vector(io::parse_location(folder / "part.h5:/eigenvalues")).size() == 5);
}

TEST_CASE("less precision states what it gives, and refuses what it cannot") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "plate.h5", generators::laplacian({40, 60}));
  auto exact = generators::laplacian_spectrum({40, 60}).largest(5);
  std::reverse(exact.begin(), exact.end());
  const std::vector<std::string> plain = {matrix, "-k", "5", "--which", "LA", "--method", "lanczos"};
  const auto mixed = solve_json(joined(plain, {"--precision", "mixed", "--tol", "1e-11"}));
  CHECK(mixed["verified"] == true);
  CHECK(mixed["precision"] == "mixed");
  CHECK(mixed["float32_applications"].get<int>() > 0);
  CHECK(mixed["operator_applications"].get<int>() > mixed["float32_applications"].get<int>());
  const auto single = solve_json(joined(plain, {"--precision", "float32"}));
  CHECK(single["verified"] == true);
  CHECK(single["tol"] == 1e-5);
  CHECK(mentions(single["reason"].get<std::string>(), "float32"));
  check_near(mixed["eigenvalues"], exact, allowed::tight_run);
  check_near(single["eigenvalues"], exact, allowed::run_of_norm_100);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(mixed["residual_norms"][i].get<double>() <= 8 * allowed::conditioned);
    CHECK(single["residual_norms"][i].get<double>() <= 8 * allowed::single);
  }
  CHECK(solve_json(plain)["float32_applications"] == 0);
  const auto refused = tssolve(joined(plain, {"--precision", "float32", "--tol", "1e-8"}));
  CHECK(refused.code == 2);
  CHECK(mentions(refused.err, "--tol 1e-08"));
  CHECK(mentions(refused.err, "--precision mixed"));
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--sigma", "1"},
                                                {"--general"},
                                                {"--svd"},
                                                {"--threshold", "7"},
                                                {"--checkpoint", folder / "state.h5"}}) {
    CAPTURE(other[0]);
    const auto r = tssolve(joined({matrix, "--which", "LA", "--precision", "mixed"}, other));
    CHECK(r.code == 2);
    CHECK(mentions(r.err, other[0]));
  }
}

TEST_CASE("targets") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "clement.h5", generators::clement(301));
  auto json = solve_json({matrix, "-k", "5", "--which", "SM"});  // singular: 0 is an eigenvalue
  const std::vector<double> nearest = {0, 2, 2, 4, 4};
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(std::abs(std::abs(json["eigenvalues"][i].get<double>()) - nearest[i]) < allowed::run_of_norm_100);
  json = solve_json({matrix, "-k", "2", "--which", "LA", "--sigma", "10.5"});
  check_near(json["eigenvalues"], {12, 14}, allowed::run_of_norm_100);
}

TEST_CASE("all eigenvalues of an interval or beyond a threshold") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "clement.h5", generators::clement(401));  // even numbers
  auto json = solve_json({matrix, "--interval", "-5:4", "-o", folder / "some.h5"});
  REQUIRE(json["eigenvalues"].size() == 5);
  check_near(json["eigenvalues"], {-4, -2, 0, 2, 4}, allowed::run_of_norm_100);
  CHECK(json["verification"] == "inertia");
  CHECK(json["interval"] == "-5:4");
  CHECK(io::read_vector(io::parse_location(folder / "some.h5:/eigenvalues")).size() == 5);
  CHECK(solve_json({matrix, "--interval", "0.5:1.5"})["eigenvalues"].empty());
  CHECK(solve_json({matrix, "--interval", "390:"})["eigenvalues"].size() == 6);
  CHECK(solve_json({matrix, "--threshold", "-395", "--which", "SA"})["eigenvalues"].size() == 3);
  CHECK(solve_json({matrix, "--threshold", "395", "--which", "LA"})["eigenvalues"].size() == 3);
  CHECK(solve_json({matrix, "--threshold", "3", "--which", "SM"})["eigenvalues"].size() == 3);
  json = solve_json({matrix, "--interval", ":-396", "--method", "lanczos"});
  CHECK(json["eigenvalues"].size() == 3);
  CHECK(json["verified"] == true);
  CHECK(tssolve({matrix, "--interval", "2:1"}).code == 2);
  CHECK(tssolve({matrix, "--interval", "2"}).code == 2);
  CHECK(tssolve({matrix, "--threshold", "2"}).code == 2);  // of which end?
  CHECK(tssolve({matrix, "--interval", "1:2", "--sigma", "1"}).code == 2);
}

TEST_CASE("an end of the spectrum that converges slowly is sought through the inverse where that is cheap") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(1000));  // condition 1e11
  const auto json = solve_json({matrix, "-k", "5", "--which", "SA"});
  CHECK(json["verified"] == true);
  CHECK(mentions(json["method"].get<std::string>(), "shift-invert"));
  const auto exact = generators::sakurai_spectrum(1000).smallest(5);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(std::abs(json["eigenvalues"][i].get<double>() - exact[i]) < allowed::three_digits * exact[i]);
  CHECK(json["operator_applications"].get<int>() < 1000);
}

TEST_CASE("entries whose squares overflow or vanish") {
  const test::TemporaryFolder folder;
  for (const double unit : {1e-200, 1e200}) {
    auto a = generators::laplacian({600});
    for (double& x : a.values) x *= unit;
    const auto matrix = write_sparse(folder / "extreme.h5", a);
    const auto exact = generators::laplacian_spectrum({600}).largest(4);
    for (const std::string method : {"auto", "lanczos", "chebyshev", "dense"}) {
      CAPTURE(unit, method);
      const auto json = solve_json({matrix, "-k", "4", "--which", "LA", "--method", method});
      CHECK(json["verified"] == true);
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
