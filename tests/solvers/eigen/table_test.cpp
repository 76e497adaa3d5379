#include <chrono>
#include <cstdio>

#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;

namespace {

void run_table(const std::vector<test::DegenerateProblem>& problems, std::uint64_t seeds, bool print) {
  for (const auto& p : problems)
    for (const double tol : {1e-6, 1e-10}) {
      int right = 0, unverified = 0, wrong = 0;
      index_t applications = 0, rounds = 0;
      double seconds = 0, worst = 0, loss = 0;
      solvers::Verification how{};
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(p.name, tol, seed);
        solvers::EigenOptions options;
        options.tol = tol, options.seed = seed, options.method = solvers::Method::lanczos;
        const auto start = std::chrono::steady_clock::now();
        const auto j = test::judge(Context{}, p, options);
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        CAPTURE(j.reason, j.worst);
        CHECK(j.right);
        CHECK(j.verified);
        CHECK(j.loss < test::allowed::long_sum);
        (j.verified ? (j.right ? right : wrong) : unverified) += 1;
        applications += j.applications, rounds += j.rounds, how = j.how;
        worst = std::max(worst, j.worst), loss = std::max(loss, j.loss);
      }
      if (print)
        std::printf(
            "%-28s %.0e  right %2d  wrong %2d  exit3 %2d  columns %7lld  rounds %.1f  %6.3f s  error %.0e  "
            "loss %.0e  %s\n",
            p.name.c_str(), tol, right, wrong, unverified,
            static_cast<long long>(applications / static_cast<index_t>(seeds)),
            static_cast<double>(rounds) / static_cast<double>(seeds), seconds / static_cast<double>(seeds), worst, loss,
            std::string(solvers::name_of(how)).c_str());
    }
}

}  // namespace

TEST_CASE("degenerate spectra are found complete") { run_table(test::degenerate_problems(), 1, false); }

TEST_CASE("multiplicities beyond the block, both ends and targets") { run_table(test::harder_problems(), 1, false); }

TEST_CASE("the table of ten seeds", "[.full]") {
  run_table(test::degenerate_problems(), 10, true);
  run_table(test::harder_problems(), 3, true);
}
