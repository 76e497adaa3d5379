#include <algorithm>
#include <chrono>
#include <complex>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/support/markup.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

test::ProcessResult tssolve(const std::vector<std::string>& arguments) {
  return test::run_process(TS_TSSOLVE, arguments);
}

std::string write_sparse(const std::string& file, const CsrMatrix<double>& a) {
  io::OutputFile out(file);
  out.write_binsparse("/", a);
  out.commit();
  return file;
}

nlohmann::json solve_json(std::vector<std::string> arguments, int code = 0) {
  arguments.insert(arguments.end(), {"--json", "--quiet"});
  const auto r = tssolve(arguments);
  INFO(r.err);
  REQUIRE(r.code == code);
  return nlohmann::json::parse(r.out);
}

std::string value_of(double x) {
  std::ostringstream text;
  text << x;
  return text.str();
}

void write_text(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("eigenpairs of a file as JSON and as a file") {
  const test::TemporaryFolder folder;
  const auto matrix =
      write_sparse(folder / "ring.h5", generators::laplacian({400}, generators::Boundary::ring));
  const auto exact = generators::laplacian_spectrum({400}, generators::Boundary::ring).largest(7);
  const auto json = solve_json({matrix, "-k", "7", "--which", "LA", "-o", folder / "pairs.h5"});
  CHECK(json["converged"] == true);
  CHECK(json["verified"] == true);
  CHECK(json["iterations"].get<int>() > 0);
  CHECK(json["operator_applications"].get<int>() > 0);
  CHECK(json["elapsed_seconds"].get<double>() > 0);
  REQUIRE(json["eigenvalues"].size() == 7);
  REQUIRE(json["residual_norms"].size() == 7);
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(std::abs(json["eigenvalues"][i].get<double>() - exact[6 - i]) < 1e-7);
    CHECK(json["residual_norms"][i].get<double>() <= 1e-8 * 4);
  }
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
    auto from_pairs = plain;
    from_pairs.insert(from_pairs.end(), {"--initial", folder / "pairs.h5:/eigenvectors"});
    CHECK(solve_json(from_pairs)["operator_applications"].get<int>() <
          solve_json(plain)["operator_applications"].get<int>());
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
  CHECK(r.out.find("multiplicity") != std::string::npos);
  CHECK(r.err.find("9 eigenvalues were asked for") != std::string::npos);
  CHECK(solve_json({matrix, "-k", "9"})["eigenvalues"].size() == 3);

  const auto plan = tssolve({matrix, "--dry-run"});
  CHECK(plan.code == 0);
  CHECK(plan.out.find("memory") != std::string::npos);
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
  CHECK(r.err.find("2.00 MiB") != std::string::npos);
  CHECK(tssolve({matrix, "--memory", "much"}).code == 2);
}

TEST_CASE("a run says why it takes the method that it takes") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const auto plan = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{matrix, "--dry-run", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return nlohmann::json::parse(tssolve(arguments).out);
  };
  CHECK(plan({})["method_reason"] == "few of many eigenvalues are wanted");
  CHECK(plan({"-k", "4000"})["method_reason"] == "more than a third of all eigenvalues are wanted");
  CHECK(plan({"--method", "lanczos"})["method_reason"] == "");
  CHECK(plan({"--sigma", "1"})["method_reason"] ==
        "the inverse makes what is near the target converge first");
  CHECK(tssolve({matrix, "--dry-run"}).out.find("block Lanczos, since few") != std::string::npos);

  const auto other =
      write_sparse(folder / "ring.h5", generators::laplacian({1000}, generators::Boundary::ring));
  const auto found = solve_json({other, "-k", "6", "--which", "LA"});
  CHECK(found["method"].get<std::string>().find("shift-invert beyond the end") != std::string::npos);
  CHECK(found["method_reason"].get<std::string>().find("a factorisation is cheap") != std::string::npos);
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
  CHECK(std::abs(noted - json["elapsed_seconds"].get<double>()) < 1e-6 + 0.01 * noted);
  const double near = profile["near_roof_share"].get<double>();
  CHECK(near >= 0);
  CHECK(near <= 1);
  CHECK_FALSE(solve_json({matrix, "-k", "5", "--which", "SA"}).contains("profile"));
  for (const std::vector<std::string>& kind :
       {std::vector<std::string>{}, {"--general", "--which", "LR"}, {"--svd"}}) {
    std::vector<std::string> call = {matrix, "-k", "2", "--profile"};
    call.insert(call.end(), kind.begin(), kind.end());
    CHECK(tssolve(call).out.find("of their own roof or more") != std::string::npos);
  }
}

