// Level gpu_to_gpu: the bits of sums over rows do not depend on how many slabs the rows are distributed over,
// nor on threads or the size of a GPU.
#include "tallskinny/tests/support/engine.hpp"
#include "tallskinny/tests/support/sums_over_rows.hpp"

namespace {

struct Shape {
  index_t n, p, q;
};
constexpr Shape shapes[] = {{1, 1, 1}, {300, 3, 2}, {5003, 8, 8}, {20011, 33, 5}, {40001, 1, 1}};

Context gpu_to_gpu(int threads) {
  Context ctx = fast_context(Simd::best, threads);
  ctx.determinism = Determinism::gpu_to_gpu;
  return ctx;
}

}  // namespace

TEMPLATE_TEST_CASE("on the processor the bits of 1, 2, 3 and 7 slabs are those of the whole", "", TS_ALL_TYPES) {
  for (const Shape& shape : shapes)
    for (std::size_t form = 0; form < 3; ++form) {
      CAPTURE(shape.n, shape.p, shape.q, form);
      const SumsOverRows<TestType> sums(shape.n, shape.p, shape.q, form_number(form));
      check_slabs(gpu_to_gpu(1), sums);
      CHECK(sums.bits_of_whole(gpu_to_gpu(3)) == sums.bits_of_whole(gpu_to_gpu(1)));
    }
}

TEST_CASE("norms of numbers whose squares overflow or vanish are the same in slabs") {
  const index_t n = 3000;
  for (const double size : {1e300, 1e-300, 0.0}) {
    std::vector<double> x(static_cast<std::size_t>(n), size);
    x[7] = 1;
    Context ctx = gpu_to_gpu(1);
    double whole = 0, of_slabs = 0;
    column_norms(ctx, HostView<const double>(x.data(), n, 1), std::span<double>(&whole, 1));
    const auto collector = std::make_shared<SlabCollector>(2);
    ctx.communicator = collector, ctx.slabs = RowSlabs::of_units(n, 2);
    for (int slab = 0; slab < 2; ++slab) {
      collector->begin(slab);
      column_norms(ctx, HostView<const double>(x.data() + ctx.slabs.begin(slab), ctx.slabs.rows(slab), 1),
                   std::span<double>(&of_slabs, 1));
    }
    CHECK(of_slabs == whole);
    const double exact = size == 1e300 ? 1e300 * std::sqrt(static_cast<double>(n - 1)) : 1;
    CHECK(whole == Approx(exact).epsilon(allowed::short_sum));
  }
}

TEST_CASE("at level run_to_run slabs may begin anywhere, and the sums are right") {
  const index_t n = 1000;
  const std::vector<double> ones(static_cast<std::size_t>(n), 1);
  Context ctx{.slabs = RowSlabs({0, 17, 17, n})};
  const auto collector = std::make_shared<SlabCollector>(3);
  ctx.communicator = collector;
  double sum = 5;
  for (int slab = 0; slab < 3; ++slab) {
    CHECK(sum == 5);
    collector->begin(slab);
    gram(ctx, Op::transpose, 1.0, HostView<const double>(ones.data(), ctx.slabs.rows(slab), 1), 2.0,
         HostView<double>(&sum, 1, 1));
  }
  CHECK(sum == 1010);
}

TEST_CASE("slabs that cannot keep the bits are refused") {
  const index_t n = 10000;
  const std::vector<double> ones(static_cast<std::size_t>(n), 1);
  double sum = 0;
  Context ctx = gpu_to_gpu(1);
  ctx.communicator = std::make_shared<SlabCollector>(2);
  const auto run = [&](index_t rows) {
    gram(ctx, Op::transpose, 1.0, HostView<const double>(ones.data(), rows, 1), 0.0, HostView<double>(&sum, 1, 1));
  };
  expect_misuse([&] { run(n); }, {"gram", "slabs", "2 ranks"});
  ctx.slabs = RowSlabs({0, 5000, n});
  expect_misuse([&] { run(5000); }, {"gram", "multiples of 512", "5000"});
  ctx.slabs = RowSlabs::of_units(n, 2);
  expect_misuse([&] { run(5000); }, {"gram", "5000 rows", "slab of rank 0 has 5120"});
  ctx.implementation = Implementation::reference;
  expect_misuse([&] { run(5120); }, {"gram", "reference"});
  CHECK_THROWS_AS(RowSlabs({0, 3, 2}), Error);
  CHECK_THROWS_AS(RowSlabs({1, 3}), Error);
}

TEST_CASE("slabs of units cover all rows, as evenly as units allow") {
  for (const index_t n : {0, 1, 255, 256, 257, 6144, 6145, 1000003})
    for (const int count : {1, 2, 3, 7, 24, 30}) {
      const RowSlabs slabs = RowSlabs::of_units(n, count);
      CHECK(slabs.slabs() == count);
      CHECK(slabs.rows() == n);
      for (int slab = 0; slab < count; ++slab) {
        CHECK((slabs.begin(slab) % row_unit(n) == 0 || slabs.begin(slab) == n));
        CHECK(slabs.rows(slab) <= (24 / count + 1) * row_unit(n));
      }
    }
}
