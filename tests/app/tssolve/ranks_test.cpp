// tssolve under mpirun.
#include "tallskinny/gemm/runtime/stopwatch.hpp"
#include "tallskinny/tests/app/tssolve/runs.hpp"
#include "tallskinny/tests/support/mpi_run.hpp"

using namespace ts;
using namespace ts::test;

namespace {

using Words = std::vector<std::string>;

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json solve_on(int ranks, const Words& words, int code = 0) {
  const Words all = with(words, {"--json", "--quiet", "--determinism", "gpu_to_gpu"});
  const ProcessResult r = ranks == 1 ? tssolve(all) : run_on_ranks(ranks, TS_TSSOLVE, all);
  INFO(r.err);
  REQUIRE(r.code == code);
  return nlohmann::json::parse(r.out);  // one object, whoever printed it
}

bool same_bits(const std::string& a, const std::string& b) {
  const auto x = io::read_dense_as<double>({a, "/eigenvectors"}, {}),
             y = io::read_dense_as<double>({b, "/eigenvectors"}, {});
  return x.rows() == y.rows() && x.cols() == y.cols() && std::equal(x.data(), x.data() + x.rows() * x.cols(), y.data());
}

}  // namespace

TEST_CASE("eigenvalues and vectors of ranks have the bits of one process, from triangles and from whole matrices") {
  const TemporaryFolder folder;
  const CsrMatrix<double> lap = generators::laplacian({20, 20, 20});
  const std::string whole = write_sparse(folder / "whole.h5", lap), half = folder / "half.h5";
  {
    io::OutputFile out(half);
    out.write_binsparse("/", lap, io::Structure::symmetric);
    out.commit();
  }
  const Words options = {"-k", "8", "--which", "LA", "-o"};
  const auto one = solve_on(1, with({whole}, with(options, {folder / "1.h5"})));
  CHECK(one["ranks"] == 1);
  for (const int ranks : {2, 3}) {
    const std::string file = folder / (std::to_string(ranks) + ".h5");
    const auto found = solve_on(ranks, with({ranks == 2 ? whole : half}, with(options, {file})));
    CHECK(found["ranks"] == ranks);
    CHECK(found["ranks_work"] == "together");
    for (const char* name :
         {"eigenvalues", "residual_norms", "error_bounds", "iterations", "multiplicities", "verified"})
      CHECK(found[name] == one[name]);
    CHECK(same_bits(folder / "1.h5", file));
  }
}

TEST_CASE("rows are distributed by their entries where these are uneven") {
  const TemporaryFolder folder;
  CsrMatrix<double> a{7000, 7000, {0}, {}, {}};  // a band of 81 in the first 1500 rows, then a line
  for (index_t i = 0; i < a.rows; ++i) {
    for (index_t j = std::max<index_t>(0, i - 40); j <= std::min<index_t>(a.cols - 1, i + 40); ++j)
      if (std::abs(i - j) <= 1 || std::max(i, j) < 1500) {
        a.indices.push_back(static_cast<std::int32_t>(j));
        a.values.push_back(i == j ? 1 + 1e-3 * static_cast<double>(i) : 0.01 / static_cast<double>(std::abs(i - j)));
      }
    a.pointers.push_back(std::ssize(a.indices));
  }
  const Words words = {write_sparse(folder / "uneven.h5", a), "-k", "4", "--which", "LA"};
  const auto one = solve_on(1, words), three = solve_on(3, words);
  CHECK(three["eigenvalues"] == one["eigenvalues"]);
  CHECK(three["iterations"] == one["iterations"]);
  const auto told = run_on_ranks(3, TS_TSSOLVE, words);
  CHECK(told.err.find("rows are distributed by their entries") != std::string::npos);
}

TEST_CASE("what is not distributed is solved by rank 0 alone, which says why") {
  const TemporaryFolder folder;
  const std::string file = write_sparse(folder / "line.h5", generators::laplacian({7000}));
  const Words ordered = {file, "-k", "4", "--which", "LA", "--reorder", "rcm"};
  const auto one = solve_on(1, ordered), two = solve_on(2, ordered);
  CHECK(two["eigenvalues"] == one["eigenvalues"]);
  CHECK(two["ranks"] == 2);
  CHECK(two["ranks_work"] == "rank 0 alone: --reorder is not distributed");
}