TEST_CASE("not converged is exit status 3 with a reason and the partial result") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(600));
  const auto r = tssolve({matrix, "-k", "5", "--which", "SA", "--method", "lanczos", "--max-iter", "20", "-o",
                          folder / "part.h5"});
  CHECK(r.code == 3);
  CHECK(r.err.find("--max-iter") != std::string::npos);
  CHECK(io::read_vector(io::parse_location(folder / "part.h5:/eigenvalues")).size() == 5);
}

TEST_CASE("less precision states what it gives, and refuses what it cannot") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "plate.h5", generators::laplacian({40, 60}));
  const auto exact = generators::laplacian_spectrum({40, 60}).largest(5);
  const std::vector<std::string> plain = {matrix, "-k", "5", "--which", "LA", "--method", "lanczos"};
  const auto with = [&plain](std::vector<std::string> more) {
    more.insert(more.begin(), plain.begin(), plain.end());
    return more;
  };
  const auto mixed = solve_json(with({"--precision", "mixed", "--tol", "1e-11"}));
  CHECK(mixed["verified"] == true);
  CHECK(mixed["precision"] == "mixed");
  CHECK(mixed["float32_applications"].get<int>() > 0);
  CHECK(mixed["operator_applications"].get<int>() > mixed["float32_applications"].get<int>());
  const auto single = solve_json(with({"--precision", "float32"}));
  CHECK(single["verified"] == true);
  CHECK(single["tol"] == 1e-5);
  CHECK(single["reason"].get<std::string>().find("float32") != std::string::npos);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(std::abs(mixed["eigenvalues"][i].get<double>() - exact[4 - i]) < 1e-10);
    CHECK(std::abs(single["eigenvalues"][i].get<double>() - exact[4 - i]) < 1e-6);
    CHECK(mixed["residual_norms"][i].get<double>() <= 8e-11);
    CHECK(single["residual_norms"][i].get<double>() <= 8e-5);
  }
  CHECK(solve_json(plain)["float32_applications"] == 0);
  const auto refused = tssolve(with({"--precision", "float32", "--tol", "1e-8"}));
  CHECK(refused.code == 2);
  CHECK(refused.err.find("--tol 1e-08") != std::string::npos);
  CHECK(refused.err.find("--precision mixed") != std::string::npos);
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--sigma", "1"},
                                                {"--general"},
                                                {"--svd"},
                                                {"--threshold", "7"},
                                                {"--checkpoint", folder / "state.h5"}}) {
    std::vector<std::string> arguments = {matrix, "--which", "LA", "--precision", "mixed"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    CAPTURE(other[0]);
    const auto r = tssolve(arguments);
    CHECK(r.code == 2);
    CHECK(r.err.find(other[0]) != std::string::npos);
  }
}

TEST_CASE("targets") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "clement.h5", generators::clement(301));
  auto json = solve_json({matrix, "-k", "5", "--which", "SM"});  // singular: 0 is an eigenvalue
  const std::vector<double> nearest = {0, 2, 2, 4, 4};
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(std::abs(std::abs(json["eigenvalues"][i].get<double>()) - nearest[i]) < 1e-6);
  json = solve_json({matrix, "-k", "2", "--which", "LA", "--sigma", "10.5"});
  CHECK(std::abs(json["eigenvalues"][0].get<double>() - 12) < 1e-6);
  CHECK(std::abs(json["eigenvalues"][1].get<double>() - 14) < 1e-6);
}

