// Several sparse products in one pass.
#include "tallskinny/gemm/plan/typical_device.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/spmm/plan.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/tests/support/device.hpp"

using namespace ts;
using namespace ts::test;

namespace {

cuda::GpuProblem problem_of(index_t rows, index_t reach, index_t width = 8) {
  cuda::GpuProblem problem;
  problem.problem = {Operation::spmm, DType::float64, rows, rows, width, true};
  problem.problem.nonzeros = 7 * rows, problem.shifted = true;
  problem.sparse.reach = reach;
  return problem;
}

std::optional<cuda::SpmmStepsPlan> plan_of(const cuda::GpuProblem& problem, cuda::SpmmStepsWish wish = {}) {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  return cuda::spmm_steps_plan(problem, cuda::spmm_candidates(problem, device).front().kernel, device, wish);
}

/// Rows of five entries: the diagonal, those beside it, and those `reach` away.
template <class T>
CsrMatrix<T> band(index_t rows, index_t reach) {
  CsrMatrix<T> a;
  a.rows = a.cols = rows;
  Values values(7);
  for (index_t i = 0; i < rows; ++i) {
    for (const index_t far : {-reach, index_t{-1}, index_t{0}, index_t{1}, reach})
      if (i + far >= 0 && i + far < rows) {
        a.indices.push_back(static_cast<std::int32_t>(i + far));
        a.values.push_back(element<T>(values.uniform(), values.uniform()));
      }
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  return a;
}

}  // namespace

TEST_CASE("each tile is taken once in each step, and after all that it reads and all that reads what it writes") {
  for (const index_t reach : {0, 1, 100, 5000, 70000})
    for (const int count : {2, 3, 5}) {
      CAPTURE(reach, count);
      const auto plan = plan_of(problem_of(300007, reach), {.count = count});
      REQUIRE(plan.has_value());
      const SpmmSteps s = plan->steps;
      const auto policy = cuda::policy_of<cuda::SpmmPolicy>(plan->kernel);
      const index_t tile = policy.threads / policy.group();
      CHECK(s.tiles * tile >= 300007);
      CHECK(s.groups() + 2 <= cuda::Stream::counter_count);
      std::vector<index_t> ticket(static_cast<std::size_t>(count * s.tiles), -1);
      const auto at = [&](int step, index_t t) -> index_t& {
        return ticket[static_cast<std::size_t>(step * s.tiles + t)];
      };
      for (index_t k = 0; k < s.tickets(); ++k) {
        const auto item = s.item(k);
        if (item.tile < 0 || item.tile >= s.tiles) continue;
        REQUIRE(at(item.step, item.tile) == -1);
        at(item.step, item.tile) = k;
      }
      bool all = true, waits = true;
      for (int step = 0; step < count; ++step)
        for (index_t t = 0; t < s.tiles; ++t) {
          all = all && at(step, t) >= 0;
          if (step == 0) continue;
          const index_t group = t / s.group;
          const index_t first = std::max<index_t>(group - s.reach, 0) * s.group;
          const index_t last = std::min((group + s.reach + 1) * s.group, s.tiles) - 1;
          // What a block waits for covers the columns of its rows, and has lower tickets.
          waits = waits && first * tile <= std::max<index_t>(t * tile - reach, 0) &&
                  (last + 1) * tile >= std::min<index_t>((t + 1) * tile + reach, 300007) &&
                  at(step - 1, last) < at(step, t);
        }
      CHECK(all);
      CHECK(waits);
      unsigned tiles = 0;
      for (index_t g = 0; g < s.groups(); ++g) tiles += s.tiles_of(g);
      CHECK(tiles == s.tiles);
    }
}

TEST_CASE("products go together where what several of them meet stays in the cache") {
  const auto plan = plan_of(problem_of(1 << 21, 1 << 14));
  REQUIRE(plan.has_value());
  CHECK(plan->kernel.family == "spmm_steps");
  CHECK(plan->steps.count >= 2);
  CHECK_FALSE(plan_of(problem_of(1 << 21, 1 << 20)).has_value());  // meets half of the matrix
  CHECK_FALSE(plan_of(problem_of(100000, 100)).has_value());       // all of it stays there anyway
  CHECK_FALSE(plan_of(problem_of(1 << 21, -1)).has_value());       // not known
  auto halves = problem_of(1 << 21, 100);
  halves.problem.type = DType::float16;  // whose products are float32: X and Y cannot change places
  CHECK_FALSE(plan_of(halves).has_value());
}

TEST_CASE("a matrix on a device knows how far its columns reach") {
  const Context ctx = rehearsing_context(cuda::typical_device("sm_90a"));
  CHECK(DeviceCsrMatrix<double>(ctx.stream, band<double>(1000, 77).view()).view().facts.reach == 77);
  CHECK(DeviceCsrMatrix<double>(ctx.stream, CsrMatrix<double>{}.view()).view().facts.reach <= 0);
}

TEMPLATE_TEST_CASE("on a GPU a recurrence has the bits of its steps", "[gpu]", double, float, std::complex<double>,
                   std::complex<float>) {
  using T = TestType;
  const Context ctx = device_context();
  const index_t rows = 1200001;
  for (const index_t reach : {3, 5000}) {
    const auto a = band<T>(rows, reach);
    const DeviceCsrMatrix<T> there(ctx.stream, a.view());
    for (const index_t width : {1, 3, 8})
      for (const int count : {1, 2, 7, 20}) {
        CAPTURE(reach, width, count);
        Values values(static_cast<std::size_t>(count));
        auto x = Operand<T>::random(rows, width, Form{}, values), y = Operand<T>::random(rows, width, Form{}, values);
        auto x2 = x, y2 = y;
        const real_t<T> alpha(0.2), beta(-0.9), shift(0.3);
        const auto both = [&](Operand<T>& first, Operand<T>& second, auto&& f) {
          OnDevice<T> u(ctx.stream, first), v(ctx.stream, second);
          u.with_view([&](auto from) { v.with_view([&](auto to) { f(from, to); }); });
          u.take_back(), v.take_back();
        };
        both(x, y,
             [&](auto from, auto to) { spmm_recurrence(ctx, count, alpha, there.view(), shift, from, beta, to); });
        both(x2, y2, [&](auto from, auto to) {
          for (int k = 0; k < count; ++k)
            if (k % 2 == 0)
              spmm_shifted(ctx, T{alpha}, there.view(), T{shift}, from, T{beta}, to);
            else
              spmm_shifted(ctx, T{alpha}, there.view(), T{shift}, to, T{beta}, from);
        });
        CHECK(x.buffer() == x2.buffer());
        CHECK(y.buffer() == y2.buffer());
      }
  }
}
