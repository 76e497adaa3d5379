#include "tallskinny/gemm/backend/cuda/inner_kernel.hpp"

#include <algorithm>
#include <bit>

namespace ts::cuda {

InnerProblem inner_problem_of(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool tsm2r = pr.operation == Operation::tsm2r;
  InnerProblem inner;
  inner.type = pr.type, inner.q = pr.q;
  inner.rows = tsm2r ? pr.p : pr.n;
  inner.gram = pr.operation == Operation::gram;
  // TSM2R: op(D)'s transpose is tall, or at least narrow in panels.
  const index_t columns = tsm2r ? pr.n : pr.p;
  Form a = problem.first;
  if (tsm2r) a.layout = a.layout == Layout::row_major ? Layout::col_major : Layout::row_major;
  inner.p = inner.gram
                ? columns
                : inner_panel_width(pr.type, a.layout, columns, pr.q, limits_of(device, problem.determinism));
  inner.panels = (columns + inner.p - 1) / inner.p;
  if (inner.panels > 1 && a.layout == Layout::row_major) {
    const auto starts =
        static_cast<std::uint64_t>((inner.p | columns) * static_cast<index_t>(size_of(pr.type)));
    a.alignment = std::min(a.alignment, 1 << std::countr_zero(starts | 256));
    a.contiguous = false, a.gap = 0;
  }
  inner.a = tall_operand_of(a, pr.type, inner.rows, inner.p);
  inner.b = inner.gram ? inner.a : tall_operand_of(problem.second, pr.type, inner.rows, pr.q);
  return inner;
}

std::vector<Candidate> inner_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::tsmttsm && pr.operation != Operation::gram &&
      pr.operation != Operation::tsm2r)
    return {};
  const index_t most = inner_scalars_max / parts_of(pr.type);
  if (pr.n < 1 || pr.p < 1 || pr.q < 1 || pr.q > most || (pr.operation == Operation::gram && pr.p > most))
    return {};
  const InnerProblem inner = inner_problem_of(problem, device);
  const BlockLimits block = limits_of(device, problem.determinism);
  return candidates_of(inner_tilings(inner, block), pr, device, block.shared_bytes,
                       [&](const InnerTiling& tiling) { return plan_inner(inner, block, tiling).kernel; });
}

}  // namespace ts::cuda
