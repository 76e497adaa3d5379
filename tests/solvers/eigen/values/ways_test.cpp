#include "tallskinny/solvers/eigen/values/ways.hpp"

#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"

using namespace ts::test;
using solvers::FactorCost;
using solvers::Ways;
using solvers::ways_of;

namespace {

/// Ways to find 6 eigenvalues in blocks of 8, as the eigen-solver sizes them.
Ways ways(index_t rows, double entries, FactorCost factors = {}) {
  return ways_of({rows, entries, factors}, 6, 8, 102);
}

}  // namespace

TEST_CASE("factors are made at once where they cost less than the block steps of a slow end") {
  // Flops and entries are those of a minimum degree order.
  CHECK(ways(50000, 149998, {199997, 49999}).inverse_at_once());        // a path
  CHECK(ways(100000, 299998, {457757, 111551}).inverse_at_once());      // a tree
  CHECK_FALSE(ways(40000, 199200, {1.28e8, 1.1e6}).inverse_at_once());  // a square
  CHECK_FALSE(ways(13824, 93312, {9.4e8, 1.87e6}).inverse_at_once());   // a cube
  CHECK_FALSE(ways(20000, 178876, {3.5e10, 1.1e7}).inverse_at_once());  // a graph with hubs
  CHECK_FALSE(ways(50000, 149998).inverse_at_once());                   // where none may be made
}

TEST_CASE("block steps on polynomials cost their products, and a device takes steps sooner than the processor") {
  const Ways cube = ways(13824, 93312, {9.4e8, 1.87e6});
  CHECK(cube.filtered_step(1) == cube.krylov.step);
  CHECK(cube.filtered_step(21) == cube.krylov.step + 20 * cube.product);
  CHECK(cube.filtered(21) < cube.inverse.total());
  const Ways there = ways_of({13824, 93312, {9.4e8, 1.87e6}, 20}, 6, 8, 102);
  CHECK(there.krylov.step < cube.krylov.step);
  CHECK(there.inverse.once == cube.inverse.once);
  CHECK(std::isinf(ways(13824, 93312).inverse.total()));
}

TEST_CASE("eigenpairs of projected matrices are computed as often as they cost what block steps do") {
  const Ways small = ways(500, 1498), large = ways(1000000, 5e6);
  CHECK(Ways::steps_per_look(102, large.krylov.step) == 1);
  CHECK(Ways::steps_per_look(102, small.krylov.step) > 4);
  CHECK(Ways::steps_per_look(22, small.krylov.step) == 1);
}

TEST_CASE("LAPACK takes small matrices at once, and its cost is the budget of others") {
  CHECK(ways(200, 0).dense_at_once());
  CHECK_FALSE(ways(1000, 0).dense_at_once());
  CHECK(ways(800, 800 * 800).dense_at_once());
  CHECK_FALSE(ways(1500, 1500 * 1500).dense_at_once());
  CHECK(ways(500, 0).steps_of_dense() < ways(1000, 0).steps_of_dense());
  CHECK(ways(1000, 0).steps_of_dense() < 300);
  CHECK(ways(4000, 0).steps_of_dense() > 1000);
}

TEST_CASE("near a target LAPACK takes what fills its factors, and an inverse what does not") {
  CHECK_FALSE(ways(900, 4380, {1.5e6, 2.1e4}).dense_beside_inverse());  // a square
  CHECK(ways(512, 4608, {1.5e7, 6e4}).dense_beside_inverse());          // a hypercube
  CHECK(ways(1200, 0, {5.8e8, 7.2e5}).dense_beside_inverse());          // a dense matrix
  CHECK_FALSE(ways(10000, 49600, {2e7, 2e5}).dense_beside_inverse());
}

TEST_CASE("counts are left out where they would cost as much as a search that is its own witness") {
  const Ways path = ways(50000, 149998, {199997, 49999}), cube = ways(13824, 93312, {9.4e8, 1.87e6});
  CHECK(path.counts_cost_little(true, 11));
  CHECK(path.counts_cost_little(false, 11));
  CHECK_FALSE(cube.counts_cost_little(true, 11));
  CHECK(cube.counts_cost_little(true, 1000));
  CHECK_FALSE(ways(13824, 93312).counts_cost_little(false, 1000));
}

TEST_CASE("slow ends of matrices whose factors are cheap take few block steps") {
  // The lowest value of many copies, of which the end of the set cuts some; an end far from Gershgorin's bound; and a
  // definite matrix whose lowest values are 1e-9 of the norm.
  const auto copies = generators::laplacian_copies(47, 22);
  const auto by_files = [](const CsrMatrix<double>& a, const EigenOptions& options) {
    const solvers::AnyView<double> view(a.view());
    const auto assembled = solvers::assemble<double>(Context{}, view, {}, {}, {solvers::Factorise::cheap});
    return solvers::solve_eigen<double>(Context{}, assembled.problem, options);
  };
  for (const index_t nev : {16, 24}) {
    const auto r = by_files(copies, options_for(nev, Which::SA));
    INFO(r.reason);
    CHECK(r.verified);
    CHECK(r.iterations < 60);
    check_values(r.values, generators::laplacian_copies_spectrum(47, 22).smallest(nev), allowed::fine_run);
  }
  const auto line = by_files(generators::laplacian({20000}), options_for(6, Which::SA));
  CHECK(line.verified);
  CHECK(line.iterations < 30);
  check_values(line.values, generators::laplacian_spectrum({20000}).smallest(6), allowed::fine_run);
  const auto both = by_files(generators::clement(801), options_for(6, Which::LM));
  CHECK(both.verified);
  CHECK(both.shift.has_value());
  CHECK(both.high_shift.has_value());
  CHECK(both.iterations < 80);
}