TEST_CASE("all eigenvalues of an interval or beyond a threshold") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "clement.h5", generators::clement(401));  // even numbers
  auto json = solve_json({matrix, "--interval", "-5:4", "-o", folder / "some.h5"});
  const std::vector<double> inside = {-4, -2, 0, 2, 4};
  REQUIRE(json["eigenvalues"].size() == 5);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(std::abs(json["eigenvalues"][i].get<double>() - inside[i]) < 1e-6);
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

TEST_CASE("pencils") {
  const test::TemporaryFolder folder;
  const auto pencil = generators::mikota(300);  // j^2
  const auto k = write_sparse(folder / "k.h5", pencil.stiffness),
             m = write_sparse(folder / "m.h5", pencil.mass);
  auto json =
      solve_json({k, "--mass", m, "-k", "4", "--sigma", "0", "--conv", "rel", "-o", folder / "modes.h5"});
  CHECK(json["verified"] == true);
  for (std::size_t i = 0; i < 4; ++i) {
    const double j = static_cast<double>(i) + 1;
    CHECK(std::abs(json["eigenvalues"][i].get<double>() - j * j) < 1e-6);
    CHECK(json["backward_errors"][i].get<double>() < 1e-12);
  }
  CHECK(io::read_vector(io::parse_location(folder / "modes.h5:/backward_errors")).size() == 4);
  json = solve_json({k, "--mass", m, "--interval", "15:50", "--conv", "rel"});
  CHECK(json["eigenvalues"].size() == 4);
  CHECK(json["verified"] == true);
  CHECK(solve_json({k, "--mass", m, "-k", "3", "--which", "LA"})["verified"] == true);
  const auto none = tssolve({k, "--mass", write_sparse(folder / "c.h5", generators::clement(300))});
  CHECK(none.code == 4);
  CHECK(none.err.find("positive definite") != std::string::npos);
  CHECK(tssolve({k, "--mass", write_sparse(folder / "s.h5", generators::identity(299))}).code == 4);
}

TEST_CASE("LOBPCG and Davidson with every kind of preconditioner") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 20}));
  auto unit = generators::identity(400);
  for (double& x : unit.values) x = 0.25;
  const auto quarter = write_sparse(folder / "quarter.h5", unit);
  const auto exact = generators::laplacian_spectrum({20, 20}).smallest(4);
  for (const std::string method : {"lobpcg", "davidson"})
    for (const std::string& kind :
         std::vector<std::string>{"auto", "none", "jacobi", "ichol", "chebyshev", quarter}) {
      CAPTURE(method, kind);
      const auto json =
          solve_json({matrix, "--method", method, "--which", "SA", "-k", "4", "--preconditioner", kind});
      CHECK(json["verified"] == true);
      CHECK(json["method"].get<std::string>().find(method == "lobpcg" ? "LOBPCG" : "block Davidson") == 0);
      for (std::size_t i = 0; i < 4; ++i)
        CHECK(std::abs(json["eigenvalues"][i].get<double>() - exact[i]) < 1e-7);
    }
  CHECK(tssolve({matrix, "--method", "lobpcg"}).code == 2);  // of which end?
  CHECK(tssolve({matrix, "--preconditioner", "jacobi"}).code == 2);
}

