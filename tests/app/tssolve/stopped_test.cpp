#include "tallskinny/tests/app/tssolve/runs.hpp"

namespace {

/// A run that gets SIGTERM after so many seconds.
ProcessResult stopped_after(const std::string& seconds, const Words& words) {
  std::string command = "\"" TS_TSSOLVE "\"";
  for (const auto& word : words) command += " \"" + word + "\"";
  return run_process("/bin/sh", {"-c", command + " & pid=$!; sleep " + seconds + "; kill -TERM $pid; wait $pid"});
}

}  // namespace

TEST_CASE("a signal ends the run with what was found") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(3000));
  const auto r =
      stopped_after("2", {matrix, "--which", "SA", "-k", "4", "--method", "lanczos", "--tol", "1e-15", "--max-iter",
                          "100000000", "--checkpoint", folder / "state.h5", "-o", folder / "part.h5"});
  CHECK(r.code == 128 + SIGTERM);
  CHECK(list_in(folder / "part.h5:/eigenvalues").size() == 4);
  CHECK(std::filesystem::exists(folder / "state.h5"));
}

TEST_CASE("a signal ends a dense solve at once") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "chain.h5", generators::laplacian({3500}));
  const auto r =
      stopped_after("1", {matrix, "--method", "dense", "--threads", "1", "-k", "3000", "-o", folder / "all.h5"});
  CHECK(r.code == 128 + SIGTERM);
  CHECK(mentions(r.err, "stopped by signal 15"));
  CHECK_FALSE(std::filesystem::exists(folder / "all.h5"));
}

TEST_CASE("a run that is stopped and started again gives the bits of one that was not") {
  const TemporaryFolder folder;
  const std::string state = folder / "state.h5";
  const Words plain = {write_sparse(folder / "lap.h5", generators::laplacian({26, 26, 26})),
                       "-k",
                       "10",
                       "--which",
                       "SA",
                       "--conv",
                       "abs",
                       "--tol",
                       "1e-9",
                       "--method",
                       "lanczos"};
  const auto whole = solve_json(plain);
  const Words kept = joined(plain, {"--checkpoint", state, "--every", "3600"});
  check_run(joined(kept, {"--max-iter", "20"}), 3);
  CHECK(std::filesystem::exists(state));
  // A signal at some moment; where the machine is fast the run may have ended before.
  auto last = stopped_after("0.3", joined(kept, {"--json", "--quiet"}));
  if (last.code != 0) {
    CHECK(last.code == 128 + SIGTERM);
    CHECK(std::filesystem::exists(state));
    last = tssolve(joined(kept, {"--json", "--quiet"}));
  }
  REQUIRE(last.code == 0);
  check_same(whole, nlohmann::json::parse(last.out),
             {"eigenvalues", "residual_norms", "iterations", "operator_applications"});
  CHECK_FALSE(std::filesystem::exists(state));
}

TEST_CASE("a run out of budget leaves a checkpoint for a larger one, and other runs refuse it") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const std::string state = folder / "state.h5";
  const Words wanted = {"-k", "6", "--which", "SA", "--checkpoint", state}, start = joined({matrix}, wanted);
  const Words small = joined(start, {"--max-iter", "9"});
  check_run(small, 3);
  REQUIRE(std::filesystem::exists(state));
  check_run(joined(start, {"--tol", "1e-5"}), 2, {state, "--restart"});
  check_run(joined(small, {"--restart"}), 3);
  const std::string stored = content_of(state);
  for (std::size_t i = 0; i < stored.size(); i += i < 130 ? 13 : stored.size() / 17) {
    std::string changed = stored;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    write_file(state, changed);
    INFO("byte " << i);
    check_run(start, 4);
  }
  write_file(state, stored);
  check_run(joined({write_sparse(folder / "ring.h5", generators::laplacian({20, 20, 19}))}, wanted), 4,
            {"another matrix"});
  check_run(joined(start, {"--reorder", "rcm"}), 4, {"another --reorder"});
  check_run({matrix, "--checkpoint", folder.file("junk.h5", "no checkpoint")}, 4);
  std::filesystem::copy_file(matrix, folder / "copy.h5");
  check_run({matrix, "--checkpoint", folder / "copy.h5"}, 4, {"copy.h5 is not a checkpoint of tssolve"});
  CHECK(std::filesystem::exists(folder / "copy.h5"));
  const std::string old =
      write_h5(folder / "old.h5", {.gzip = 0, .signature = "tallskinny checkpoint of tssolve, version 2"}, "x", 1.0);
  check_run({matrix, "--checkpoint", old}, 4,
            {"old.h5 is a checkpoint of an earlier tssolve (version 2 of the format"});
  CHECK(std::filesystem::exists(old));
  check_run({matrix, "-k", "6", "--which", "SA", "--checkpoint", old, "--restart"}, 0);
  check_run(start, 0);
  CHECK_FALSE(std::filesystem::exists(state));
}

TEST_CASE("a run out of budget says what there is to do") {
  const TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(3000));
  check_run({matrix, "-k", "4", "--which", "SA", "--method", "lanczos", "--max-iter", "5"}, 3,
            {"--max-iter", "--max-basis", "--sigma", "--method auto", "--conv norm"});
}
