// Hermitian eigen-solvers on several ranks: the bits of one rank.
#include "tallskinny/tests/solvers/eigen/ranks.hpp"
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/solvers/setup/preconditioners.hpp"

using solvers::Precision;

TEST_CASE("block Lanczos on ranks: repeated eigenvalues, both ends, ranks without rows") {
  const Case<double> square(generators::laplacian({45, 45}));
  CHECK(RowSlabs::of_units(square.n(), 8).rows(7) > 0);
  check_ranks(square, seeded_options(8, Which::LA, Method::automatic));
  auto wide = seeded_options(7, Which::BE, Method::automatic);
  wide.max_basis = 170;  // where LAPACK solves the projected problems
  check_ranks(square, wide, {3});
  check_ranks(square, seeded_options(6, Which::LM, Method::lanczos), {4});
  const Case<double> small(generators::laplacian({40, 26}));
  CHECK(RowSlabs::of_units(small.n(), 8).rows(0) == 0);
  check_ranks(small, seeded_options(6, Which::LA, Method::lanczos), {8});
}

TEST_CASE("fresh random blocks on ranks find the same missing copies") {
  const Case<double> copies = ten_copies();
  const auto o = ten_copies_options();
  const auto whole = check_ranks(copies, o, {2, 3, 8});
  CHECK(whole.verification_rounds > 1);  // and one of them brought something
  CHECK(whole.verification == solvers::Verification::random_block);
}

TEST_CASE("at level run_to_run ranks agree with each other, and with one to rounding") {
  const Case<double> square(generators::laplacian({40, 40}));
  const auto o = seeded_options(6, Which::LA, Method::lanczos);
  const auto whole = solvers::solve_eigen<double>(Context{}, square.problem(Context{}), o);
  const auto found = on_ranks<double>(3, square.n(), [&](Context ctx, int) {
    ctx.determinism = Determinism::run_to_run;
    return solvers::solve_eigen<double>(ctx, square.problem(ctx), o);
  });
  for (const auto& one : found) {
    CHECK(one.verified);
    CHECK(same_bits(one.values, found.front().values));
    REQUIRE(one.values.size() == whole.values.size());
    for (std::size_t j = 0; j < whole.values.size(); ++j)
      CHECK(one.values[j] == Approx(whole.values[j]).epsilon(allowed::many_steps));
  }
}

TEST_CASE("complex matrices on ranks") {
  const Case<std::complex<double>> torus(generators::hofstadter(35, 35, 1));
  check_ranks(torus, seeded_options(6, Which::LA, Method::automatic), {2, 4});
  check_ranks(torus, seeded_options(4, Which::SA, Method::lobpcg), {3});
}

TEST_CASE("a Chebyshev filter on ranks") {
  const Case<double> square(generators::laplacian({60, 60}));
  const auto whole = check_ranks(square, seeded_options(6, Which::SA, Method::chebyshev), {2, 3, 8});
  CHECK(whole.filter_degree > 0);
}

TEST_CASE("LOBPCG and Davidson on ranks, with a preconditioner and without") {
  Case<double> square(generators::laplacian({36, 36}));
  for (const Method method : {Method::lobpcg, Method::davidson}) {
    square.preconditioner = {};
    check_ranks(square, seeded_options(5, Which::LA, method), {3});
    square.preconditioner = generators::identity(square.n());
    change_entries(square.preconditioner, [](index_t i, index_t, double& x) { x += 0.1 * static_cast<double>(i % 3); });
    check_ranks(square, seeded_options(5, Which::LA, method), {8});
  }
  auto o = seeded_options(2, Which::LA, Method::davidson);
  o.block_size = 1;  // a column within a basis: with gaps between its elements
  check_ranks(Case<double>(generators::laplacian({30, 40})), o, {3});
}

TEST_CASE("LOBPCG ends on all ranks when one is told to") {
  const Case<double> square(generators::laplacian({36, 36}));
  const auto found = on_ranks<double>(3, square.n(), [&](const Context& ctx, int rank) {
    auto o = seeded_options(5, Which::LA, Method::lobpcg);
    int steps = 0;
    if (rank == 1) o.stop = [&steps] { return steps++ >= 4; };
    return solvers::solve_eigen<double>(ctx, square.problem(ctx), o);
  });
  for (const auto& one : found) {
    CHECK(one.stop == solvers::StopReason::interrupted);
    CHECK(one.iterations == found.front().iterations);
  }
}