TEST_CASE("matrices that are not Hermitian") {
  const test::TemporaryFolder folder;
  const std::vector<double> c = {0.5, 1, 0, -0.3};
  const auto matrix = write_sparse(folder / "c.h5", generators::circulant(120, c));
  auto exact = generators::circulant_spectrum(120, c);
  std::sort(exact.begin(), exact.end(), [](auto a, auto b) { return a.real() > b.real(); });
  const auto json = solve_json({matrix, "--general", "-k", "4", "--which", "LR", "-o", folder / "pairs.h5"});
  CHECK(json["verified"] == true);
  REQUIRE(json["eigenvalues_real"].size() >= 4);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::abs(json["eigenvalues_real"][i].get<double>() - exact[i].real()) < 1e-7);
  const auto pairs =
      io::read_dense_as<std::complex<double>>(io::parse_location(folder / "pairs.h5:/eigenvectors"));
  CHECK(pairs.rows() == 120);
  CHECK(tssolve({matrix}).err.find("--general") != std::string::npos);
  CHECK(tssolve({matrix, "--general", "--which", "BE"}).code == 2);
  CHECK(tssolve({matrix, "--which", "LI"}).code == 2);
  CHECK(tssolve({matrix, "--general"}).code == 0);

  const std::complex<double> target(0.4, 0.9);
  const auto distance = [target](std::complex<double> z) {
    return std::min(std::abs(z - target), std::abs(z - std::conj(target)));
  };
  std::sort(exact.begin(), exact.end(), [&](auto a, auto b) { return distance(a) < distance(b); });
  const auto near = solve_json({matrix, "--general", "-k", "4", "--sigma", "0.4+0.9i"});
  CHECK(near["verified"] == true);
  REQUIRE(near["eigenvalues_real"].size() == 4);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::abs(distance({near["eigenvalues_real"][i].get<double>(),
                             near["eigenvalues_imag"][i].get<double>()}) -
                   distance(exact[i])) < 1e-7);
  CHECK(solve_json({matrix, "--general", "-k", "2", "--which", "SM"})["sigma_real"] == 0.0);
  CHECK(tssolve({matrix, "--general", "--sigma", "1", "--which", "LR"}).code == 2);
  CHECK(tssolve({matrix, "--general", "--sigma", "1+i2"}).code == 2);
  CHECK(tssolve({matrix, "--sigma", "1+2i"}).code == 2);
}

TEST_CASE("a general run leaves a checkpoint, and goes on from it to the same bits") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 17}));
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--which", "LR", "--tol", "1e-6"}, {"--sigma", "3.1+0.4i"}}) {
    std::vector<std::string> plain = {matrix, "--general", "-k", "4", "--max-basis", "120"};
    plain.insert(plain.end(), how.begin(), how.end());
    const auto whole = solve_json(plain);
    auto kept = plain, few = plain;
    kept.insert(kept.end(), {"--checkpoint", folder / "state.h5"});
    few = kept;
    few.insert(few.end(), {"--max-iter", "3"});
    CHECK(tssolve(few).code == 3);
    CHECK(std::filesystem::exists(folder / "state.h5"));
    const auto resumed = solve_json(kept);
    for (const char* member : {"eigenvalues_real", "eigenvalues_imag", "residual_norms", "iterations"})
      CHECK(resumed[member] == whole[member]);
    CHECK_FALSE(std::filesystem::exists(folder / "state.h5"));
  }
}

