// eigsh() of rows that are distributed over ranks.
#include "tallskinny/tests/support/ranks.hpp"
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"

using solvers::eigsh, solvers::EigshOptions, solvers::EigshResult, solvers::Which;

namespace {

constexpr index_t wanted = 4;

/// The results of each rank, which gives its rows of A and, unless that is empty, of M.
std::vector<EigshResult<double>> of_ranks(int ranks, const CsrMatrix<double>& a, const EigshOptions<double>& options,
                                          const CsrMatrix<double>& mass = {}) {
  std::vector<EigshResult<double>> found(static_cast<std::size_t>(ranks));
  run_on_threads(ranks, [&](const Shared& c) {
    const Context ctx = of_rank(one_rank(), c, a.rows);
    const CsrMatrix<double> own = own_rows(a, ctx);
    const CsrMatrix<double> own_mass = mass.rows > 0 ? own_rows(mass, ctx) : CsrMatrix<double>();
    EigshOptions<double> o = options;
    if (mass.rows > 0) o.mass = own_mass.view();
    found[static_cast<std::size_t>(c->rank())] = eigsh(ctx, own, wanted, o);
  });
  return found;
}

/// Ranks find what one finds with the whole matrix, and all of them the same.
void check_ranks(const CsrMatrix<double>& a, EigshOptions<double> options, const CsrMatrix<double>& mass = {}) {
  const auto two = of_ranks(2, a, options, mass), three = of_ranks(3, a, options, mass);
  if (mass.rows > 0) options.mass = mass.view();
  const auto whole = eigsh(one_rank(), a, wanted, options);
  INFO(whole.reason << two[0].reason);
  CHECK((whole.verified && two[0].verified));
  REQUIRE((whole.values.size() == wanted && two[0].values.size() == wanted));
  for (std::size_t j = 0; j < wanted; ++j)
    CHECK(std::abs(two[0].values[j] - whole.values[j]) <= allowed::default_run * whole.norm);
  index_t rows = 0;
  for (const auto* all : {&two, &three})
    for (const auto& one : *all) {
      CHECK(one.values == two[0].values);
      CHECK(one.backward_errors == two[0].backward_errors);
      CHECK((one.asymmetry == whole.asymmetry && one.note == whole.note));
      CHECK(one.vectors.cols() == wanted);
      rows += one.vectors.rows();
    }
  CHECK(rows == 2 * a.rows);
}

EigshOptions<double> ends(Which which) {
  EigshOptions<double> options;
  options.which = which;
  return options;
}

}  // namespace

TEST_CASE("eigsh of rows on ranks: an end of the spectrum, a target, a mass matrix") {
  const auto a = generators::laplacian({45, 45});
  check_ranks(a, ends(Which::LA));
  auto near = ends(Which::SM);
  near.sigma = 1.5;
  check_ranks(a, near);
  std::vector<double> weights(at(a.rows));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 1 + static_cast<double>(i % 5);
  check_ranks(a, ends(Which::LA), test::diagonal(weights));
}

TEST_CASE("eigsh of rows on ranks: extreme numbers, and the Hermitian part of what rounding left") {
  auto tiny = generators::laplacian({45, 45});
  for (double& x : tiny.values) x = std::ldexp(x, -900);
  check_ranks(tiny, ends(Which::LA));
  auto rounded = generators::laplacian({45, 45});
  rounded.values[1] += 1e-13;
  check_ranks(rounded, ends(Which::LA));
  rounded.values[1] = 7;
  CHECK(mentions(message_of([&] { (void)of_ranks(2, rounded, ends(Which::LA)); }),
                 "entry (0, 1) is 7 but entry (1, 0) is -1"));
}
