#include "tallskinny/tests/app/tssolve/runs.hpp"

TEST_CASE("pencils") {
  const TemporaryFolder folder;
  const auto pencil = generators::mikota(300);  // j^2
  const auto k = write_sparse(folder / "k.h5", pencil.stiffness), m = write_sparse(folder / "m.h5", pencil.mass);
  const auto json = proved({k, "--mass", m, "-k", "4", "--sigma", "0", "--conv", "rel", "-o", folder / "modes.h5"});
  check_near(json["eigenvalues"], {1, 4, 9, 16}, allowed::run_of_norm_100);
  check_near(json["backward_errors"], {0, 0, 0, 0}, allowed::many_steps);
  CHECK(list_in(folder / "modes.h5:/backward_errors").size() == 4);
  CHECK(proved({k, "--mass", m, "--interval", "15:50", "--conv", "rel"})["eigenvalues"].size() == 4);
  (void)proved({k, "--mass", m, "-k", "3", "--which", "LA"});
  check_run({k, "--mass", write_sparse(folder / "c.h5", generators::clement(300))}, 4, {"positive definite"});
  CHECK(tssolve({k, "--mass", write_sparse(folder / "s.h5", generators::identity(299))}).code == 4);
}

TEST_CASE("a mass matrix with rows of zeros") {
  const TemporaryFolder folder;
  const index_t m = 350;
  auto mass = generators::identity(2 * m + 1);
  for (index_t i = 0; i <= 2 * m; i += 2) mass.values[static_cast<std::size_t>(i)] = 0;
  const auto k = write_sparse(folder / "k.h5", generators::laplacian({2 * m + 1}));
  const auto zeros = write_sparse(folder / "m.h5", mass);
  auto halves = generators::laplacian_spectrum({m}).smallest(4);
  for (double& x : halves) x /= 2;
  const auto end = value_of(1.001 * halves[3]);
  for (const Words& how :
       {Words{"--sigma", "0"}, {"--which", "SM"}, {"--interval", "0:" + end}, {"--threshold", end, "--which", "SA"}}) {
    CAPTURE(how);
    const auto json = proved(joined({k, "--mass", zeros, "-k", "4", "-o", folder / "modes.h5"}, how));
    CHECK(json["infinite_eigenvalues"] == m + 1);
    REQUIRE(json["eigenvalues"].size() == 4);
    check_near(json["eigenvalues"], halves, allowed::tight_run);
    check_near(json["backward_errors"], {0, 0, 0, 0}, allowed::many_steps);
  }
  check_run({k, "--mass", zeros, "--which", "SA"}, 4, {"give a target (sigma)"});
}

TEST_CASE("LOBPCG and Davidson with every kind of preconditioner") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 20}));
  auto unit = generators::identity(400);
  for (double& x : unit.values) x = 0.25;
  const auto quarter = write_sparse(folder / "quarter.h5", unit);
  const auto exact = generators::laplacian_spectrum({20, 20}).smallest(4);
  for (const std::string method : {"lobpcg", "davidson"})
    for (const std::string& kind : Words{"auto", "none", "jacobi", "ichol", "chebyshev", quarter}) {
      CAPTURE(method, kind);
      const auto json = proved({matrix, "--method", method, "--which", "SA", "-k", "4", "--preconditioner", kind});
      CHECK(json["method"].get<std::string>().find(method == "lobpcg" ? "LOBPCG" : "block Davidson") == 0);
      check_near(json["eigenvalues"], exact, allowed::run_of_norm_10);
    }
  CHECK(tssolve({matrix, "--method", "lobpcg"}).code == 2);  // of which end?
  CHECK(tssolve({matrix, "--preconditioner", "jacobi"}).code == 2);
}