TEST_CASE("singular values and principal components") {
  const test::TemporaryFolder folder;
  const auto sparse = write_sparse(folder / "lauchli.h5", generators::lauchli(300, 0.5));
  auto json = solve_json({sparse, "--svd", "-k", "3", "-o", folder / "svd.h5"});
  CHECK(json["verified"] == true);
  CHECK(std::abs(json["singular_values"][0].get<double>() - std::sqrt(300.25)) < 1e-10);
  CHECK(std::abs(json["singular_values"][2].get<double>() - 0.5) < 1e-8);
  CHECK(io::read_dense_as<double>(io::parse_location(folder / "svd.h5:/left_singular_vectors")).rows() ==
        301);
  CHECK(io::read_dense_as<double>(io::parse_location(folder / "svd.h5:/right_singular_vectors")).rows() ==
        300);

  // Points on a line through (7, -3): one component explains everything.
  Matrix<double> points(500, 2);
  for (index_t i = 0; i < 500; ++i) {
    const double t = static_cast<double>(i) / 499 - 0.5;
    points(i, 0) = 7 + 3 * t, points(i, 1) = -3 + 4 * t;
  }
  {
    io::OutputFile out(folder / "points.h5");
    out.write("X", points);
    out.commit();
  }
  json = solve_json({folder / "points.h5:/X", "--svd", "--centre", "-k", "2", "-o", folder / "pca.h5"});
  CHECK(json["verified"] == true);
  CHECK(std::abs(json["singular_values"][1].get<double>()) < 1e-12);
  CHECK(io::read_vector(io::parse_location(folder / "pca.h5:/explained_variance_ratio"))[0] == Approx(1));
  const auto means = io::read_dense_as<double>(io::parse_location(folder / "pca.h5:/column_means"));
  CHECK(means.data()[0] == Approx(7));
  const auto axes = io::read_dense_as<double>(io::parse_location(folder / "pca.h5:/right_singular_vectors"));
  CHECK(std::abs(axes(0, 0)) == Approx(0.6));
  json = solve_json({sparse, "--svd", "--which", "SM", "-k", "2"});
  CHECK(json["verified"] == true);
  for (std::size_t i = 0; i < 2; ++i) CHECK(std::abs(json["singular_values"][i].get<double>() - 0.5) < 1e-8);
  CHECK(tssolve({sparse, "--svd", "--which", "BE"}).code == 2);
  CHECK(tssolve({sparse, "--svd", "--sigma", "1"}).code == 2);
  CHECK(tssolve({sparse, "--centre"}).code == 2);
  CHECK(tssolve({sparse}).code == 4);  // not square
}

TEST_CASE("an end of the spectrum that converges slowly is sought through the inverse where that is cheap") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(1000));  // condition 1e11
  const auto json = solve_json({matrix, "-k", "5", "--which", "SA"});
  CHECK(json["verified"] == true);
  CHECK(json["method"].get<std::string>().find("shift-invert") != std::string::npos);
  const auto exact = generators::sakurai_spectrum(1000).smallest(5);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(std::abs(json["eigenvalues"][i].get<double>() - exact[i]) < 1e-3 * exact[i]);
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
        CHECK(std::abs(json["eigenvalues"][i].get<double>() / unit - exact[3 - i]) < 1e-7);
        CHECK(json["residual_norms"][i].get<double>() <= 4e-8 * unit);
      }
    }
    const auto mixed =
        solve_json({matrix, "-k", "4", "--which", "LA", "--method", "lanczos", "--precision", "mixed"});
    CHECK(mixed["float32_applications"].get<int>() > 0);
    CHECK(std::abs(mixed["eigenvalues"][3].get<double>() / unit - exact[0]) < 1e-7);
    const auto near = solve_json({matrix, "-k", "2", "--sigma", value_of(unit)});
    CHECK(std::abs(near["eigenvalues"][0].get<double>() / unit - 1) < 1e-2);
  }
}

