#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/policy.hpp"
#include "tallskinny/tests/bench/baseline/kernels.hpp"
#include "tallskinny/tests/support/every_operation.hpp"

namespace ts::baseline {

namespace {

template <class T, Layout L = Layout::row_major>
void add_every_operation(KernelCases& cases, index_t n, index_t p, index_t q, index_t gap = 0,
                         Determinism level = Determinism::run_to_run) {
  std::string name = "operations " + std::string(name_of(dtype_of<T>));
  for (const index_t number : {n, p, q, gap}) name += " " + std::to_string(number);
  if (L == Layout::col_major) name += " columns";
  if (level == Determinism::gpu_to_gpu) name += " gpu-to-gpu";
  cases.rehearse(
      name, [&](const Context& ctx) { test::EveryOperation<T, L>(ctx, n, p, q, gap).run(); }, level);
}

template <class T>
void add_type(KernelCases& cases, int turn) {
  constexpr index_t many = 1 << 20, few = 1 << 15;
  add_every_operation<T>(cases, many, 8, 8);
  add_every_operation<T>(cases, many, 64, 64);
  add_every_operation<T>(cases, many, 512, turn % 2 == 0 ? 16 : 64);
  if (turn % 3 == 0) {
    add_every_operation<T>(cases, many, 17, 17, 3);
    add_every_operation<T>(cases, few, 48, 48);
  } else if (turn % 3 == 1) {
    add_every_operation<T, Layout::col_major>(cases, many, 32, 32);
    add_every_operation<T>(cases, many, 1, 1);
  } else {
    add_every_operation<T>(cases, few, 16, 16, 0, Determinism::gpu_to_gpu);
    add_every_operation<T>(cases, many, 3, 33);
  }
  if constexpr (std::is_same_v<T, result_t<T>>)
    cases.rehearse("random numbers and nothing " + std::string(name_of(dtype_of<T>)), [](const Context& ctx) {
      DeviceMatrix<T> x(ctx.stream, 100000, 9), none(ctx.stream, 100000, 0), s(ctx.stream, 0, 5);
      fill_random<T>(ctx, Philox{1, 2}, x.view());
      tsmm(ctx, Op::none, T{1}, none.view(), s.view(), T{2}, x.view().cols(0, 5));
    });
}

template <class To, class From>
void add_cast(KernelCases& cases, const std::string& name) {
  cases.rehearse("cast " + name, [](const Context& ctx) {
    DeviceMatrix<From> x(ctx.stream, 100000, 12);
    (void)cast<To, From>(ctx, PlacedView<const From>(x.cview().cols(1, 7)));
  });
}

}  // namespace

void add_kmeans(KernelCases& cases) {
  using solvers::KMeansInit, solvers::KMeansPrecision;
  struct Run {
    DType type;
    index_t d, k;
    bool weighted = false;
    KMeansInit init = KMeansInit::plus_plus;
    KMeansPrecision precision = KMeansPrecision::exact;
  };
  constexpr index_t n = 1 << 20;
  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  for (const Run& r : {Run{DType::float32, 1, 1},
                       {DType::float32, 4, 16, true},
                       {DType::float32, 16, 64, false, KMeansInit::parallel},
                       {DType::float32, 32, 256, false, KMeansInit::plus_plus, KMeansPrecision::fast},
                       {DType::float32, 100, 30, true},
                       {DType::float32, 128, 1000},
                       {DType::float32, 784, 500},
                       {DType::float64, 8, 16, false, KMeansInit::parallel},
                       {DType::float64, 64, 1024, true},
                       {DType::float16, 32, 32},
                       {DType::float16, 128, 3000, false, KMeansInit::parallel},
                       {DType::bfloat16, 300, 40, true, KMeansInit::plus_plus, KMeansPrecision::fast}}) {
    solvers::KMeansOptions options;
    options.init = r.init, options.precision = r.precision;
    if (r.weighted) options.weights = ones;
    cases.rehearse("k-means " + std::string(name_of(r.type)) + " d" + std::to_string(r.d) + " k" + std::to_string(r.k),
                   [&](const Context& ctx) { solvers::prepare_kmeans(ctx, r.type, n, r.d, r.k, options, nullptr); });
  }
}

void add_operations(KernelCases& cases) {
  int turn = 0;
#define TS_CASE(T) add_type<T>(cases, turn++);
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
  add_cast<float, double>(cases, "float64 to float32");
  add_cast<double, float>(cases, "float32 to float64");
}

/// Passes with a margin, which a run comes to only when it has seen labels settle; moments, which ask whether
/// rows are finite, and those of a rehearsal are not there; and what measures a GPU's roofs.
void add_planned_cases(KernelCases& cases) {
  for (const DType type : {DType::float32, DType::float16})
    for (const auto& [d, k] : {std::pair<index_t, index_t>{4, 16}, {16, 64}, {64, 64}, {128, 1000}, {512, 1000}}) {
      cuda::AssignProblem problem{{type, 1 << 22, d, true, static_cast<int>(size_of(type))}, k};
      problem.stable = problem.margin = true;
      const cuda::AssignPlans plans = cuda::assign_plans(problem, cases.device());
      std::vector<cuda::KernelPlan> kernels;
      if (plans.scores) kernels.push_back(plans.scores->kernel);
      if (plans.again) kernels.push_back(plans.again->kernel);
      cases.add("assign room " + std::string(name_of(type)) + " d" + std::to_string(d) + " k" + std::to_string(k),
                std::move(kernels));
    }
  for (const DType type : {DType::float64, DType::float32, DType::float16, DType::bfloat16}) {
    std::vector<cuda::KernelPlan> rounds;
    using Round = cuda::MomentsRound;
    for (const Round round : {Round::sum, Round::spread, Round::first_not_finite})
      rounds.push_back(cuda::threads_plan("assign_moments", cuda::MomentsPolicy{type, round}, 1 << 20));
    cases.add("moments " + std::string(name_of(type)), std::move(rounds));
  }
  cases.add("roofs", app::roof_plans(cases.device()));
}

}  // namespace ts::baseline
