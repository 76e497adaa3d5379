// tssolve on several ranks: processes of mpirun, or threads of one.
#include "tallskinny/solvers/direct/nested_dissection.hpp"
#include "tallskinny/solvers/setup/reorder.hpp"
#include "tallskinny/tests/app/tssolve/on_ranks.hpp"
#include "tallskinny/tests/support/matrix_files.hpp"

TEST_CASE("eigenvalues and vectors of ranks have the bits of one process, from triangles and from whole matrices") {
  const TemporaryFolder folder;
  const std::string whole = cube(folder), half = folder / "half.h5";
  {
    io::OutputFile out(half);
    out.write_binsparse("/", generators::laplacian({20, 20, 20}), io::Structure::symmetric);
    out.commit();
  }
  const Words options = {"-k", "8", "--which", "LA", "--vectors-out", folder / "vectors.npy", "-o"};
  const auto one = solve_on(1, joined({whole}, joined(options, {folder / "1.h5"})));
  CHECK(one["ranks"] == 1);
  const std::string vectors = content_of(folder / "vectors.npy");
  for (const int ranks : {2, 3}) {
    const std::string file = folder / (std::to_string(ranks) + ".h5");
    const auto found = solve_on(ranks, joined({ranks == 2 ? whole : half}, joined(options, {file})));
    CHECK(found["ranks"] == ranks);
    CHECK(found["ranks_work"] == "together");
    check_same(found, one,
               {"eigenvalues", "residual_norms", "error_bounds", "iterations", "multiplicities", "verified"});
    CHECK(same_bits(folder / "1.h5", file));
    CHECK(content_of(folder / "vectors.npy") == vectors);
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
  const auto one = solve_on(1, {cube(folder), "-k", "6", "--which", "LA", "-o", folder / "1.h5"});
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
  write_h5(folder / "start.h5", "x", matrix_of<double>(lap.rows, 2, [](index_t i, index_t j) {
             return static_cast<double>(((2 * i + j) * 7919) % 1009) - 500;
           }));
  for (const std::string kind : {"rcm", "metis"}) {
    if (kind == "metis" && !has_metis) continue;
    CAPTURE(kind);
    const Words words = {file, "-k", "6", "--which", "LA", "--reorder", kind, "--initial", folder / "start.h5", "-o"};
    const auto one = solve_on(1, joined(words, {folder / "1.h5"}));
    CHECK(one["reordered"] == true);
    for (const int ranks : {2, 3}) {
      const std::string there = folder / (std::to_string(ranks) + ".h5");
      const auto found = solve_on(ranks, joined(words, {there}));
      CHECK(found["ranks_work"] == "together");
      CHECK(found["reordered"] == true);
      CHECK(found["sent_bytes_new_order"].get<index_t>() < found["sent_bytes_file_order"].get<index_t>() / 4);
      check_same(found, one, {"eigenvalues", "residual_norms", "iterations"});
      CHECK(same_bits(folder / "1.h5", there));
    }
  }
  // The vectors are those of the matrix as it stands in the file.
  const auto x = dense_in(folder / "3.h5:/eigenvectors");
  const double first = list_in(folder / "3.h5:/eigenvalues")[0];
  std::vector<double> residual(static_cast<std::size_t>(a.rows));
  for_each_entry(a.view(), [&](index_t i, index_t j, double value) {
    residual[static_cast<std::size_t>(i)] += (value - (i == j ? first : 0)) * x(j, 0);
  });
  CHECK(std::all_of(residual.begin(), residual.end(), [](double r) { return std::abs(r) < allowed::six_digits; }));
  const auto told = run_on_ranks(2, TS_TSSOLVE, {file, "-k", "3", "--which", "LA", "--reorder", "rcm", "--dry-run"});
  CHECK(told.code == 0);
  CHECK(mentions(told.out, "another order by rcm: 2 ranks send"));
}

TEST_CASE("an order that saves ranks nothing is not taken, which is said, and bits are those of the file's order") {
  const TemporaryFolder folder;
  const std::string file = write_sparse(folder / "line.h5", generators::laplacian({7000}));
  const Words words = {file, "-k", "3", "--which", "LA", "--method", "lanczos", "--tol", "1e-4"};
  const auto one = solve_on(1, words);
  for (const int ranks : {1, 3}) {
    const auto found = solve_on(ranks, joined(words, {"--reorder", "rcm"}));
    CHECK(found["reordered"] == false);
    CHECK(mentions(found["reordering"].get<std::string>(), "the file's order stays"));
    CHECK(found["eigenvalues"] == one["eigenvalues"]);
  }
}

TEST_CASE("rows are distributed by their entries where these are uneven") {
  const TemporaryFolder folder;
  // A band of 81 in the first 1500 rows, then a line.
  auto a = csr_by_rows<double>(7000, 7000, [&](index_t i, auto add) {
    for (index_t j = std::max<index_t>(0, i - 40); j <= std::min<index_t>(6999, i + 40); ++j)
      if (std::abs(i - j) <= 1 || std::max(i, j) < 1500)
        add(j, i == j ? 1 + 1e-3 * static_cast<double>(i) : 0.01 / static_cast<double>(std::abs(i - j)));
  });
  const Words words = {write_sparse(folder / "uneven.h5", a), "-k", "4", "--which", "LA"};
  const auto one = solve_on(1, words), three = solve_on(3, words);
  check_same(three, one, {"eigenvalues", "iterations"});
  CHECK(mentions(run_on_ranks(3, TS_TSSOLVE, words).err, "rows are distributed by their entries"));
}

TEST_CASE("what is not distributed is solved by rank 0 alone, which says why") {
  const TemporaryFolder folder;
  const Words ordered = {
      write_sparse(folder / "line.h5", generators::laplacian({7000})), "-k", "4", "--sigma", "1", "--reorder", "rcm"};
  const auto one = solve_on(1, ordered), two = solve_on(2, ordered);
  CHECK(two["eigenvalues"] == one["eigenvalues"]);
  CHECK(two["ranks"] == 2);
  CHECK(two["ranks_work"] == "rank 0 alone: --reorder beside factorisations is not distributed");
}

TEST_CASE("a plan for which all ranks read the matrix is told by one") {
  const TemporaryFolder folder;
  const Words words = {write_sparse(folder / "line.h5", generators::laplacian({7000})), "--sigma", "1", "--dry-run"};
  const auto text = run_on_ranks(2, TS_TSSOLVE, words), json = run_on_ranks(2, TS_TSSOLVE, joined(words, {"--json"}));
  INFO(text.err + json.err);
  CHECK(text.code == 0);
  CHECK(mentions(text.out, "\nfactors "));
  CHECK(text.out.find("method: ") == text.out.rfind("method: "));
  CHECK(json.code == 0);
  CHECK(nlohmann::json::parse(json.out)["ranks"] == 2);
}

TEST_CASE("near a target rank 0 factorises for all with the bits of one process, and checkpoints change ranks") {
  const TemporaryFolder folder;
  const std::string lap = cube(folder);
  const std::string torus = write_sparse(folder / "torus.h5", generators::hofstadter(85, 85, 1));
  for (const auto& [file, sigma, ranks] : {std::tuple{lap, "0.5", 3}, std::tuple{torus, "0.2", 2}}) {
    const Words near = {file, "-k", "6", "--sigma", sigma, "-o"};
    const auto one = solve_on(1, joined(near, {folder / "1.h5"}));
    const auto more = solve_on(ranks, joined(near, {folder / "more.h5"}));
    CHECK(one["verified"] == true);
    check_same(more, one, {"eigenvalues", "residual_norms", "error_bounds", "iterations", "verification", "method"});
    CHECK(std::string(more["ranks_work"]).starts_with("together, factors by rank 0"));
    if (file == lap) CHECK(same_bits(folder / "1.h5", folder / "more.h5"));
  }
  const std::string state = folder / "state.h5";
  const Words slow = {lap, "-k", "12", "--sigma", "0.5", "--block-size", "2", "--checkpoint", state};
  const auto whole = solve_on(1, slow);
  const auto part = solve_on(3, joined(slow, {"--max-iter", "3"}), 3);
  CHECK(part["iterations"] == 3);
  check_same(solve_on(2, slow), whole, {"eigenvalues", "iterations"});
}

TEST_CASE("intervals and pencils on ranks have the bits of one process") {
  const TemporaryFolder folder;
  const std::string lap = cube(folder);
  CsrMatrix<double> mass = generators::laplacian({8000});
  for (double& x : mass.values) x = x > 0 ? 4.0 / 6 : 1.0 / 6;  // of linear elements on a line
  const std::string elements = write_sparse(folder / "mass.h5", mass);
  const std::vector<std::pair<Words, std::size_t>> runs = {{{"--interval", "2.9:3.0"}, 0},
                                                           {{"-k", "5", "--sigma", "0.4", "--mass", elements}, 5},
                                                           {{"-k", "3", "--which", "LA", "--mass", elements}, 3}};
  for (const auto& [words, count] : runs) {
    const Words all = joined({lap}, words);
    const auto one = solve_on(1, joined(all, {"-o", folder / "1.h5"}));
    const auto three = solve_on(3, joined(all, {"-o", folder / "3.h5"}));
    CAPTURE(words);
    if (count > 0) CHECK(one["eigenvalues"].size() == count);
    CHECK(one["eigenvalues"].size() > 2);
    check_same(three, one, {"eigenvalues", "residual_norms", "error_bounds", "verification", "operator_applications"});
    CHECK(std::string(three["ranks_work"]).starts_with("together, factors by rank 0"));
    CHECK(same_bits(folder / "1.h5", folder / "3.h5"));
  }
}

TEST_CASE("the checkpoint of three ranks is taken up by two, with the bits of a run that was not stopped") {
  const TemporaryFolder folder;
  const Words options = {cube(folder), "-k", "6", "--which", "SA", "--method", "lanczos"};
  const auto one = solve_on(1, joined(options, {"-o", folder / "1.h5"}));
  const std::string state = folder / "state.h5";
  const auto part = solve_on(3, joined(options, {"--checkpoint", state, "--max-iter", "20"}), 3);
  CHECK(part["iterations"] == 20);
  REQUIRE(std::filesystem::exists(state));
  const auto rest = solve_on(2, joined(options, {"--checkpoint", state, "-o", folder / "2.h5"}));
  check_same(rest, one, {"eigenvalues", "iterations"});
  CHECK(same_bits(folder / "1.h5", folder / "2.h5"));
  CHECK_FALSE(std::filesystem::exists(state));
}

TEST_CASE("an error of any rank is told once, with its exit status, and ends all") {
  const TemporaryFolder folder;
  CsrMatrix<double> bad = generators::laplacian({20, 20, 20});
  bad.values.back() = std::nan("");
  const std::string file = write_sparse(folder / "bad.h5", bad);
  const auto refused = [](int ranks, const Words& words, int code, const std::string& sentence) {
    const auto r = run_on_ranks(ranks, TS_TSSOLVE, joined(words, {"-k", "3", "--quiet"}));
    INFO(r.err);
    CHECK(r.code == code);
    CHECK(r.out.empty());
    const auto said = lines_of("tssolve", r.err);
    REQUIRE(said.size() == 1);
    CHECK(said.front().starts_with("tssolve: " + sentence));
  };
  refused(3, {file}, 4, "rank 2: " + file + ":/ has NaN at row 7999");
  refused(2, {cube(folder), "--sigma", "1", "--memory", "20M"}, 1,
          "factorising A - sigma I beside what else the run needs");
  refused(2, {folder / "none.h5"}, 4, (folder / "none.h5") + " does not exist");
}
