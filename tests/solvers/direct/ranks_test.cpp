// Factors of matrices whose rows are distributed, by rank 0: the bits of one rank.
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/ranks/first_rank.hpp"
#include "tallskinny/tests/solvers/ranks/own_rows.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::test;
using solvers::DirectBody;

namespace {

using Shared = std::shared_ptr<Communicator>;

Context of_ranks(const Shared& communicator, index_t n) {
  Context ctx{.threads = 1, .determinism = Determinism::gpu_to_gpu};
  ctx.communicator = communicator, ctx.slabs = RowSlabs::of_units(n, communicator->size());
  return ctx;
}

/// What factors at a shift tell, and what they make of a block of n x 3.
template <class T>
struct Told {
  index_t below = -1;
  double error = 0, sigma = 0, norm = 0, flops = 0;
  std::string by, note;
  Matrix<T> solved;

  Told(const Context& ctx, const CsrView<T>& own, double shift, DirectBody body) {
    const solvers::ShiftedPencil<T> pencil(ctx, own, {}, body);
    flops = pencil.estimate().flops, by = pencil.estimate().by, norm = pencil.norm_of_a();
    const solvers::ShiftInvert<T> inverse(pencil, shift);
    sigma = inverse.sigma(), note = inverse.note();
    const auto factors = pencil.factorised(sigma);
    below = factors->solver->negative().value_or(-1), error = factors->error;
    Matrix<T> b(own.rows, 3);
    for (index_t i = 0; i < own.rows; ++i)
      for (index_t j = 0; j < 3; ++j) b(i, j) = static_cast<double>(((first_row(ctx) + i) * (j + 3)) % 7) - 3.0;
    Matrix<T> wide(own.rows, 4);  // with gaps between rows
    inverse.apply(ctx, b.cview(), wide.view().cols(1, 3));
    solved = Matrix<T>::copy_of(wide.cview().cols(1, 3));
  }
  [[nodiscard]] bool same(const Told& o, index_t first) const {
    bool equal = below == o.below && error == o.error && sigma == o.sigma && norm == o.norm && flops == o.flops &&
                 by == o.by && note == o.note;
    for (index_t i = 0; i < o.solved.rows(); ++i)
      for (index_t j = 0; j < 3; ++j) equal = equal && solved(first + i, j) == o.solved(i, j);
    return equal;
  }
};

template <class T>
Told<T> check(const CsrMatrix<T>& a, double shift, DirectBody body) {
  Told<T> whole(of_ranks(self_communicator(), a.rows), a.view(), shift, body);
  for (const int ranks : {2, 3, 5}) {
    std::mutex one_at_a_time;
    int same = 0;
    run_on_threads(ranks, [&](const Shared& c) {
      const Context ctx = of_ranks(c, a.rows);
      const Told<T> told(ctx, own_rows(a, ctx).view(), shift, body);
      const std::lock_guard lock(one_at_a_time);
      same += whole.same(told, first_row(ctx)) ? 1 : 0;
    });
    CAPTURE(ranks, whole.by);
    CHECK(same == ranks);
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
  for (const DirectBody body : {DirectBody::best, DirectBody::eigen}) {
    const auto told = check<double>(lap, in_lap, body);
    CHECK(told.below == 41);
    CHECK(told.error < allowed::tight_run);
    CHECK(told.note.empty());
  }
  CHECK(check<std::complex<double>>(ring, in_ring, DirectBody::best).below == 601);
}

TEST_CASE("ranks move a shift that is an eigenvalue to where one rank does") {
  const auto told = check<double>(generators::laplacian({1300}), 0, DirectBody::best);
  CHECK(told.note.empty());  // the least eigenvalue is not so near
  CsrMatrix<double> diagonal = generators::identity(1300);
  for (std::size_t i = 0; i < diagonal.values.size(); ++i) diagonal.values[i] = static_cast<double>(i % 650);
  const auto moved = check<double>(diagonal, 17, DirectBody::best);
  CHECK(moved.sigma < 17);
  CHECK(moved.sigma > 16.99);
  CHECK(mentions(moved.note, "the shift was moved"));
}

TEST_CASE("what rank 0 cannot do alone all ranks say, and blocks go to it and come back") {
  const auto said = message_of([] {
    run_on_threads(3, [](const Shared& c) {
      solvers::first_alone(of_ranks(c, 900), [] { throw Error(Errc::out_of_memory, "no memory on rank 0"); });
    });
  });
  CHECK(said == "no memory on rank 0");
  const auto told = message_of([] {
    run_on_threads(2, [](const Shared& c) {
      const Context ctx = of_ranks(c, 600);
      const auto a = generators::identity(600);
      (void)solvers::analyse<double>(ctx, own_rows(a, ctx).view(), solvers::FactorKind::ldl,
                                     DirectBody::mumps_on_ranks);
    });
  });
  CHECK(mentions(told, "Open MPI"));
}