TEST_CASE("near a target rank 0 factorises for all with the bits of one process, and checkpoints change ranks") {
  const TemporaryFolder folder;
  const std::string lap = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const std::string torus = write_sparse(folder / "torus.h5", generators::hofstadter(85, 85, 1));
  for (const auto& [file, sigma, ranks] : {std::tuple{lap, "0.5", 3}, std::tuple{torus, "0.2", 2}}) {
    const Words near = {file, "-k", "6", "--sigma", sigma, "-o"};
    const auto one = solve_on(1, with(near, {folder / "1.h5"}));
    const auto more = solve_on(ranks, with(near, {folder / "more.h5"}));
    CHECK(one["verification"] == "inertia");
    for (const char* name : {"eigenvalues", "residual_norms", "error_bounds", "iterations", "verification", "method"})
      CHECK(more[name] == one[name]);
    CHECK(std::string(more["ranks_work"]).starts_with("together, factors by rank 0"));
    if (file == lap) CHECK(same_bits(folder / "1.h5", folder / "more.h5"));
  }
  const std::string state = folder / "state.h5";
  const Words slow = {lap, "-k", "12", "--sigma", "0.5", "--block-size", "2", "--checkpoint", state};
  const auto whole = solve_on(1, slow);
  const auto part = solve_on(3, with(slow, {"--max-iter", "3"}), 3);
  CHECK(part["iterations"] == 3);
  const auto rest = solve_on(2, slow);
  CHECK(rest["eigenvalues"] == whole["eigenvalues"]);
  CHECK(rest["iterations"] == whole["iterations"]);
}

TEST_CASE("intervals and pencils on ranks have the bits of one process") {
  const TemporaryFolder folder;
  const std::string lap = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  CsrMatrix<double> mass = generators::laplacian({8000});
  for (double& x : mass.values) x = x > 0 ? 4.0 / 6 : 1.0 / 6;  // of linear elements on a line
  const std::string elements = write_sparse(folder / "mass.h5", mass);
  const std::vector<std::pair<Words, std::size_t>> runs = {{{"--interval", "2.9:3.0"}, 0},
                                                           {{"-k", "5", "--sigma", "0.4", "--mass", elements}, 5},
                                                           {{"-k", "3", "--which", "LA", "--mass", elements}, 3}};
  for (const auto& [words, count] : runs) {
    const Words all = with({lap}, words);
    const auto one = solve_on(1, with(all, {"-o", folder / "1.h5"}));
    const auto three = solve_on(3, with(all, {"-o", folder / "3.h5"}));
    CAPTURE(words);
    if (count > 0) CHECK(one["eigenvalues"].size() == count);
    CHECK(one["eigenvalues"].size() > 2);
    for (const char* name : {"eigenvalues", "residual_norms", "error_bounds", "verification", "operator_applications"})
      CHECK(three[name] == one[name]);
    CHECK(std::string(three["ranks_work"]).starts_with("together, factors by rank 0"));
    CHECK(same_bits(folder / "1.h5", folder / "3.h5"));
  }
}

TEST_CASE("MUMPS factorises on all ranks where bits need not repeat: real, complex and next to an eigenvalue") {
  const TemporaryFolder folder;
  const std::string lap = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const std::string torus = write_sparse(folder / "torus.h5", generators::hofstadter(85, 85, 1));
  CsrMatrix<double> diagonal = generators::identity(7000);
  for (std::size_t i = 0; i < diagonal.values.size(); ++i) diagonal.values[i] = 1 + static_cast<double>(i);
  const std::string at_one = write_sparse(folder / "diagonal.h5", diagonal);
  for (const auto& [file, sigma, ranks] :
       {std::tuple{lap, "0.5", 2}, std::tuple{torus, "0.2", 3}, std::tuple{at_one, "500", 2}}) {
    const Words near = {file, "-k", "6", "--sigma", sigma, "--json", "--quiet", "--determinism", "not_guaranteed"};
    const auto one = solve_on(1, {file, "-k", "6", "--sigma", sigma});
    const ProcessResult r = run_on_ranks(ranks, TS_TSSOLVE, near);
    INFO(r.err);
    REQUIRE(r.code == 0);
    const auto more = nlohmann::json::parse(r.out);
    CHECK(more["verification"] == "inertia");
    const std::string work = more["ranks_work"];
    CHECK(work.starts_with("together, factors by "));
    CHECK((work == "together, factors by MUMPS on all ranks") == TS_MUMPS_ON_RANKS);
    std::vector<double> found = more["eigenvalues"], expected = one["eigenvalues"];
    std::sort(found.begin(), found.end()), std::sort(expected.begin(), expected.end());
    REQUIRE(found.size() == expected.size());
    for (std::size_t j = 0; j < found.size(); ++j) CHECK(found[j] == Approx(expected[j]).epsilon(1e-10));
  }
}