TEST_CASE("a warm start on ranks, and through an inverse that every rank has") {
  const index_t n = 1100;
  const Case<double> line(generators::laplacian({n}));
  const auto start =
      matrix_of<double>(n, 3, [](index_t i, index_t j) { return std::sin(static_cast<double>((i + 1) * (j + 2))); });
  const auto o = seeded_options(4, Which::SM, Method::lanczos);
  const solvers::ShiftInvert<double> factor(line.matrix.view(), 1.7);
  const auto solve = [&](const Context& ctx, int) {
    auto problem = line.problem(ctx);
    problem.target = 1.7, problem.shift = factor.sigma();
    problem.inverse = ctx.communicator->size() == 1
                          ? solvers::Operator<double>(factor)
                          : solvers::Operator<double>(solvers::OnAllRows<double>(ctx, factor));
    const auto here = start.cview().rows(first_row(ctx), problem.a.rows());
    return solvers::solve_eigen<double>(ctx, problem, o, here);
  };
  const auto whole = solve(one_rank(), 0);
  CHECK(whole.converged);
  check_all<double>(whole, on_ranks<double>(3, n, solve), n);
}

TEST_CASE("ranks seek near a target through factors of rank 0, and agree that the set is complete") {
  const auto solve = [](const auto& whole, double target, const auto& options) {
    using T = typename std::decay_t<decltype(whole)>::value_type;
    return [&whole, target, options](const Context& ctx, int) {
      const solvers::AnyMatrix<T> own(ctx.communicator->size() == 1 ? whole : own_rows(whole, ctx));
      const auto assembled = solvers::assemble<T>(ctx, own, std::nullopt, target, {solvers::Factorise::needed});
      return solvers::solve_eigen<T>(ctx, assembled.problem, options);
    };
  };
  auto o = seeded_options(9, Which::LM, Method::automatic);
  const auto lap = generators::laplacian({12, 12, 12});
  const auto near = solve(lap, 1.5, o);
  const auto one = near(one_rank(), 0);
  CHECK(one.verified);
  check_values(one.values, generators::laplacian_spectrum({12, 12, 12}).nearest(1.5, 9), allowed::tight_run * 1.5);
  for (const int ranks : {2, 3, 5}) check_all<double>(one, on_ranks<double>(ranks, lap.rows, near), lap.rows);

  const auto torus = generators::hofstadter(35, 35, 1);
  o.which = Which::LA, o.nev = 5;  // on one side
  const auto above = solve(torus, 0.3, o);
  using Complex = std::complex<double>;
  const auto whole = above(one_rank(), 0);
  CHECK(whole.verified);
  check_all<Complex>(whole, on_ranks<Complex>(3, torus.rows, above), torus.rows);
}

TEST_CASE("what ranks cannot do is refused in a sentence") {
  const auto refusal = [](index_t n, const EigenOptions& o, bool whole_slabs) {
    const auto a = generators::identity(n);
    return message_of([&] {
      run_on_threads(2, [&](const Shared& c) {
        Context ctx = of_rank(one_rank(), c, n);
        const solvers::OnAllRows<double> op(ctx, solvers::CsrOperator<double>(a.view()));
        if (!whole_slabs) ctx.slabs = {};
        (void)solvers::solve_eigen<double>(ctx, {op}, o);
      });
    });
  };
  auto o = seeded_options(3, Which::LA, Method::lanczos);
  CHECK(refusal(900, o, true).find("a matrix of up to 1000 rows") == 0);
  CHECK(refusal(2000, o, false).find("Context::slabs must say") == 0);
  o.max_iterations = 50;
  CHECK(refusal(900, o, true).empty());
  o.spills = true;
  CHECK(refusal(900, o, true).find("a basis that spills into host memory works on one rank") == 0);
  o = seeded_options(3, Which::LA, Method::automatic);
  CHECK(refusal(200, o, true).find("the dense solver works on one rank") == 0);
}

