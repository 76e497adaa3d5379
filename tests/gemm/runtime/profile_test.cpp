#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

constexpr Roofs slow{1e3, 1e3, 1e3, 1e3};  ///< roofs that every machine is far above

const WorkDone* find(const std::vector<WorkDone>& work, std::string_view what) {
  for (const WorkDone& w : work)
    if (w.what == what) return &w;
  return nullptr;
}

/// Every operation once, on blocks of ones.
void run_all(const Context& ctx) {
  const index_t n = 300, p = 5, q = 3;
  const auto ones = [](index_t rows, index_t cols) {
    Matrix<double> m(rows, cols);
    std::fill_n(m.data(), rows * cols, 1.0);
    return m;
  };
  auto v = ones(n, p), w = ones(n, q), s = ones(p, q), g = ones(q, q), h = ones(p, p), d = ones(4, n);
  auto y = ones(4, q);
  CsrMatrix<double> a{.rows = 2, .cols = n, .pointers = {0, 1, 3}, .indices = {0, 1, 2}, .values = {1, 1, 1}};
  auto z = ones(2, q);
  tsmttsm(ctx, Op::adjoint, 1.0, v.cview(), w.cview(), 0.0, s.view());
  gram(ctx, Op::adjoint, 1.0, w.cview(), 0.0, g.view());
  tsmm(ctx, Op::none, 1.0, v.cview(), s.cview(), 1.0, w.view());
  tsmm_in_place(ctx, Op::none, 1.0, v.view(), s.cview());
  tsm2r(ctx, Op::none, 1.0, d.cview(), w.cview(), 0.0, y.view());
  spmm(ctx, Op::none, 1.0, a.view(), w.cview(), 0.0, z.view());
  inner_and_gram(ctx, v.cview(), w.cview(), s.view(), g.view());
  project_out(ctx, v.cview(), s.cview(), w.view(), HostView<double>{}, g.view());
  std::vector<double> norms(3);
  column_norms(ctx, w.cview(), norms);
  trsm(ctx, w.view(), Matrix<double>::copy_of(g.cview()).cview());
}

}  // namespace

TEST_CASE("the least time is that of the slower of bytes and flops") {
  const Roofs roofs{10, 5, 2, 4};
  CHECK(least_seconds({30, 0, 0}, DType::float64, roofs) == 3);
  CHECK(least_seconds({30, 10, 0}, DType::float64, roofs) == 6);  // 20 copied, 20 read
  CHECK(least_seconds({5, 20, 0}, DType::float64, roofs) == 5);   // written beyond what is read
  CHECK(least_seconds({30, 0, 100}, DType::complex128, roofs) == 50);
  CHECK(least_seconds({30, 0, 100}, DType::float32, roofs) == 25);
  CHECK(least_seconds({30, 0, 100}, DType::float32, Roofs{}) == 0);
}

TEST_CASE("every operation notes what it did") {
  const Context ctx;
  Profile profile(slow);
  run_all(ctx);
  CHECK(profile.work().empty());  // not in use yet
  {
    const Profile::Use use(profile);
    run_all(ctx);
  }
  run_all(ctx);  // nor any more
  const auto work = profile.work();
  for (const Operation operation : every_operation) {
    CAPTURE(name_of(operation));
    const WorkDone* const done = find(work, name_of(operation));
    REQUIRE(done != nullptr);
    CHECK(done->calls == 1);
    CHECK(done->seconds > 0);
    CHECK(done->cost.bytes() > 0);
    CHECK(done->cost.flops > 0);
    CHECK(done->near_roof_seconds == done->seconds);  // of such roofs
  }
  CHECK(find(work, "tsmttsm")->cost == cost_of({Operation::tsmttsm, DType::float64, 300, 5, 3}));
  CHECK(find(work, "tsmm")->cost == cost_of({Operation::tsmm, DType::float64, 300, 5, 3, true}));
  for (std::size_t i = 1; i < work.size(); ++i) CHECK(work[i - 1].seconds >= work[i].seconds);

  const Profile::Use use(profile);
  run_all(ctx);
  CHECK(find(profile.work(), "spmm")->calls == 2);
}

TEST_CASE("pieces far below their roofs, and without one, are not near it") {
  const Context ctx;
  Profile profile({1e30, 1e30, 1e30, 1e30});
  const Profile::Use use(profile);
  { const Profile::Piece piece(ctx, {Operation::gram, DType::float64, 100, 4, 4}); }
  { const Profile::Piece piece(ctx, "something", {1e3, 0, 0}, std::nullopt); }
  const auto work = profile.work();
  REQUIRE(work.size() == 2);
  for (const WorkDone& w : work) CHECK(w.near_roof_seconds == 0);
  CHECK(find(work, "something")->least_seconds == 0);
  CHECK(find(work, "something")->cost.read_bytes == 1e3);
}

TEST_CASE("profiles in use are those of a thread, the last one first") {
  const Context ctx;
  Profile outer(slow), inner(slow);
  const Profile::Use use(outer);
  {
    const Profile::Use again(inner);
    const Profile::Piece piece(ctx, "inside", {}, std::nullopt);
  }
  { const Profile::Piece piece(ctx, "outside", {}, std::nullopt); }
  parallel(2, [&](int) { const Profile::Piece piece(ctx, "parallel", {}, std::nullopt); });
  REQUIRE(outer.work().size() == 1);
  CHECK(outer.work()[0].what == "outside");
  REQUIRE(inner.work().size() == 1);
  CHECK(inner.work()[0].what == "inside");
}

TEST_CASE("a rehearsal is no work", "[device][cuda]") {
  Context ctx{.stream = cuda::Stream::rehearsing(cuda::typical_device("sm_90a"))};
  Profile profile(slow);
  const Profile::Use use(profile);
  const DeviceMatrix<double> v(ctx.stream, 4000, 8), w(ctx.stream, 4000, 4);
  DeviceMatrix<double> s(ctx.stream, 8, 4);
  tsmttsm(ctx, Op::adjoint, 1.0, v.cview(), w.cview(), 0.0, s.view());
  CHECK(profile.work().empty());
}
