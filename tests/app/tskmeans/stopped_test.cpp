#include "tallskinny/tests/app/tskmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("a checkpoint leads to the result of a run never stopped", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5", state = folder / "state.h5", points = file + ":/features";
  io::OutputFile out(file);
  out.write("features", generators::uniform<float>(3000, 4, 1));
  out.write("others", generators::uniform<float>(3000, 4, 2));
  out.commit();
  const std::vector<std::string> common = {"-k", "12", "--tol", "0", "--n-init", "2", "--json"};
  const auto with = [&](const std::vector<std::string>& more) { return tskmeans(joined(more, common)); };
  const auto straight = json_of(with({points, "-o", folder / "a.h5"}));
  CHECK(with({points, "--max-iter", "6", "--checkpoint", state, "--every", "0"}).code == 3);
  const auto resumed = json_of(with({points, "--resume", state, "-o", folder / "b.h5"}));
  CHECK(resumed["resumed"] == true);
  if (straight["best_run"] == 1) {  // the restart that was stopped
    expect_same(resumed, straight, {"inertia", "n_iter"});
    CHECK(io::read_vector(io::parse_location(folder / "a.h5:/labels")) ==
          io::read_vector(io::parse_location(folder / "b.h5:/labels")));
  }
  const ProcessResult others = with({file + ":/others", "--resume", state});
  CHECK(others.code == 4);
  CHECK(mentions(others.err, "other points"));
  const ProcessResult settings = with({points, "--resume", state, "--seed", "7"});
  CHECK(settings.code == 4);
  CHECK(mentions(settings.err, "another --n-clusters"));
}

TEST_CASE("the same command resumes a run, and a file that is not its checkpoint is left unchanged", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.h5", state = folder / "state.h5", log = folder / "log.jsonl";
  io::OutputFile out(file);
  auto points = generators::uniform<float>(3000, 4, 1);
  out.write("features", points);
  points(1777, 2) += 1;  // no row of a sample of 64
  out.write("others", points);
  out.commit();
  const auto run = [&](const std::string& object, std::vector<std::string> more) {
    more.insert(more.begin(), {file + ":/" + object, "-k", "12", "--tol", "0", "--json", "--every", "0"});
    return tskmeans(more);
  };
  const std::vector<std::string> kept = {"--checkpoint", state, "--log", log};
  const auto few = joined(kept, {"--max-iter", "6"}), anew = joined(kept, {"--restart"});
  const auto straight = json_of(run("features", {"--log", log, "--checkpoint", folder / "none.h5"}));
  const std::string lines = test::content_of(log);
  CHECK_FALSE(std::filesystem::exists(folder / "none.h5"));

  for (const std::string& other : {file, folder.file("text.h5", "a text that is worth more than a run"), log}) {
    const std::string before = test::content_of(other);
    for (const bool restart : {false, true}) {
      const ProcessResult r = run("features", words("--checkpoint " + other + (restart ? " --restart" : "")));
      CHECK(r.code == 4);
      CHECK(mentions(r.err, other));
      CHECK(test::content_of(other) == before);
    }
  }

  CHECK(run("features", few).code == 3);
  const std::string stored = test::content_of(state), earlier = test::content_of(log);
  CHECK(run("others", kept).code == 4);
  CHECK(run("features", {"--checkpoint", state, "--seed", "7"}).code == 4);
  CHECK(test::content_of(state) == stored);
  const auto resumed = json_of(run("features", kept));
  CHECK(resumed["resumed"] == true);
  expect_same(resumed, straight, {"inertia", "n_iter"});
  CHECK_FALSE(std::filesystem::exists(state));
  // The lines up to the state are those that were there; the others follow.
  const std::string later = test::content_of(log);
  const auto five = [](const std::string& text) {
    std::size_t at = 0;
    for (int i = 0; i < 5; ++i) at = text.find('\n', at) + 1;
    return text.substr(0, at);
  };
  CHECK(five(later) == five(earlier));
  CHECK(std::count(later.begin(), later.end(), '\n') == std::count(lines.begin(), lines.end(), '\n'));

  CHECK(run("features", few).code == 3);
  const auto again = json_of(run("others", anew));
  CHECK(again["resumed"] == false);
}