TEST_CASE("the checkpoint of three ranks is taken up by two, with the bits of a run that was not stopped") {
  const TemporaryFolder folder;
  const std::string file = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const Words options = {file, "-k", "6", "--which", "SA", "--method", "lanczos"};
  const auto one = solve_on(1, with(options, {"-o", folder / "1.h5"}));
  const std::string state = folder / "state.h5";
  const auto part = solve_on(3, with(options, {"--checkpoint", state, "--max-iter", "20"}), 3);
  CHECK(part["iterations"] == 20);
  REQUIRE(std::filesystem::exists(state));
  const auto rest = solve_on(2, with(options, {"--checkpoint", state, "-o", folder / "2.h5"}));
  CHECK(rest["eigenvalues"] == one["eigenvalues"]);
  CHECK(rest["iterations"] == one["iterations"]);
  CHECK(same_bits(folder / "1.h5", folder / "2.h5"));
  CHECK_FALSE(std::filesystem::exists(state));
}

TEST_CASE("an error of any rank is told once, with its exit status, and ends all within five seconds") {
  const TemporaryFolder folder;
  CsrMatrix<double> bad = generators::laplacian({20, 20, 20});
  bad.values.back() = std::nan("");
  const std::string file = write_sparse(folder / "bad.h5", bad);
  const Stopwatch watch;
  const auto last = run_on_ranks(3, TS_TSSOLVE, {file, "-k", "3"});
  CHECK(watch.seconds() < 5);
  CHECK(last.code == 4);
  const auto said = lines_of("tssolve", last.err);
  INFO(last.err);
  REQUIRE(said.size() == 1);
  CHECK(said.front().starts_with("tssolve: rank 2: " + file + ":/ has NaN at row 7999"));
  CHECK(last.out.empty());

  const std::string lap = write_sparse(folder / "lap.h5", generators::laplacian({20, 20, 20}));
  const auto large = run_on_ranks(2, TS_TSSOLVE, {lap, "-k", "3", "--sigma", "1", "--memory", "20M", "--quiet"});
  CHECK(large.code == 1);
  const auto refused = lines_of("tssolve", large.err);
  INFO(large.err);
  REQUIRE(refused.size() == 1);
  CHECK(refused.front().starts_with("tssolve: factorising A - sigma I beside what else the run needs"));

  const auto all = run_on_ranks(2, TS_TSSOLVE, {folder / "none.h5", "-k", "3"});
  CHECK(all.code == 4);
  CHECK(lines_of("tssolve", all.err) == Words{"tssolve: " + (folder / "none.h5") + " does not exist"});
}

TEST_CASE("a rank that is killed is not waited for, and its checkpoint is whole") {
  const TemporaryFolder folder;
  const std::string file = write_sparse(folder / "lap.h5", generators::laplacian({24, 24, 24}));
  const std::string state = folder / "state.h5";
  // Children of mpirun are the ranks; one of them is killed once there is a checkpoint.
  const auto command = [&](const std::string& then) {
    std::string words = "touch " + (folder / "begin") + "; ";
    for (const std::string& variable : mpi_environment) words += variable + " ";
    return words + TS_MPIEXEC + " -n 2 " + TS_TSSOLVE + " " + file +
           " -k 10 --which SA --method lanczos --tol 1e-15 --max-iter 100000000 --every 0.1 --checkpoint " + state +
           " & pid=$!; while ! test " + state + " -nt " + (folder / "begin") + "; do sleep 0.1; done; " + then +
           "; wait $pid";
  };
  const Stopwatch watch;
  const auto killed =
      run_process("/bin/sh", {"-c", command("kill -KILL $(cut -d ' ' -f 2 /proc/$pid/task/$pid/children)")});
  CHECK(killed.code == 128 + SIGKILL);
  CHECK(watch.seconds() < 12);
  const auto ended = run_process("/bin/sh", {"-c", command("kill -USR1 $pid")});
  CHECK(ended.code == 128 + SIGUSR1);  // which mpirun sends on to all ranks
  CHECK(ended.out.find("stopped on request") != std::string::npos);
  const auto rest = solve_on(3,
                             {file, "-k", "10", "--which", "SA", "--method", "lanczos", "--tol", "1e-15", "--max-iter",
                              "100000000", "--checkpoint", state},
                             0);
  CHECK(rest["ranks"] == 3);
}
