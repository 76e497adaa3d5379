#include "kernels.hpp"
#include "tallskinny/gemm/assign/cuda/assign_kernel.hpp"

namespace ts::baseline {

/// Passes with room, which a run comes to only when it has seen labels settle.
void add_planned_cases(KernelCases& cases) {
  for (const DType type : {DType::float32, DType::float16})
    for (const auto& [d, k] :
         {std::pair<index_t, index_t>{4, 16}, {16, 64}, {64, 64}, {128, 1000}, {512, 1000}}) {
      cuda::AssignProblem problem{type, 1 << 22, d, k};
      problem.alignment = static_cast<int>(size_of(type));
      problem.settled = problem.room = true;
      const cuda::AssignPlans plans = cuda::assign_plans(problem, cases.device());
      std::vector<cuda::KernelPlan> kernels;
      if (plans.scores) kernels.push_back(*plans.scores);
      if (plans.again) kernels.push_back(*plans.again);
      cases.add(
          "assign room " + std::string(name_of(type)) + " d" + std::to_string(d) + " k" + std::to_string(k),
          std::move(kernels));
    }
}

}  // namespace ts::baseline
