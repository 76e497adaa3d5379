// Matrices that are decomposed as a whole: who does it is said before and after, and where.
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/tests/app/tssolve/runs.hpp"

namespace {

/// A Hermitian matrix of n rows in this precision, whose eigenvalues are 1, 2 ... n but for its rounding.
template <class T>
std::string write_of_whole_numbers(const std::string& file, index_t n) {
  // (I - 2 v v^H / n) D (I - 2 v v^H / n) with elements of v of size one
  const auto v = [](index_t i) {
    if constexpr (is_complex<T>)
      return std::polar(1.0, 0.3 * static_cast<double>(i));
    else
      return i % 3 == 0 ? -1.0 : 1.0;
  };
  const auto d = [](index_t i) { return static_cast<double>(i + 1); };
  const auto rows = static_cast<double>(n), mean = (rows + 1) / 2;
  return write_h5(file, "X", matrix_of<T>(n, n, [&](index_t i, index_t j) {
                    const double share = (4 * mean - 2 * (d(i) + d(j))) / rows;
                    if constexpr (is_complex<T>)
                      return T(share * v(i) * std::conj(v(j)) + (i == j ? d(i) : 0));
                    else
                      return static_cast<T>(share * v(i) * v(j) + (i == j ? d(i) : 0));
                  }));
}

void check_values(const nlohmann::json& json, const std::string& by, std::size_t k, double tolerance) {
  INFO(json["reason"]);
  CHECK(json["verified"] == true);
  CHECK(json["method"].get<std::string>().find("dense, by " + by) == 0);
  REQUIRE(json["eigenvalues"].size() == k);
  std::vector<double> expected(k);
  std::iota(expected.begin(), expected.end(), 1.0);
  check_near(json["eigenvalues"], expected, tolerance);
}

/// Three pairs and all, in each precision.
void check_everywhere(const std::string& device, const std::string& by) {
  constexpr index_t n = 300;
  const TemporaryFolder folder;
  const auto check = [&](const std::string& file, double tolerance) {
    for (const std::string k : {"3", "300"})
      check_values(solve_json({file, "--which", "SA", "--method", "dense", "-k", k, "--device", device}), by,
                   std::stoul(k), tolerance);
  };
  check(write_of_whole_numbers<double>(folder / "d.h5", n), allowed::tight_run);
  check(write_of_whole_numbers<std::complex<double>>(folder / "z.h5", n), allowed::tight_run);
  check(write_of_whole_numbers<float>(folder / "s.h5", n), allowed::three_digits);
  check(write_of_whole_numbers<std::complex<float>>(folder / "c.h5", n), allowed::three_digits);
}

}  // namespace

TEST_CASE("dense matrices in every precision on the processor") {
  check_everywhere("cpu", lapack_name().empty() ? "Eigen" : "LAPACK");
}

TEST_CASE("dense matrices in every precision on a GPU", "[gpu]") {
  const TemporaryFolder folder;
  const auto file = write_of_whole_numbers<double>(folder / "a.h5", 300);
  const auto plan = tssolve({file, "--method", "dense", "--dry-run", "--device", "cuda"});
  const bool found = !mentions(plan.err, "cuSOLVER is not found");
  if (!found) WARN(plan.err);
  CHECK((mentions(plan.out, "dense, by cuSOLVER 1")) == found);
  CHECK((mentions(plan.out, "device memory:")) == found);
  check_everywhere("cuda", found ? "cuSOLVER" : "");
  // Nobody asked for a decomposition.
  const auto small = tssolve({file, "-k", "3", "--device", "cuda"});
  CHECK(mentions(small.err, "so small a matrix is decomposed as a whole, which is done on the processor"));
}

TEST_CASE("who decomposes a whole matrix stands in plans, lines, results and profiles") {
  const std::string by = lapack_name().empty() ? "Eigen" : lapack_name();
  const TemporaryFolder folder;
  const auto file = write_of_whole_numbers<double>(folder / "a.h5", 300);
  const auto says = [&](const Words& words, const std::string& text) { check_run(joined({file}, words), 0, {text}); };
  says({"--method", "dense", "--dry-run"}, "method: dense, by " + by + "\n");
  says({"--method", "dense", "-k", "3"}, "; dense, by " + by + "\n");
  says({"--method", "dense", "-k", "3", "--profile"},
       lapack_name().empty() ? "decomposed by Eigen" : "decomposed by L");
  says({"--general", "--method", "dense", "--dry-run"}, ", dense, by the Schur form, " + by + "\n");
  says({"--general", "-k", "3"}, ": dense, by the Schur form, " + by + "\n");
  says({"--svd", "-k", "300", "--dry-run"}, ", singular values, all at once by " + by + "\n");
  says({"--svd", "-k", "300"}, "; singular values, all at once by " + by + "\n");
  CHECK(solve_json({file, "--svd", "-k", "300"})["method"] == "decomposition of the whole matrix by " + by);
  const auto plan = plan_of({file, "--method", "dense"});
  CHECK(plan["method"] == "dense, by " + by);
  CHECK(plan["memory"]["decomposition"] == 4 * 300 * 300 * 8);
  check_run({file, "--method", "dense", "--memory", "1M"}, 1, {"1.00 MiB"});
}