TEST_CASE("float32 and mixed precision on ranks") {
  const Case<double> square(generators::laplacian({40, 40}));
  auto o = seeded_options(6, Which::LA, Method::lanczos);
  o.precision = Precision::mixed;
  check_ranks(square, o, {2, 8});
  o.precision = Precision::float32, o.tol = 1e-5;
  check_ranks(square, o, {3});
}

TEST_CASE("preconditioners that ranks build together") {
  // A diagonal that no rank knows all of: the least element counts as u times the largest of all.
  const index_t n = 1300;
  std::vector<double> diagonal(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < diagonal.size(); ++i) diagonal[i] = 1 + static_cast<double>(i % 7);
  diagonal[3] = 1e-30, diagonal[1290] = 1e6;
  const solvers::Operator<double> whole = solvers::jacobi<double>(one_rank(), diagonal);
  const auto ones = matrix_of<double>(n, 1, [](index_t, index_t) { return 1; });
  Matrix<double> expected(n, 1), got(n, 1);
  whole.apply(one_rank(), ones.cview(), expected.view());
  std::vector<solvers::WantedEnd> ends(8);
  run_on_threads(8, [&](const Shared& c) {
    const Context ctx = of_rank(one_rank(), c, n);
    const index_t first = first_row(ctx), rows = ctx.slabs.rows(c->rank());
    const std::vector<double> here(diagonal.begin() + first, diagonal.begin() + first + rows);
    const auto part = solvers::jacobi<double>(ctx, here);
    part.apply(ctx, ones.cview().rows(first, rows), got.view().rows(first, rows));
    auto shifted = here;
    for (double& d : shifted) d -= 5e5;  // positive on one rank alone
    const double low = rows == 0 ? solvers::inf : *std::min_element(shifted.begin(), shifted.end());
    const double high = rows == 0 ? -solvers::inf : *std::max_element(shifted.begin(), shifted.end());
    ends[static_cast<std::size_t>(c->rank())] = solvers::positive_end(ctx, shifted, low, high, Which::SA);
  });
  for (index_t i = 0; i < n; ++i) CHECK(got(i, 0) == expected(i, 0));
  for (const auto& end : ends) CHECK(end.shift == 5e5);

  Case<double> square(generators::laplacian({36, 36}));
  const auto o = seeded_options(4, Which::SA, Method::davidson);
  const auto solve = [&](const Context& ctx, int) {
    auto problem = square.problem(ctx);
    problem.preconditioner = solvers::ChebyshevInverse<double>(ctx, problem.a, Which::SA);
    return solvers::solve_eigen<double>(ctx, problem, o);
  };
  check_all<double>(solve(one_rank(), 0), on_ranks<double>(3, square.n(), solve), square.n());
}

TEST_CASE("ranks that share a GPU give the bits of one", "[device][gpu]") {
  const auto a = generators::laplacian({45, 45});
  const auto solve = [&](Context ctx, const EigenOptions& o) {
    ctx.stream = cuda::Stream(0);
    const DeviceCsrMatrix<double> there(ctx.stream, a.view());
    const solvers::OnAllRows<double> op(ctx, solvers::CsrOperator<double>(a.view(), there.view()));
    return solvers::solve_eigen<double>(ctx, {op}, o);
  };
  for (const auto& o : {seeded_options(8, Which::LA, Method::lanczos), seeded_options(6, Which::SA, Method::chebyshev),
                        seeded_options(5, Which::LA, Method::lobpcg)}) {
    const auto whole = solve(one_rank(), o);
    CHECK(whole.verified);
    for (const int ranks : {2, 8})
      check_all<double>(whole, on_ranks<double>(ranks, a.rows, [&](const Context& ctx, int) { return solve(ctx, o); }),
                        a.rows);
  }
}

// States of runs on several ranks: who ends a run, and who goes on with it.

