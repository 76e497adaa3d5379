#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/gemm/assign/rows/plan.hpp"
#include "tallskinny/gemm/assign/scores/plan.hpp"
#include "tallskinny/gemm/assign/sums/policy.hpp"
#include "tallskinny/tests/bench/baseline/kernels.hpp"

namespace ts::baseline {

/// Passes with a margin, which a run comes to only when it has seen labels settle; moments, which ask whether
/// rows are finite, and those of a rehearsal are not there; and what measures a GPU's roofs.
void add_planned_cases(KernelCases& cases) {
  for (const DType type : {DType::float32, DType::float16})
    for (const auto& [d, k] : {std::pair<index_t, index_t>{4, 16}, {16, 64}, {64, 64}, {128, 1000}, {512, 1000}}) {
      cuda::AssignProblem problem{{type, 1 << 22, d, true, static_cast<int>(size_of(type))}, k};
      problem.settled = problem.margin = true;
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
