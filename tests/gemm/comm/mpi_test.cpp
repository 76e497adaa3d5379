// Run by mpirun: every rank computes sums over rows of its slab and compares them with those of the whole.
#include "tallskinny/gemm/comm/mpi_communicator.hpp"

#include "tallskinny/tests/support/engine.hpp"
#include "tallskinny/tests/support/gather.hpp"
#include "tallskinny/tests/support/sums_over_rows.hpp"

namespace {

Context of_all_ranks(Determinism level) {
  static const MpiSession mpi;
  Context ctx = fast_context(Simd::best, 2);
  ctx.determinism = level;
  ctx.communicator = mpi.world();
  return ctx;
}

}  // namespace

TEMPLATE_TEST_CASE("on all ranks the bits of sums over rows are those of one process", "", TS_ALL_TYPES) {
  Context ctx = of_all_ranks(Determinism::gpu_to_gpu), alone = fast_context();
  alone.determinism = Determinism::gpu_to_gpu;
  REQUIRE(ctx.communicator->size() > 1);
  for (const index_t n : {1, 300, 20011})
    for (std::size_t form = 0; form < 3; ++form) {
      CAPTURE(n, form);
      const SumsOverRows<TestType> sums(n, 9, 4, form_number(form));
      ctx.slabs = RowSlabs::of_units(n, ctx.communicator->size());
      const int rank = ctx.communicator->rank();
      // project_out has updated no more than this rank's rows: what is compared are the sums.
      CHECK(sums.bits_of_slab(ctx, ctx.slabs.begin(rank), ctx.slabs.rows(rank)) == sums.bits_of_whole(alone));
    }
}

TEST_CASE("at level run_to_run every rank brings rows of its own, and all get the same sum") {
  const Context ctx = of_all_ranks(Determinism::run_to_run);
  const index_t rows = 10 * ctx.communicator->rank();  // none on rank 0
  const std::vector<double> ones(static_cast<std::size_t>(rows), 1);
  double sum = 0, norm = 0;
  const HostView<const double> x(ones.data(), rows, 1);
  gram(ctx, Op::transpose, 1.0, x, 0.0, HostView<double>(&sum, 1, 1));
  column_norms(ctx, x, std::span<double>(&norm, 1));
  const int size = ctx.communicator->size();
  CHECK(sum == 5 * size * (size - 1));
  CHECK(norm == std::sqrt(sum));
}

TEST_CASE("parts of any lengths are gathered, empty ones too, sent and added") {
  const Context ctx = of_all_ranks(Determinism::run_to_run);
  CHECK(gathers_parts(*ctx.communicator));
  CHECK(exchanges_and_adds(*ctx.communicator));
}