TEST_CASE("input that cannot be used is exit status 4 with the first entry") {
  const test::TemporaryFolder folder;
  write_text(folder / "skew.mtx",
             "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.0\n1 3 2.5\n3 1 2.0\n");
  auto r = tssolve({folder / "skew.mtx"});
  CHECK(r.code == 4);
  CHECK(r.err.find("(0, 2)") != std::string::npos);
  write_text(folder / "lower.mtx",
             "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1.0\n3 1 2.0\n");
  r = tssolve({folder / "lower.mtx"});
  CHECK(r.code == 4);
  CHECK(r.err.find("nothing above its diagonal") != std::string::npos);
  write_text(folder / "close.mtx",
             "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 5\n2 1 5.0000000001\n");
  r = tssolve({folder / "close.mtx"});
  CHECK(r.err.find("is 5 but entry (1, 0) is 5.0000000001 (counted from 0); --general") != std::string::npos);
  write_text(folder / "eye.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 1\n");
  r = tssolve({folder / "eye.mtx", "--mass", folder / "close.mtx"});
  CHECK(r.code == 4);
  CHECK(r.err.find("--general") == std::string::npos);
  write_text(folder / "phase.mtx",
             "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1.0 0.5\n2 2 2.0 0\n");
  r = tssolve({folder / "phase.mtx"});
  CHECK(r.code == 4);
  CHECK(r.err.find("diagonal") != std::string::npos);
  write_text(folder / "wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1.0\n");
  CHECK(tssolve({folder / "wide.mtx"}).code == 4);
  CHECK(tssolve({folder / "missing.mtx"}).code != 0);
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
  CHECK(tssolve({file}).err.find("--layout") != std::string::npos);
  CHECK(tssolve({file, "--layout", "csr"}).err.find("--accept-unsorted") != std::string::npos);
  const auto json =
      solve_json({file, "--layout", "csr", "--accept-unsorted", "--which", "SA", "-k", "2", "--mass", file});
  CHECK(std::abs(json["eigenvalues"][0].get<double>() - 1) < 1e-12);  // of A x = lambda A x
  CHECK(std::abs(json["eigenvalues"][1].get<double>() - 1) < 1e-12);
}

TEST_CASE("wrong use is exit status 2, no device 5") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "ring.h5", generators::laplacian({400}));
  CHECK(tssolve({}).code == 2);
  CHECK(tssolve({matrix, "--nev", "0"}).code == 2);
  CHECK(tssolve({matrix, "--which", "XX"}).code == 2);
  CHECK(tssolve({matrix, "--max-basis", "3"}).err.find("at least 54") != std::string::npos);
  CHECK(tssolve({matrix, "-o", "/nonexistent/folder/x.h5"}).code == 2);
  const auto twice = tssolve({matrix, "-o", folder / "x.h5", "--checkpoint", folder / "x.h5"});
  CHECK(twice.code == 2);
  CHECK(twice.err.find("also the file of --output") != std::string::npos);
  CHECK(tssolve({matrix, "--device", "cuda:999"}).code == 5);
  CHECK(tssolve({"--help"}).code == 0);
  CHECK(tssolve({"--version"}).code == 0);
}

TEST_CASE("a signal ends the run with what was found") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(3000));
  const std::string command =
      std::string("\"") + TS_TSSOLVE + "\" \"" + matrix +
      "\" --which SA -k 4 --method lanczos --tol 1e-15 --max-iter 100000000 --checkpoint \"" +
      (folder / "state.h5") + "\" -o \"" + (folder / "part.h5") +
      "\" & pid=$!; sleep 2; kill -TERM $pid; wait $pid";
  const auto r = test::run_process("/bin/sh", {"-c", command});
  CHECK(r.code == 128 + SIGTERM);
  CHECK(io::read_vector(io::parse_location(folder / "part.h5:/eigenvalues")).size() == 4);
  CHECK(std::filesystem::exists(folder / "state.h5"));
}

TEST_CASE("a signal ends a dense solve at once") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "chain.h5", generators::laplacian({3500}));
  const std::string command = std::string("\"") + TS_TSSOLVE + "\" \"" + matrix +
                              "\" --method dense -k 3000 -o \"" + (folder / "all.h5") +
                              "\" & pid=$!; sleep 1; kill -TERM $pid; wait $pid";
  const auto begin = std::chrono::steady_clock::now();
  const auto r = test::run_process("/bin/sh", {"-c", command});
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
  CHECK(r.code == 128 + SIGTERM);
  CHECK(r.err.find("stopped by signal 15") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "all.h5"));
}

