// tssolve under mpirun.
#include <numeric>
#include <random>

#include "tallskinny/gemm/runtime/stopwatch.hpp"
#include "tallskinny/solvers/direct/nested_dissection.hpp"
#include "tallskinny/solvers/setup/reorder.hpp"
#include "tallskinny/tests/app/tssolve/runs.hpp"
#include "tallskinny/tests/support/mpi_run.hpp"
#include "tallskinny/tests/support/sparse_layouts.hpp"

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

TEST_CASE("matrices by columns, as pairs and as text are read by rows, with the bits of one process") {
  const TemporaryFolder folder;
  const CsrMatrix<double> lap = generators::laplacian({20, 20, 20});
  const std::string file = folder / "layouts.h5", text = folder / "half.mtx";
  {
    io::OutputFile out(file);
    write_layout(out, "columns", lap, "CSC");
    write_layout(out, "lower", lap, "CSC", "symmetric_lower");
    write_layout(out, "pairs", lap, "COOR");
    out.commit();
  }
  write_matrix_market(text, lap, "symmetric");
  const auto one =
      solve_on(1, {write_sparse(folder / "rows.h5", lap), "-k", "6", "--which", "LA", "-o", folder / "1.h5"});
  for (const std::string& matrix : {file + ":/columns", file + ":/lower", file + ":/pairs", text}) {
    CAPTURE(matrix);
    const auto three = solve_on(3, {matrix, "-k", "6", "--which", "LA", "-o", folder / "3.h5"});
    CHECK(three["ranks_work"] == "together");
    CHECK(three["eigenvalues"] == one["eigenvalues"]);
    CHECK(same_bits(folder / "1.h5", folder / "3.h5"));
  }
}

TEST_CASE("another order on ranks has the bits of one process, vectors in the order of the file, and tells its gain") {
  const TemporaryFolder folder;
  // Numbers that are shuffled.
  const CsrMatrix<double> lap = generators::laplacian({20, 20, 20});
  std::vector<index_t> order(static_cast<std::size_t>(lap.rows));
  std::iota(order.begin(), order.end(), index_t{0});
  std::mt19937_64 numbers(1);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[numbers() % i]);
  const CsrMatrix<double> a = solvers::reordered(lap, order);
  const std::string file = write_sparse(folder / "shuffled.h5", a);
  const bool has_metis = !solvers::nested_dissection(a.rows, a.pointers.data(), a.indices.data()).empty();
  Matrix<double> start(lap.rows, 2);
  for (index_t i = 0; i < 2 * lap.rows; ++i) start.data()[i] = static_cast<double>((i * 7919) % 1009) - 500;
  {
    io::OutputFile out(folder / "start.h5");
    out.write("x", start);
    out.commit();
  }
  for (const std::string kind : {"rcm", "metis"}) {
    if (kind == "metis" && !has_metis) continue;
    CAPTURE(kind);
    const Words words = {file, "-k", "6", "--which", "LA", "--reorder", kind, "--initial", folder / "start.h5", "-o"};
    const auto one = solve_on(1, with(words, {folder / "1.h5"}));
    CHECK(one["reordered"] == true);
    for (const int ranks : {2, 3}) {
      const std::string there = folder / (std::to_string(ranks) + ".h5");
      const auto found = solve_on(ranks, with(words, {there}));
      CHECK(found["ranks_work"] == "together");
      CHECK(found["reordered"] == true);
      CHECK(found["sent_bytes_new_order"].get<index_t>() < found["sent_bytes_file_order"].get<index_t>() / 4);
      for (const char* name : {"eigenvalues", "residual_norms", "iterations"}) CHECK(found[name] == one[name]);
      CHECK(same_bits(folder / "1.h5", there));
    }
  }
  // The vectors are those of the matrix as it stands in the file.
  const auto x = io::read_dense_as<double>({folder / "3.h5", "/eigenvectors"}, {});
  const auto found = io::read_vector({folder / "3.h5", "/eigenvalues"});
  for (index_t i = 0; i < a.rows; i += 97) {
    double sum = 0;
    for (index_t e = a.pointers[static_cast<std::size_t>(i)]; e < a.pointers[static_cast<std::size_t>(i) + 1]; ++e)
      sum += a.values[static_cast<std::size_t>(e)] * x(a.indices[static_cast<std::size_t>(e)], 0);
    CHECK(std::abs(sum - found[0] * x(i, 0)) < 1e-6);
  }
  const auto told = run_on_ranks(2, TS_TSSOLVE, {file, "-k", "3", "--which", "LA", "--reorder", "rcm", "--dry-run"});
  CHECK(told.code == 0);
  CHECK(told.out.find("another order by rcm: 2 ranks send") != std::string::npos);
}

TEST_CASE("an order that saves ranks nothing is not taken, which is said, and bits are those of the file's order") {
  const TemporaryFolder folder;
  const std::string file = write_sparse(folder / "line.h5", generators::laplacian({7000}));
  const Words words = {file, "-k", "3", "--which", "LA", "--method", "lanczos", "--tol", "1e-4"};
  const auto one = solve_on(1, words);
  for (const int ranks : {1, 3}) {
    const auto found = solve_on(ranks, with(words, {"--reorder", "rcm"}));
    CHECK(found["reordered"] == false);
    CHECK(found["reordering"].get<std::string>().find("the file's order stays") != std::string::npos);
    CHECK(found["eigenvalues"] == one["eigenvalues"]);
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
  const Words near = {file, "-k", "4", "--sigma", "1"};
  const auto one = solve_on(1, near), two = solve_on(2, near);
  CHECK(two["eigenvalues"] == one["eigenvalues"]);
  CHECK(two["ranks"] == 2);
  CHECK(two["ranks_work"] == "rank 0 alone: factorisations are not distributed");
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