TEST_CASE("matrices that are not Hermitian") {
  const TemporaryFolder folder;
  const std::vector<double> c = {0.5, 1, 0, -0.3};
  const auto matrix = write_sparse(folder / "c.h5", generators::circulant(120, c));
  auto exact = generators::circulant_spectrum(120, c);
  std::sort(exact.begin(), exact.end(), [](auto a, auto b) { return a.real() > b.real(); });
  const auto json = proved({matrix, "--general", "-k", "4", "--which", "LR", "-o", folder / "pairs.h5"});
  check_near(json["eigenvalues_real"], {exact[0].real(), exact[1].real(), exact[2].real(), exact[3].real()},
             allowed::run_of_norm_10);
  CHECK(dense_in<std::complex<double>>(folder / "pairs.h5:/eigenvectors").rows() == 120);
  CHECK(mentions(tssolve({matrix}).err, "--general"));
  CHECK(tssolve({matrix, "--general", "--which", "BE"}).code == 2);
  CHECK(tssolve({matrix, "--which", "LI"}).code == 2);
  CHECK(tssolve({matrix, "--general"}).code == 0);

  const std::complex<double> target(0.4, 0.9);
  const auto distance = [target](std::complex<double> z) {
    return std::min(std::abs(z - target), std::abs(z - std::conj(target)));
  };
  std::sort(exact.begin(), exact.end(), [&](auto a, auto b) { return distance(a) < distance(b); });
  const auto near = proved({matrix, "--general", "-k", "4", "--sigma", "0.4+0.9i"});
  REQUIRE(near["eigenvalues_real"].size() == 4);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::abs(distance({near["eigenvalues_real"][i].get<double>(), near["eigenvalues_imag"][i].get<double>()}) -
                   distance(exact[i])) < allowed::run_of_norm_10);
  check_same(solve_json({matrix, "--general", "-k", "4", "--sigma", "0.4+0.9j"}), near,
             {"eigenvalues_real", "eigenvalues_imag"});
  CHECK(solve_json({matrix, "--general", "-k", "2", "--which", "SM"})["sigma_real"] == 0.0);
  CHECK(tssolve({matrix, "--general", "--sigma", "1", "--which", "LR"}).code == 2);
  CHECK(tssolve({matrix, "--general", "--sigma", "1+i2"}).code == 2);
  CHECK(tssolve({matrix, "--sigma", "1+2i"}).code == 2);
}

TEST_CASE("what converged may be taken without proof, and is told to be") {
  const TemporaryFolder folder;
  auto far = generators::laplacian({1700});  // tridiagonal (-2, 2, -0.5): far from normal
  change_entries(far, [](index_t i, index_t j, double& x) { x = i == j ? x : j < i ? -1.05 : -0.95; });
  const auto matrix = write_sparse(folder / "far.h5", far);
  const Words words = {matrix, "--general", "-k", "2", "--sigma", "0.5"};
  auto json = solve_json(words, 3);
  CHECK(json["converged"] == true);
  CHECK(json["verified"] == false);
  CHECK(json["accepted_unproven"] == false);
  const auto taken = joined(words, {"--accept-unproven", "-o", folder / "pairs.h5"});
  json = solve_json(taken);
  CHECK(json["verified"] == false);
  CHECK(json["accepted_unproven"] == true);
  CHECK(mentions(json["reason"].get<std::string>(), "not shown to be complete (--accept-unproven)"));
  for (std::size_t i = 0; i < json["eigenvalues_real"].size(); ++i) {
    CHECK(json["backward_errors"][i].get<double>() < allowed::default_run);
    CHECK(json["conditions"][i].get<double>() >= 1);
  }
  CHECK(list_in(folder / "pairs.h5:/backward_errors").size() == json["eigenvalues_real"].size());
  CHECK(tssolve(joined(taken, {"--max-iter", "1"})).code == 3);  // what did not converge is not taken
}

TEST_CASE("a general run leaves a checkpoint, and goes on from it to the same bits") {
  const TemporaryFolder folder;
  auto a = generators::laplacian({20, 17});
  // No diagonal scaling makes it Hermitian.
  change_entries(
      a, [](index_t i, index_t j, double& x) { x *= j > i ? 1 + 0.01 * static_cast<double>((3 * i + j) % 5) : 1; });
  const auto matrix = write_sparse(folder / "lap.h5", a);
  for (const Words& how : {Words{"--which", "LR", "--tol", "1e-6"}, {"--sigma", "3.1+0.4i"}}) {
    const auto plain = joined({matrix, "--general", "-k", "4", "--max-basis", "120"}, how);
    const auto whole = solve_json(plain);
    const auto kept = joined(plain, {"--checkpoint", folder / "state.h5"});
    CHECK(tssolve(joined(kept, {"--max-iter", "3"})).code == 3);
    CHECK(std::filesystem::exists(folder / "state.h5"));
    const auto resumed = solve_json(kept);
    check_same(resumed, whole, {"eigenvalues_real", "eigenvalues_imag", "residual_norms", "iterations"});
    CHECK_FALSE(std::filesystem::exists(folder / "state.h5"));
  }
}