TEST_CASE("a run that is stopped and started again gives the bits of one that was not") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({26, 26, 26}));
  const std::vector<std::string> plain = {matrix,  "-k",   "10",     "--which", "SA",       "--conv", "abs",
                                          "--tol", "1e-9", "--json", "--quiet", "--method", "lanczos"};
  const auto whole = tssolve(plain);
  REQUIRE(whole.code == 0);
  auto kept = plain;
  kept.insert(kept.end(), {"--checkpoint", folder / "state.h5", "--every", "3600"});
  std::string command = std::string("\"") + TS_TSSOLVE + "\"";
  for (const auto& word : kept) command += " \"" + word + "\"";
  auto budget = kept;
  budget.insert(budget.end(), {"--max-iter", "20"});
  CHECK(tssolve(budget).code == 3);
  CHECK(std::filesystem::exists(folder / "state.h5"));
  // A signal at some moment; where the machine is fast the run may have ended before.
  auto last =
      test::run_process("/bin/sh", {"-c", command + " & pid=$!; sleep 0.3; kill -TERM $pid; wait $pid"});
  if (last.code != 0) {
    CHECK(last.code == 128 + SIGTERM);
    CHECK(std::filesystem::exists(folder / "state.h5"));
    last = tssolve(kept);
  }
  REQUIRE(last.code == 0);
  const auto a = nlohmann::json::parse(whole.out), b = nlohmann::json::parse(last.out);
  for (const char* member : {"eigenvalues", "residual_norms", "iterations", "operator_applications"})
    CHECK(a[member] == b[member]);
  CHECK_FALSE(std::filesystem::exists(folder / "state.h5"));
}

TEST_CASE("a run out of budget leaves a checkpoint for a larger one, and other runs refuse it") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const std::string state = folder / "state.h5";
  const std::vector<std::string> start = {matrix, "-k", "6", "--which", "SA", "--checkpoint", state};
  auto small = start;
  small.insert(small.end(), {"--max-iter", "9"});
  CHECK(tssolve(small).code == 3);
  REQUIRE(std::filesystem::exists(state));

  auto other = start;
  other.insert(other.end(), {"--tol", "1e-5"});
  const auto refused = tssolve(other);
  CHECK(refused.code == 2);
  CHECK(refused.err.find(state) != std::string::npos);
  CHECK(refused.err.find("--restart") != std::string::npos);
  auto anew = small;
  anew.emplace_back("--restart");
  CHECK(tssolve(anew).code == 3);
  const std::string stored = test::content_of(state);
  for (std::size_t i = 0; i < stored.size(); i += i < 130 ? 13 : stored.size() / 17) {
    std::string changed = stored;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    std::ofstream(state, std::ios::binary) << changed;
    INFO("byte " << i);
    CHECK(tssolve(start).code == 4);
  }
  std::ofstream(state, std::ios::binary) << stored;
  const auto other_matrix = write_sparse(folder / "ring.h5", generators::laplacian({20, 20, 19}));
  auto r = tssolve({other_matrix, "-k", "6", "--which", "SA", "--checkpoint", state});
  CHECK(r.code == 4);
  CHECK(r.err.find("another matrix") != std::string::npos);
  write_text(folder / "junk.h5", "no checkpoint");
  CHECK(tssolve({matrix, "--checkpoint", folder / "junk.h5"}).code == 4);
  std::filesystem::copy_file(matrix, folder / "copy.h5");
  r = tssolve({matrix, "--checkpoint", folder / "copy.h5"});
  CHECK(r.err.find("copy.h5 is not a checkpoint of tssolve") != std::string::npos);
  CHECK(std::filesystem::exists(folder / "copy.h5"));

  CHECK(tssolve(start).code == 0);
  CHECK_FALSE(std::filesystem::exists(state));
}