namespace {

template <class T>
Matrix<T> below_each_other(const std::vector<HostView<const T>>& parts) {
  std::vector<T> rows;
  for (const auto& p : parts)
    for (index_t i = 0; i < p.rows(); ++i)
      for (index_t j = 0; j < p.cols(); ++j) rows.push_back(p(i, j));
  const index_t cols = parts.front().cols();
  return Matrix<T>::copy_of(HostView<const T>(rows.data(), std::ssize(rows) / std::max<index_t>(cols, 1), cols, cols));
}

/// Joins the states that ranks stored into the state of all rows.
template <class T>
Stored<T> joined(const std::vector<std::optional<Stored<T>>>& of_ranks) {
  Stored<T> all(of_ranks.front()->state);
  std::vector<HostView<const T>> parts;
  for (const auto& one : of_ranks) parts.push_back(one->state.basis);
  all.basis = below_each_other(parts);
  all.state.basis = all.basis.cview();
  for (const std::size_t k : all.state.tall) {
    parts.clear();
    for (const auto& one : of_ranks) parts.push_back(one->state.matrices[k].cview());
    all.state.matrices[k] = below_each_other(parts);
  }
  return all;
}

/// A rank's part of the state of all rows.
template <class T>
Stored<T> part_of(const Stored<T>& all, const Context& ctx) {
  Stored<T> part(all.state);
  if (ctx.communicator->size() == 1) return part;
  const index_t first = first_row(ctx), rows = ctx.slabs.rows(ctx.communicator->rank());
  part.basis = Matrix<T>::copy_of(all.state.basis.rows(first, rows));
  part.state.basis = part.basis.cview();
  for (const std::size_t k : all.state.tall)
    if (const auto& m = all.state.matrices[k]; m.rows() > 0)
      part.state.matrices[k] = Matrix<T>::copy_of(m.cview().rows(first, rows));
  return part;
}

/// States that `ranks` ranks store after so many progress calls in a phase, which one rank alone takes for the end.
template <class T>
Stored<T> stored_by(int ranks, const Case<T>& c, const EigenOptions& options, std::string_view phase, int most) {
  std::vector<std::optional<Stored<T>>> stored(static_cast<std::size_t>(ranks));
  const auto found = on_ranks<T>(ranks, c.n(), [&](const Context& ctx, int rank) {
    auto o = options;
    int looks = 0;
    o.progress = [&](const solvers::Progress& p) { looks += p.phase == phase ? 1 : 0; };
    if (rank == ranks - 1) o.stop = [&] { return looks >= most; };
    solvers::Checkpointing<T> checkpointing;
    checkpointing.write = [&](const solvers::SavedState<T>& s) { stored[static_cast<std::size_t>(rank)].emplace(s); };
    return solvers::solve_eigen<T>(ctx, c.problem(ctx), o, {}, checkpointing);
  });
  for (const auto& one : found) {
    CHECK(one.stop == solvers::StopReason::interrupted);
    CHECK(one.iterations == found.front().iterations);
  }
  return joined(stored);
}

/// Stored by ranks, taken up by others: the bits of a run that was never interrupted.
template <class T>
void check_resumed(const Case<T>& c, const EigenOptions& options, std::string_view phase, int most) {
  const auto whole = solvers::solve_eigen<T>(one_rank(), c.problem(one_rank()), options);
  const Stored<T> stored = stored_by<T>(3, c, options, phase, most);
  const auto resume = [&](const Context& ctx, int) {
    const Stored<T> here = part_of(stored, ctx);
    solvers::Checkpointing<T> checkpointing{.resume = &here.state};
    return solvers::solve_eigen<T>(ctx, c.problem(ctx), options, {}, checkpointing);
  };
  check_all<T>(whole, on_ranks<T>(2, c.n(), resume), c.n());
  CHECK(difference(whole, resume(one_rank(), 0), 0) == "");
}

}  // namespace

TEST_CASE("one rank alone ends all, and another number of ranks goes on from what they stored") {
  const Case<double> square(generators::laplacian({45, 45}));
  check_resumed(square, seeded_options(8, Which::LA, Method::lanczos), "search", 2);
  check_resumed(square, seeded_options(6, Which::SA, Method::chebyshev), "search", 4);
  const Case<double> copies = ten_copies();
  const auto o = ten_copies_options();
  const Stored<double> verifying = stored_by<double>(2, copies, o, "verify", 2);
  REQUIRE(verifying.state.tall.size() == 1);
  CHECK(verifying.state.matrices[verifying.state.tall.front()].rows() == copies.n());
  check_resumed(copies, o, "verify", 2);
}
