#include "tallskinny/app/tsbench/gpu/kernels.hpp"

#include "tallskinny/app/tsbench/gpu/device_sources.hpp"
#include "tallskinny/app/tsbench/kernels/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::bench {

namespace {

cuda::KernelPlan bench_plan(std::string_view family, DType type, unsigned grid) {
  cuda::KernelPlan plan = cuda::plan_of(family, BenchPolicy{type});
  plan.grid = grid, plan.block = BenchPolicy::threads;
  plan.beside = device_sources;
  return plan;
}

template <class Arguments>
void start(const Context& ctx, const char* family, DType type, unsigned grid, const Arguments& arguments) {
  cuda::launch_with<BenchPolicy, Arguments>(ctx, bench_plan(family, type, grid), arguments);
}

unsigned whole_device(const Context& ctx) { return 8 * static_cast<unsigned>(ctx.stream.device().multiprocessors); }

/// A matrix as lines of consecutive elements.
struct Lines {
  index_t lines, length, ld;
  bool rows;
};
template <class T>
Lines lines_of(const DeviceStrided<T>& a) {
  if (a.col_stride == 1) return {a.rows, a.cols, a.row_stride, true};
  return {a.cols, a.rows, a.col_stride, false};
}

}  // namespace

std::vector<cuda::KernelPlan> bench_plans(DType type) {
  std::vector<cuda::KernelPlan> plans;
  for (const char* family : {"bench_fill", "bench_gather", "bench_hash", "bench_inner", "bench_sparse"})
    plans.push_back(bench_plan(family, type, 1));
  return plans;
}

template <class T>
void fill(const Context& ctx, DeviceStrided<T> a, std::uint64_t first) {
  const Lines l = lines_of(a);
  const auto columns = static_cast<std::uint64_t>(a.cols);
  const std::uint64_t line_step = l.rows ? columns : 1, step = l.rows ? 1 : columns;
  start(ctx, "bench_fill", dtype_of<T>, whole_device(ctx),
        FillArguments{a.data, l.lines, l.length, l.ld, first, line_step, step});
}

template <class T>
CsrView<T, Space::device> DeviceSparse<T>::view() const noexcept {
  return {pattern.rows,
          pattern.rows,
          static_cast<const index_t*>(pointers.data()),
          static_cast<const std::int32_t*>(indices.data()),
          static_cast<const T*>(values.data()),
          pattern.entries(),
          parts.view(),
          facts,
          nullptr,
          kept.get()};
}

template <class T>
DeviceSparse<T> make_sparse(const Context& ctx, SparsePattern pattern, const SparseFacts& facts) {
  const auto pointers = static_cast<std::size_t>(pattern.rows + 1),
             entries = static_cast<std::size_t>(pattern.entries());
  const cuda::CutRows cut = cuda::cut_rows(pattern.pointers->data(), pattern.rows);
  DeviceSparse<T> d{{ctx.stream, pointers * sizeof(index_t)},
                    {ctx.stream, pointers * sizeof(std::int32_t)},
                    {ctx.stream, entries * sizeof(std::int32_t)},
                    {ctx.stream, entries * sizeof(T)},
                    {ctx.stream, cut},
                    facts,
                    std::move(pattern)};
  cuda::copy_bytes(ctx.stream, d.pointers.data(), d.pattern.pointers->data(), d.pointers.bytes());
  start(ctx, "bench_sparse", dtype_of<T>, whole_device(ctx),
        SparseArguments{d.pointers.data(), d.short_pointers.data(), d.indices.data(), d.values.data(),
                        static_cast<int>(d.pattern.kind), d.pattern.rows, d.pattern.side()});
  ctx.stream.synchronize();  // of `cut`
  return d;
}

template <class T>
void gather(const Context& ctx, std::span<T> to, DeviceStrided<const T> a, std::span<const index_t> rows) {
  const auto count = static_cast<index_t>(rows.size());
  const cuda::Memory list(ctx.stream, rows.size_bytes()), found(ctx.stream, to.size_bytes());
  cuda::copy_bytes(ctx.stream, list.data(), rows.data(), rows.size_bytes());
  start(ctx, "bench_gather", dtype_of<T>, whole_device(ctx),
        GatherArguments{found.data(), a.data, a.row_stride, a.col_stride, a.cols, list.data(), count});
  cuda::copy_bytes(ctx.stream, to.data(), found.data(), to.size_bytes());
  ctx.stream.synchronize();
}

template <class T>
std::uint64_t hash_of(const Context& ctx, DeviceStrided<const T> a) {
  const Lines l = lines_of(a);
  constexpr auto words = static_cast<index_t>(sizeof(T) / 4);
  static_assert(words > 0, "results have whole words");
  std::uint64_t hash = 0;
  void* const sum = ctx.stream.workspace(sizeof hash);
  cuda::fill_bytes(ctx.stream, sum, 0, sizeof hash);
  start(ctx, "bench_hash", dtype_of<T>, whole_device(ctx),
        HashArguments{a.data, l.lines, l.length * words, l.ld * words, sum});
  cuda::copy_bytes(ctx.stream, &hash, sum, sizeof hash);
  ctx.stream.synchronize();
  return hash;
}

template <class T>
std::vector<InnerSum> inner_sums(const Context& ctx, DeviceStrided<const T> a, DeviceStrided<const T> b,
                                 std::span<const std::array<index_t, 2>> entries) {
  struct Partial {  // as kernels/bench_inner.cuh declares it
    double re[2], im[2], size;
  };
  const auto count = static_cast<int>(entries.size());
  const unsigned blocks = std::max(1u, 2 * whole_device(ctx) / static_cast<unsigned>(count));
  std::vector<Partial> partial(blocks * entries.size());
  const std::size_t bytes = partial.size() * sizeof(Partial);
  const cuda::Memory list(ctx.stream, entries.size_bytes()), sums(ctx.stream, bytes);
  cuda::copy_bytes(ctx.stream, list.data(), entries.data(), entries.size_bytes());
  start(ctx, "bench_inner", dtype_of<T>, blocks * static_cast<unsigned>(count),
        InnerArguments{a.data, a.row_stride, a.col_stride, b.data, b.row_stride, b.col_stride, a.rows, list.data(),
                       count, sums.data()});
  cuda::copy_bytes(ctx.stream, partial.data(), sums.data(), bytes);
  ctx.stream.synchronize();
  std::vector<InnerSum> all(entries.size());
  for (std::size_t i = 0; i < partial.size(); ++i) {
    InnerSum& sum = all[i % entries.size()];
    for (const int part : {0, 1}) sum.re += partial[i].re[part], sum.im += partial[i].im[part];
    sum.size += partial[i].size;
  }
  return all;
}

#define TS_INSTANTIATE(T)                                                                                      \
  template void fill<T>(const Context&, DeviceStrided<T>, std::uint64_t);                                      \
  template struct DeviceSparse<T>;                                                                             \
  template DeviceSparse<T> make_sparse<T>(const Context&, SparsePattern, const SparseFacts&);                  \
  template std::vector<InnerSum> inner_sums<T>(const Context&, DeviceStrided<const T>, DeviceStrided<const T>, \
                                               std::span<const std::array<index_t, 2>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T)                                                                                  \
  template void gather<T>(const Context&, std::span<T>, DeviceStrided<const T>, std::span<const index_t>); \
  template std::uint64_t hash_of<T>(const Context&, DeviceStrided<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
