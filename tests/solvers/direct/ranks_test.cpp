// Factors of matrices whose rows are distributed, by rank 0: the bits of one rank.
#include "tallskinny/tests/support/ranks.hpp"
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/ranks/first_rank.hpp"

using solvers::DirectBackend;

namespace {

/// Results of factors at a shift, with their errors on a block of n x 3.
template <class T>
struct Told {
  index_t below = -1;
  double error = 0, sigma = 0, norm = 0, flops = 0;
  std::string by, note;
  Matrix<T> solved;

  Told(const Context& ctx, const CsrView<T>& own, double shift, DirectBackend backend) {
    const solvers::ShiftedPencil<T> pencil(ctx, own, {}, backend);
    flops = pencil.estimate().flops, by = pencil.estimate().by, norm = pencil.norm_of_a();
    const solvers::ShiftInvert<T> inverse(pencil, shift);
    sigma = inverse.sigma(), note = inverse.note();
    const auto factors = pencil.factorised(sigma);
    below = factors->solver->negative().value_or(-1), error = factors->error;
    const auto b = matrix_of<T>(own.rows, 3, [&](index_t i, index_t j) {
      return static_cast<double>(((first_row(ctx) + i) * (j + 3)) % 7) - 3.0;
    });
    Matrix<T> wide(own.rows, 4);  // with gaps between rows
    inverse.apply(ctx, b.cview(), wide.view().cols(1, 3));
    solved = Matrix<T>::copy_of(wide.cview().cols(1, 3));
  }
  [[nodiscard]] bool same(const Told& o, index_t first) const {
    return below == o.below && error == o.error && sigma == o.sigma && norm == o.norm && flops == o.flops &&
           by == o.by && note == o.note && max_difference(o.solved, solved.cview().rows(first, o.solved.rows())) == 0;
  }
};

template <class T>
Told<T> check(const CsrMatrix<T>& a, double shift, DirectBackend backend) {
  Told<T> whole(of_rank(one_rank(), self_communicator(), a.rows), a.view(), shift, backend);
  for (const int ranks : {2, 3, 5}) {
    CAPTURE(ranks, whole.by);
    CHECK(on_slabs(one_rank(), RowSlabs::of_units(a.rows, ranks), [&](const Context& ctx) {
            const Told<T> told(ctx, own_rows(a, ctx).view(), shift, backend);
            expect(whole.same(told, first_row(ctx)), "other bits");
          }) == "");
  }
  return whole;
}

}  // namespace

TEST_CASE("rank 0 factorises and solves for ranks with the bits of one, and all know how many eigenvalues lie below") {
  const auto lap = generators::laplacian({13, 11, 9});
  const auto ring = generators::flux_ring(1301, 0.3);
  const auto of_lap = generators::laplacian_spectrum({13, 11, 9}).all();
  const auto of_ring = generators::flux_ring_spectrum(1301, 0.3).all();
  const double in_lap = 0.5 * (of_lap[40] + of_lap[41]), in_ring = 0.5 * (of_ring[600] + of_ring[601]);
  for (const DirectBackend backend : {DirectBackend::best, DirectBackend::eigen}) {
    const auto told = check<double>(lap, in_lap, backend);
    CHECK(told.below == 41);
    CHECK(told.error < allowed::tight_run);
    CHECK(told.note.empty());
  }
  CHECK(check<std::complex<double>>(ring, in_ring, DirectBackend::best).below == 601);
}

TEST_CASE("ranks move a shift that is an eigenvalue to where one rank does") {
  const auto told = check<double>(generators::laplacian({1300}), 0, DirectBackend::best);
  CHECK(told.note.empty());  // the least eigenvalue is not so near
  std::vector<double> values(1300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 650);
  const auto moved = check<double>(diagonal(values), 17, DirectBackend::best);
  CHECK(moved.sigma < 17);
  CHECK(moved.sigma > 16.99);
  CHECK(mentions(moved.note, "the shift was moved"));
}

TEST_CASE("what rank 0 cannot do alone all ranks say, and blocks go to it and come back") {
  CHECK(on_slabs(one_rank(), RowSlabs::of_units(900, 3), [](const Context& ctx) {
          solvers::first_alone(ctx, [] { throw Error(Errc::out_of_memory, "no memory on rank 0"); });
        }) == "no memory on rank 0");
  const auto told = on_slabs(one_rank(), RowSlabs::of_units(600, 2), [](const Context& ctx) {
    const auto own = own_rows(generators::identity(600), ctx);
    (void)solvers::analyse<double>(ctx, own.view(), solvers::FactorKind::ldl, DirectBackend::mumps_on_ranks);
  });
  CHECK(mentions(told, "Open MPI"));
}
