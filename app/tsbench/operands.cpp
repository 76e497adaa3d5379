#include "tallskinny/app/tsbench/operands.hpp"

#include <algorithm>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/spmm/plan.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace ts::bench {

OperandBytes operand_bytes(const Case& c) {
  const Problem& p = c.problem;
  const std::size_t in = size_of(p.type), result = std::max<std::size_t>(in, 4);
  const bool sparse = p.operation == Operation::spmm, large = p.operation == Operation::tsm2r;
  const bool two = p.operation == Operation::tsmttsm || p.operation == Operation::inner_and_gram;
  OperandBytes bytes;
  bytes.x = c.tall_bytes(sparse ? p.p : p.n, sparse ? p.q : p.p, in);
  if (two || large) bytes.y = c.tall_bytes(large ? p.p : p.n, p.q, in);
  if (tall_result(p.operation)) bytes.out = c.tall_bytes(p.n, out_width(p), result);
  if (!sparse && !large) bytes.small = static_cast<std::size_t>(std::max(p.p, p.q) * std::max(p.p, p.q)) * result;
  return bytes;
}

template <class R>
void fill_small(Matrix<R>& m, const Problem& problem) {
  if (problem.operation == Operation::tsm2r || problem.operation == Operation::spmm) return;  // has none
  const index_t rows = problem.p, cols = problem.operation == Operation::trsm ? problem.p : problem.q;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) {
      const R value = value_at<R>(static_cast<std::uint64_t>(i * cols + j));
      R& entry = m.data()[i * cols + j];
      if (problem.operation == Operation::project_out)
        entry = value * static_cast<real_t<R>>(1e-3);
      else if (problem.operation == Operation::trsm || problem.operation == Operation::tsmm_in_place)
        entry = i == j ? R{1} : i < j ? value * static_cast<real_t<R>>(1e-3) : R{};
      else
        entry = value;
    }
}

namespace {

template <class T, Space S>
void run_norms(const Context& ctx, const Operands<T, S>& o) {
  auto* const norms = reinterpret_cast<real_t<T>*>(o.result.data);
  const index_t p = o.problem.p;
  if constexpr (S == Space::host)
    detail::column_norms<T>(ctx, o.x, std::span<real_t<T>>(norms, static_cast<std::size_t>(p)));
  else
    detail::column_norms<T>(ctx, o.x, DeviceStrided<real_t<T>>(norms, 1, p, p, 1));
}

template <class T, Space S>
void run_sparse(const Context& ctx, const Operands<T, S>& o) {
  const result_t<T> one{1}, zero{};
  if constexpr (S == Space::host)
    detail::spmm<T, std::int32_t>(ctx, Op::none, one, o.sparse, o.x, zero, o.out);
  else
    detail::spmm<T, std::int32_t>(ctx, Op::none, one, o.sparse, zero, o.x, zero, o.out);
}

}  // namespace

// A case's layout is a value, so that operands come as strided views: what the operations are made of.
template <class T, Space S>
void run(const Context& ctx, const Operands<T, S>& o) {
  using R = result_t<T>;
  const R one{1}, zero{};
  switch (o.problem.operation) {
    case Operation::tsmttsm: return detail::tsmttsm<T>(ctx, Op::adjoint, one, o.x, o.y, zero, o.result);
    case Operation::gram: return detail::gram<T>(ctx, Op::adjoint, one, o.x, zero, o.result);
    case Operation::tsmm: return detail::tsmm<T>(ctx, Op::none, one, o.x, o.small, zero, o.out);
    case Operation::tsm2r: return detail::tsm2r<T>(ctx, Op::none, one, o.x, o.y, zero, o.out);
    case Operation::spmm: return run_sparse(ctx, o);
    case Operation::column_norms: return run_norms(ctx, o);
    default: break;  // of result types alone
  }
  if constexpr (std::is_same_v<T, R>) {
    if (o.problem.operation == Operation::tsmm_in_place)
      return detail::tsmm_in_place<T>(ctx, Op::none, one, o.out, o.small);
    if (o.problem.operation == Operation::trsm) return detail::trsm<T>(ctx, o.out, o.small);
    if (o.problem.operation == Operation::inner_and_gram)
      return detail::inner_and_gram<T>(ctx, o.x, o.y, o.result, o.gram);
    detail::project_out<T>(ctx, o.x, o.small, o.out, o.result, o.gram);
  }
}

namespace {

template <class T>
cuda::GpuProblem gpu_problem_of(const Case& c) {
  const auto o = operands_at<T, Space::device>(c, Places{});
  const Operation op = c.problem.operation;
  const bool inner = op == Operation::tsmttsm || op == Operation::gram;
  cuda::GpuProblem p;
  p.problem = c.problem;
  p.op = inner ? Op::adjoint : Op::none;
  if (tall_result(op)) p.out = cuda::form_of(o.out);
  if (op == Operation::spmm)
    p.second = cuda::form_of(o.x);
  else
    p.first = o.x.data == nullptr ? p.out : cuda::form_of(o.x);
  if (o.y.data != nullptr) p.second = cuda::form_of(o.y);
  if (op == Operation::gram) p.second = p.first;
  p.sparse = c.sparse;
  return p;
}

}  // namespace

cuda::GpuProblem gpu_problem_of(const Case& c, Determinism determinism) {
  cuda::GpuProblem problem =
      by_type(c.problem.type, [&]<class T>(std::type_identity<T>) { return gpu_problem_of<T>(c); });
  problem.determinism = determinism;
  return problem;
}

std::vector<cuda::KernelPlan> kernels_of(const Case& c, const cuda::DeviceInfo& device, Determinism determinism) {
  if (c.problem.operation == Operation::spmm) {  // whose plan looks at the matrix
    const cuda::GpuProblem problem = gpu_problem_of(c, determinism);
    std::vector<cuda::KernelPlan> kernels;
    for (cuda::Candidate& candidate : cuda::ranked_candidates(problem, device)) {
      const auto policy = cuda::policy_of<cuda::SpmmPolicy>(candidate.kernel);
      kernels.push_back(std::move(candidate.kernel));
      if (policy.by_parts) kernels.push_back(cuda::spmm_splits_plan(policy, problem.sparse));
    }
    return kernels;
  }
  Context ctx;
  ctx.stream = cuda::Stream::rehearsing(device);
  ctx.determinism = determinism;
  by_type(c.problem.type,
          [&]<class T>(std::type_identity<T>) { run(ctx, operands_at<T, Space::device>(c, Places{})); });
  return ctx.stream.rehearsal()->kernels;
}

#define TS_INSTANTIATE(T)                                       \
  template void run<T>(const Context&, const HostOperands<T>&); \
  template void run<T>(const Context&, const DeviceOperands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T) template void fill_small<T>(Matrix<T>&, const Problem&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
