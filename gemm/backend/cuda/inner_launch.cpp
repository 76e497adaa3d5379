#include "tallskinny/gemm/backend/cuda/inner_launch.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "tallskinny/gemm/backend/cuda/arguments.hpp"
#include "tallskinny/gemm/backend/cuda/inner_kernel.hpp"
#include "tallskinny/gemm/backend/cuda/launch.hpp"

namespace ts::detail {

namespace {

struct ReadyInner {
  ReadyInner(const cuda::GpuProblem& problem, const cuda::DeviceInfo& device)
      : kernel(cuda::make_plan(problem, device).kernel),
        panel_blocks(static_cast<int>(kernel.plan().grid / cuda::inner_problem_of(problem, device).panels)),
        group_size(cuda::group_size_of(panel_blocks)) {}
  cuda::ReadyKernel kernel;
  int panel_blocks, group_size;
};

/// The plan of this problem on this device. Planning takes longer than a short product, so plans are kept.
std::shared_ptr<const ReadyInner> ready_inner(const cuda::DeviceInfo& device,
                                              const cuda::GpuProblem& problem) {
  // What plans depend on: the device of a rehearsal may be another one of the same number.
  using Key =
      std::tuple<int, std::string, int, int, std::shared_ptr<const cuda::TunedTable>, cuda::GpuProblem>;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const ReadyInner>> kept;
  constexpr std::size_t most = 1024;
  const Key key(device.index, device.name, device.multiprocessors, device.shared_bytes_per_block,
                device.tuned, problem);
  const std::lock_guard lock(mutex);
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  if (kept.size() == most) kept.clear();
  return kept.emplace(key, std::make_shared<const ReadyInner>(problem, device)).first->second;
}

}  // namespace

template <class T>
void launch_inner(const Context& ctx, Operation operation, Op op, result_t<T> alpha, DeviceStrided<const T> a,
                  DeviceStrided<const T> b, result_t<T> beta, DeviceStrided<result_t<T>> c,
                  result_t<T>* mirror) {
  using cuda::OperandArgument;
  cuda::GpuProblem problem;
  problem.problem = {operation, dtype_of<T>, a.rows, a.cols, b.cols};
  problem.first = cuda::form_of(a);
  if (operation == Operation::tsm2r) {  // planned as D, which is the transpose of A
    problem.problem.n = a.cols, problem.problem.p = a.rows;
    problem.first = cuda::form_of(a.transposed());
  }
  problem.op = op, problem.second = cuda::form_of(b), problem.out = cuda::form_of(c);
  problem.determinism = ctx.determinism;
  const auto ready = ready_inner(ctx.stream.device(), problem);
  ready->kernel.launch(ctx, OperandArgument{a.data, a.row_stride, a.col_stride},
                       OperandArgument{b.data, b.row_stride, b.col_stride}, a.rows, a.cols, c.data,
                       c.row_stride, c.col_stride, mirror, cuda::scalars_of(alpha), cuda::scalars_of(beta),
                       static_cast<int>(op == Op::adjoint), ready->panel_blocks, ready->group_size,
                       ctx.stream.workspace(ready->kernel.plan().workspace_bytes), ctx.stream.counters());
}

#define TS_INSTANTIATE(T)                                                                           \
  template void launch_inner<T>(const Context&, Operation, Op, result_t<T>, DeviceStrided<const T>, \
                                DeviceStrided<const T>, result_t<T>, DeviceStrided<result_t<T>>,    \
                                result_t<T>*);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::detail
