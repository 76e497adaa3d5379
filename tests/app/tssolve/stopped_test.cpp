#include "tallskinny/tests/app/tssolve/runs.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("a signal ends the run with what was found") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(3000));
  const std::string command = std::string("\"") + TS_TSSOLVE + "\" \"" + matrix +
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
                              "\" --method dense --threads 1 -k 3000 -o \"" + (folder / "all.h5") +
                              "\" & pid=$!; sleep 1; kill -TERM $pid; wait $pid";
  const auto r = test::run_process("/bin/sh", {"-c", command});
  CHECK(r.code == 128 + SIGTERM);
  CHECK(mentions(r.err, "stopped by signal 15"));
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
  auto last = test::run_process("/bin/sh", {"-c", command + " & pid=$!; sleep 0.3; kill -TERM $pid; wait $pid"});
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
  CHECK(mentions(refused.err, state));
  CHECK(mentions(refused.err, "--restart"));
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
  CHECK(mentions(r.err, "another matrix"));
  auto in_another_order = start;
  in_another_order.insert(in_another_order.end(), {"--reorder", "rcm"});
  r = tssolve(in_another_order);
  CHECK(r.code == 4);
  CHECK(mentions(r.err, "another --reorder"));
  write_text(folder / "junk.h5", "no checkpoint");
  CHECK(tssolve({matrix, "--checkpoint", folder / "junk.h5"}).code == 4);
  std::filesystem::copy_file(matrix, folder / "copy.h5");
  r = tssolve({matrix, "--checkpoint", folder / "copy.h5"});
  CHECK(mentions(r.err, "copy.h5 is not a checkpoint of tssolve"));
  CHECK(std::filesystem::exists(folder / "copy.h5"));
  const std::string old = folder / "old.h5";
  io::OutputFile earlier(old, {.gzip = 0, .signature = "tallskinny checkpoint of tssolve, version 2"});
  earlier.write("x", 1.0);
  earlier.commit();
  r = tssolve({matrix, "--checkpoint", old});
  CHECK(r.code == 4);
  CHECK(mentions(r.err, "old.h5 is a checkpoint of an earlier tssolve (version 2 of the format"));
  CHECK(std::filesystem::exists(old));
  CHECK(tssolve({matrix, "-k", "6", "--which", "SA", "--checkpoint", old, "--restart"}).code == 0);

  CHECK(tssolve(start).code == 0);
  CHECK_FALSE(std::filesystem::exists(state));
}

TEST_CASE("a run out of budget says what there is to do") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "hard.h5", generators::sakurai(3000));
  const auto r = tssolve({matrix, "-k", "4", "--which", "SA", "--method", "lanczos", "--max-iter", "5"});
  CHECK(r.code == 3);
  for (const char* way : {"--max-iter", "--max-basis", "--sigma", "--method auto", "--conv norm"}) {
    CAPTURE(way);
    CHECK(mentions(r.err, way));
  }
}