TEST_CASE("the report is one well-formed page that needs nothing else") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap & <cube>.h5", generators::laplacian({10, 10, 10}));
  const std::string page = folder / "run.html";
  const auto text_of = [&] {
    std::ifstream in(page, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--which", "SA", "-k", "7"},
        {"--which", "LA", "-k", "1", "--conv", "rel"},
        {"--which", "SA", "-k", "3", "--method", "dense"},
        {"--general", "--which", "LR", "-k", "2", "--tol", "1e-4"},
        {"--general", "--sigma", "3+0.5i", "-k", "3"},
        {"--which", "SA", "-k", "5", "--max-iter", "3", "--method", "lanczos"}}) {
    std::vector<std::string> arguments = {matrix, "--report", page};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const int code = tssolve(arguments).code;
    CHECK((code == 0 || code == 3));
    const auto text = text_of();
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("<script") == std::string::npos);
    CHECK(text.find("src=") == std::string::npos);
    CHECK(text.find("href=") == std::string::npos);
    CHECK(text.find("url(") == std::string::npos);
    CHECK(text.find("<svg") != std::string::npos);
    CHECK(text.find("lap &amp; &lt;cube&gt;") != std::string::npos);
    CHECK(test::tags_are_balanced(text));
    CHECK_FALSE(std::filesystem::exists(page + ".part"));
  }
  CHECK(text_of().find("not converged") != std::string::npos);
  CHECK(tssolve({matrix, "--report", "/nonexistent/folder/x.html"}).code == 2);
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
    CHECK(r.err.find("larger than 1.8e308") != std::string::npos);
    CHECK(r.err.find("large.h5") != std::string::npos);
  }
  const auto json = solve_json({matrix, "-k", "1", "--which", "SA"});
  CHECK(std::abs(json["eigenvalues"][0].get<double>()) < 1e294);
}

TEST_CASE("few on a side of the target are all of them, and the report says so") {
  const test::TemporaryFolder folder;
  CsrMatrix<double> a;
  a.rows = a.cols = 300;
  for (int i = 0; i < 300; ++i) {
    a.indices.push_back(i), a.values.push_back(i + 1), a.pointers.push_back(i + 1);
  }
  const auto matrix = write_sparse(folder / "d.h5", a);
  auto json = solve_json({matrix, "--sigma", "2.5", "--which", "SA", "-k", "4"});
  CHECK(json["verified"] == true);
  REQUIRE(json["eigenvalues"].size() == 2);
  CHECK(std::abs(json["eigenvalues"][0].get<double>() - 2) < 1e-9);
  CHECK(std::abs(json["eigenvalues"][1].get<double>() - 1) < 1e-9);
  CHECK(json["reason"].get<std::string>().find("4 were asked for, and only 2 lie below the target") !=
        std::string::npos);
  json = solve_json({matrix, "--interval", "0:1e300"});
  CHECK(json["verified"] == true);
  CHECK(json["eigenvalues"].size() == 300);
}

TEST_CASE("the whole spectrum of a general matrix, asked for or taken over to") {
  const test::TemporaryFolder folder;
  // A permutation: cycles of 7, 100 times.
  CsrMatrix<double> a;
  a.rows = a.cols = 700;
  for (int i = 0; i < 700; ++i) {
    a.indices.push_back(i / 7 * 7 + (i + 1) % 7), a.values.push_back(1), a.pointers.push_back(i + 1);
  }
  const auto matrix = write_sparse(folder / "p.h5", a);
  for (const std::vector<std::string>& how : {std::vector<std::string>{}, {"--method", "dense"}}) {
    std::vector<std::string> arguments = {matrix, "--general", "-k", "5", "--which", "LR"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const auto json = solve_json(arguments);
    CHECK(json["verified"] == true);
    REQUIRE(json["eigenvalues_real"].size() == 5);
    for (const auto& x : json["eigenvalues_real"]) CHECK(std::abs(x.get<double>() - 1) < 1e-9);
    if (!how.empty()) CHECK(json["method"].get<std::string>().find("dense") == 0);
  }
  CHECK(tssolve({matrix, "--general", "--method", "lanczos"}).err.find("--method dense") !=
        std::string::npos);
}