TEST_CASE("no byte of a checkpoint can change without notice", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = points_file(folder, generators::uniform<float>(600, 2, 1)), state = folder / "state.h5",
                    bad = folder / "bad.h5";
  const std::vector<std::string> run = {file,         "-k", "6",       "--tol", "0",
                                        "--max-iter", "3",  "--every", "0",     "--checkpoint"};
  const auto first = joined(run, {state}), other = joined(run, {bad});
  CHECK(tskmeans(first).code == 3);
  const std::string stored = test::content_of(state);
  REQUIRE(stored.size() > 1000);
  for (std::size_t i = 0; i < stored.size(); i += i < 130 ? 9 : 397) {
    std::string changed = stored;
    changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
    folder.file("bad.h5", changed);
    const ProcessResult r = tskmeans(other);
    INFO("byte " << i << ": " << r.err);
    CHECK(r.code == 4);
    CHECK(mentions(r.err, bad));
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{600}, stored.size() - 1}) {
    folder.file("bad.h5", stored.substr(0, size));
    CHECK(tskmeans(other).code == 4);
  }
  folder.file("bad.h5", stored + "x");
  CHECK(tskmeans(other).code == 4);
  // A checkpoint in the format before checksums.
  io::OutputFile old(folder / "old.h5");
  old.write("key", std::span<const double>(std::vector<double>{1, 2, 3}));
  old.attribute("/", "kind", "tskmeans checkpoint");
  old.commit();
  const ProcessResult r = tskmeans({file, "-k", "6", "--resume", folder / "old.h5"});
  CHECK(r.code == 4);
  CHECK(mentions(r.err, "of another version"));
}

TEST_CASE("a full disk at a checkpoint or log does not end a run", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = points_file(folder, generators::uniform<float>(20000, 4, 1)), log = folder / "log.jsonl";
  // A file may have 32 KiB: too few for the labels of a state.
  const ProcessResult r = test::run_process(
      "/bin/sh", {"-c", "ulimit -f 64; exec \"$0\" \"$@\"", TS_TSKMEANS, file, "-k", "5", "--tol", "0", "--max-iter",
                  "9", "--every", "0", "--checkpoint", folder / "state.h5", "--log", log, "--json"});
  INFO(r.err);
  CHECK(r.code != 128 + SIGXFSZ);
  const auto warning = r.err.find("will try again");
  CHECK(warning != std::string::npos);
  CHECK(r.err.find("will try again", warning + 1) == std::string::npos);
  CHECK(mentions(r.err, "state.h5"));
  CHECK((r.code == 0 || r.code == 3));
  CHECK(nlohmann::json::parse(r.out).contains("inertia"));
}

TEST_CASE("signals of users, batch systems and terminals end a run with what there is", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = points_file(folder, generators::uniform<float>(60000, 24, 1));
  const std::string state = folder / "state.h5", result = folder / "r.h5";
  for (const int signal : {SIGHUP, SIGUSR1, SIGXCPU, SIGTERM}) {
    const ProcessResult r = test::run_process(
        "/usr/bin/timeout", words("--preserve-status -s " + std::to_string(signal) + " 3 " TS_TSKMEANS " " + file +
                                  " -k 100 --init random --tol 0 --max-iter 100000 --n-init 1000 --checkpoint " +
                                  state + " --json -o " + result));
    INFO(r.err);
    CHECK(r.code == 128 + signal);
    CHECK(nlohmann::json::parse(r.out)["stop"] == "interrupted");
    CHECK(std::filesystem::exists(state));
    CHECK(io::read_vector(io::parse_location(result + ":/labels")).size() == 60000);
    CHECK(mentions(r.err, "wrote " + result + ": labels, cluster_centers"));
    std::filesystem::remove(state), std::filesystem::remove(result);
  }
}

TEST_CASE("a signal ends the count of rows at once", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string file = folder / "long.csv.gz";  // ends with what is no number, as a whole count would find
  const auto result = test::run_process(
      "/bin/sh",
      {"-c", "cd '" + folder.path().string() +
                 "'; yes 1,2 | head -n 2000000 | gzip -1 > piece; for i in $(seq 100); do cat piece; done > '" + file +
                 "'; echo 1,x | gzip >> '" + file + "'; '" TS_TSKMEANS "' '" + file +
                 "' -k 1 -q & p=$!; sleep 1; kill -TERM $p; wait $p"});
  INFO(result.err);
  CHECK(result.code == 128 + SIGTERM);
}