TEST_CASE("principal components of a table that does not fit into memory are those of the table") {
  const TemporaryFolder folder;
  const auto points = matrix_of<double>(40000, 24, [](index_t i, index_t j) {
    return static_cast<double>((i * (j + 3) * 7919) % 1009) / (1 + static_cast<double>(j * j)) + 5;
  });
  const Words words = {write_h5(folder / "points.h5", "X", points), "--svd", "--centre", "-k", "3"};
  auto limited = joined(words, {"--memory", "12M"});
  const auto whole = solve_json(words), streamed = proved(limited);
  CHECK(mentions(tssolve(limited).err, "pass by in blocks"));
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(std::abs(streamed["singular_values"][k].get<double>() / whole["singular_values"][k].get<double>() - 1) <
          allowed::default_run);
  limited.back() = "5M";  // the singular vectors alone are larger
  CHECK(mentions(tssolve(limited).err, "of memory, but only 5.00 MiB are available"));
}

TEST_CASE("singular values and principal components") {
  const TemporaryFolder folder;
  const auto sparse = write_sparse(folder / "lauchli.h5", generators::lauchli(300, 0.5));
  auto json = proved({sparse, "--svd", "-k", "3", "-o", folder / "svd.h5"});
  CHECK(std::abs(json["singular_values"][0].get<double>() - std::sqrt(300.25)) < allowed::tight_run);
  CHECK(std::abs(json["singular_values"][2].get<double>() - 0.5) < allowed::default_run);
  CHECK(dense_in(folder / "svd.h5:/left_singular_vectors").rows() == 301);
  CHECK(dense_in(folder / "svd.h5:/right_singular_vectors").rows() == 300);

  // Points on a line through (7, -3): one component explains everything.
  const auto points = matrix_of<double>(500, 2, [](index_t i, index_t j) {
    const double t = static_cast<double>(i) / 499 - 0.5;
    return j == 0 ? 7 + 3 * t : -3 + 4 * t;
  });
  json = proved({write_h5(folder / "points.h5", "X", points), "--svd", "--centre", "-k", "2", "-o", folder / "pca.h5"});
  CHECK(std::abs(json["singular_values"][1].get<double>()) < allowed::many_steps);
  CHECK(list_in(folder / "pca.h5:/explained_variance_ratio")[0] == Approx(1));
  CHECK(dense_in(folder / "pca.h5:/column_means").data()[0] == Approx(7));
  CHECK(std::abs(dense_in(folder / "pca.h5:/right_singular_vectors")(0, 0)) == Approx(0.6));
  json = proved({sparse, "--svd", "--which", "SM", "-k", "2"});
  check_near(json["singular_values"], {0.5, 0.5}, allowed::default_run);
  CHECK(tssolve({sparse, "--svd", "--which", "BE"}).code == 2);
  CHECK(tssolve({sparse, "--svd", "--sigma", "1"}).code == 2);
  CHECK(tssolve({sparse, "--centre"}).code == 2);
  CHECK(tssolve({sparse}).code == 4);  // not square
}

TEST_CASE("few on a side of the target are all of them, and the report says so") {
  const TemporaryFolder folder;
  auto a = csr_by_rows<double>(300, 300, [&](index_t i, auto add) { add(i, i + 1); });
  const auto matrix = write_sparse(folder / "d.h5", a);
  const auto json = proved({matrix, "--sigma", "2.5", "--which", "SA", "-k", "4"});
  REQUIRE(json["eigenvalues"].size() == 2);
  check_near(json["eigenvalues"], {2, 1}, allowed::fine_run);
  CHECK(mentions(json["reason"].get<std::string>(), "4 were asked for, and only 2 lie below the target"));
  CHECK(proved({matrix, "--interval", "0:1e300"})["eigenvalues"].size() == 300);
}

TEST_CASE("the whole spectrum of a general matrix, asked for or taken over to") {
  const TemporaryFolder folder;
  // A permutation: cycles of 7, 100 times.
  auto a = csr_by_rows<double>(700, 700, [&](index_t i, auto add) { add(i / 7 * 7 + (i + 1) % 7, 1); });
  const auto matrix = write_sparse(folder / "p.h5", a);
  for (const Words& how : {Words{}, {"--method", "dense"}}) {
    const auto json = proved(joined({matrix, "--general", "-k", "5", "--which", "LR"}, how));
    REQUIRE(json["eigenvalues_real"].size() == 5);
    check_near(json["eigenvalues_real"], {1, 1, 1, 1, 1}, allowed::fine_run);
    if (!how.empty()) CHECK(json["method"].get<std::string>().find("dense") == 0);
  }
  CHECK(mentions(tssolve({matrix, "--general", "--method", "lanczos"}).err, "--method dense"));
}
