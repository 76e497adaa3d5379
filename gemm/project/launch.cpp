#include <algorithm>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/parts.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/project/detail.hpp"
#include "tallskinny/gemm/project/plan.hpp"
#include "tallskinny/gemm/project/policy.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"

namespace ts::inline v0::detail {
namespace {

template <class T>
cuda::ProjectMatrix matrix_of(const DeviceStrided<T>& m) noexcept {
  return {const_cast<std::remove_const_t<T>*>(m.data), m.row_stride, m.col_stride};
}

template <class T>
using Tall = DeviceStrided<const T>;

/// One launch. Empty results are not wanted; `mirror` is where the adjoint of S_next goes too, or null.
template <class T>
void launch(const Context& ctx, Operation operation, Tall<T> v, Tall<T> s, Tall<T> w, DeviceStrided<T> s_next,
            T* mirror, DeviceStrided<T> g) {
  cuda::GpuProblem problem;
  problem.problem = {operation, dtype_of<T>, w.rows, v.cols, w.cols};
  problem.problem.wants_inner = !s_next.empty(), problem.problem.wants_gram = !g.empty();
  problem.op = Op::adjoint, problem.determinism = ctx.determinism;
  problem.first = cuda::form_of(v), problem.second = cuda::form_of(w);
  const auto launch = [&](const cuda::PlannedKernel& planned, void* workspace, const cuda::PartsArgument& sums) {
    const auto blocks = static_cast<int>(planned.kernel.plan().grid / std::max<index_t>(1, problem.parts));
    planned.kernel.launch_with<cuda::ProjectPolicy>(ctx, {{v.data, v.row_stride, v.col_stride},
                                                          matrix_of(s),
                                                          {w.data, w.row_stride, w.col_stride},
                                                          matrix_of(s_next),
                                                          mirror,
                                                          matrix_of(g),
                                                          w.rows,
                                                          cuda::group_size_of(blocks),
                                                          static_cast<double*>(workspace),
                                                          ctx.stream.counters(),
                                                          sums});
  };
  const auto planned_for = [&] { return cuda::kept_plan(problem, ctx.stream.device()); };
  const bool has_products = !s_next.empty() || !g.empty();
  const RowParts parts = has_products ? row_parts(ctx, "project_out", w.rows) : whole_rows(w.rows);
  if (parts.one()) {
    const auto planned = planned_for();
    return launch(*planned, ctx.stream.workspace(planned->kernel.plan().workspace_bytes), {});
  }
  problem.first = cuda::part_form_of(v), problem.second = cuda::part_form_of(w);
  cuda::plan_for_parts(problem, parts);
  // The parts hold S_next and G as they lie row by row; G's triangle stands for all of it.
  const index_t inner = s_next.rows * s_next.cols, results = inner + g.rows * g.cols;
  const auto planned = w.rows > 0 ? planned_for() : nullptr;
  const cuda::PartSums sums(ctx, parts, results * parts_of(dtype_of<T>),
                            planned ? planned->kernel.plan().workspace_bytes : 0);
  if (planned)
    launch(*planned, sums.workspace(), sums.argument());
  else
    sums.clear();
  if (!sums.gather()) return;
  sums.finish(0, results, Op::adjoint, T{1}, T{}, s_next, mirror);
  sums.finish(inner, results, Op::adjoint, T{1}, T{}, g, static_cast<T*>(nullptr), true);
}

struct PlannedPanels {
  PlannedPanels(const cuda::GpuProblem& any, const cuda::DeviceInfo& device)
      : panels(cuda::project_panels(any.problem.type, any.problem.p, any.problem.q,
                                    cuda::limits_of(device, any.determinism), any.parts > 0)) {}
  cuda::ProjectPanels panels;
};

template <class T>
cuda::ProjectPanels panels_of(const Context& ctx, index_t p, index_t q) {
  cuda::GpuProblem any;
  any.problem = {Operation::project_out, dtype_of<T>, 0, p, q};
  any.determinism = ctx.determinism;
  any.parts = ctx.determinism == Determinism::gpu_to_gpu || distributed(ctx) ? 1 : 0;
  return cuda::kept_plan<PlannedPanels>(any, ctx.stream.device())->panels;
}

/// S = V^H W and G = W^H W of any widths, either of them only if it is not empty.
template <class T>
void products(const Context& ctx, Tall<T> v, Tall<T> w, DeviceStrided<T> s, DeviceStrided<T> g) {
  const auto [pv, pw] = panels_of<T>(ctx, v.cols, w.cols);
  const index_t n = w.rows, m = s.empty() ? 0 : v.cols;
  for (index_t j = 0; j < w.cols; j += pw) {
    const index_t q = std::min(pw, w.cols - j);
    const Tall<T> w_j = w.block(0, j, n, q);
    // The diagonal block of G comes with the first panel of V, or alone.
    auto g_jj = g.empty() ? g : g.block(j, j, q, q);
    for (index_t k = 0; k < m; k += pv, g_jj = {}) {
      const index_t p = std::min(pv, m - k);
      launch<T>(ctx, Operation::inner_and_gram, v.block(0, k, n, p), {}, w_j, s.block(k, j, p, q), nullptr, g_jj);
    }
    if (!g_jj.empty()) launch<T>(ctx, Operation::inner_and_gram, v.block(0, 0, n, 0), {}, w_j, {}, nullptr, g_jj);
    if (g.empty()) continue;
    for (index_t i = 0; i < j; i += pw)
      launch<T>(ctx, Operation::inner_and_gram, w.block(0, i, n, pw), {}, w_j, g.block(i, j, pw, q),
                g.block(j, i, q, pw).data, {});
  }
}

}  // namespace

template <class T>
void inner_and_gram(const Context& ctx, DeviceStrided<const T> v, DeviceStrided<const T> w, DeviceStrided<T> s,
                    DeviceStrided<T> g) {
  expect_inner_and_gram(v, w, s, g);
  if (w.cols == 0) return;
  if (w.rows == 0 && !distributed(ctx)) {
    scale_output(ctx, T{}, s);
    return scale_output(ctx, T{}, g);
  }
  Problem problem{Operation::inner_and_gram, dtype_of<T>, w.rows, v.cols, w.cols};
  problem.wants_inner = !s.empty(), problem.wants_gram = !g.empty();
  const Profile::Piece piece(ctx, problem, Space::device);
  products<T>(ctx, v, w, s, g);
}

template <class T>
void project_out(const Context& ctx, DeviceStrided<const T> v, DeviceStrided<const T> s, DeviceStrided<T> w,
                 DeviceStrided<T> s_next, DeviceStrided<T> g) {
  expect_project_out(v, s, w, s_next, g);
  if (w.cols == 0) return;
  if (w.rows == 0 && !distributed(ctx)) {
    scale_output(ctx, T{}, s_next);
    return scale_output(ctx, T{}, g);
  }
  Problem problem{Operation::project_out, dtype_of<T>, w.rows, v.cols, w.cols};
  problem.wants_inner = !s_next.empty(), problem.wants_gram = !g.empty();
  const Profile::Piece piece(ctx, problem, Space::device);
  if (v.cols == 0 || w.rows == 0) return products<T>(ctx, v, w, s_next, g);
  const auto [pv, pw] = panels_of<T>(ctx, v.cols, w.cols);
  if (v.cols <= pv && w.cols <= pw) return launch<T>(ctx, Operation::project_out, v, s, w, s_next, nullptr, g);
  for (index_t j = 0; j < w.cols; j += pw)
    for (index_t k = 0; k < v.cols; k += pv) {
      const index_t p = std::min(pv, v.cols - k), q = std::min(pw, w.cols - j);
      launch<T>(ctx, Operation::project_out, v.block(0, k, w.rows, p), s.block(k, j, p, q), w.block(0, j, w.rows, q),
                {}, nullptr, {});
    }
  products<T>(ctx, v, w, s_next, g);
}

#define TS_INSTANTIATE(T)                                                                                           \
  template void inner_and_gram<T>(const Context&, DeviceStrided<const T>, DeviceStrided<const T>, DeviceStrided<T>, \
                                  DeviceStrided<T>);                                                                \
  template void project_out<T>(const Context&, DeviceStrided<const T>, DeviceStrided<const T>, DeviceStrided<T>,    \
                               DeviceStrided<T>, DeviceStrided<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
