#include "tallskinny/app/tsbench/gpu/device.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/app/tsbench/kernels/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::bench {

namespace {

constexpr double long_enough = 3e-4;  // seconds between two events; shorter work is repeated between them
constexpr std::size_t least_bytes = std::size_t{1} << 30;  // what the roofs are measured with
constexpr std::size_t most_sets = 64;

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

/// So many sets of operands that none is still in the cache when its turn comes.
std::size_t sets_of(const Case& c, const cuda::DeviceInfo& device) {
  const double wanted = 4.0 * static_cast<double>(device.l2_bytes) / cost_of(c.problem).bytes();
  return static_cast<std::size_t>(std::clamp(std::ceil(wanted), 1.0, static_cast<double>(most_sets)));
}

OperandBytes most_bytes(const std::vector<Case>& cases, const cuda::DeviceInfo& device) {
  OperandBytes most{least_bytes, 0, least_bytes, 256};
  for (const Case& c : cases) {
    const OperandBytes one = operand_bytes(c);
    const std::size_t sets = sets_of(c, device);
    most.x = std::max(most.x, sets * one.x), most.y = std::max(most.y, sets * one.y);
    most.out = std::max(most.out, sets * one.out), most.small = std::max(most.small, one.small);
  }
  return most;
}

template <class T>
void fill(const Context& ctx, DeviceStrided<T> a, std::uint64_t first) {
  const Lines l = lines_of(a);
  const auto columns = static_cast<std::uint64_t>(a.cols);
  const std::uint64_t line_step = l.rows ? columns : 1, step = l.rows ? 1 : columns;
  start(ctx, "bench_fill", dtype_of<T>, whole_device(ctx),
        FillArguments{a.data, l.lines, l.length, l.ld, first, line_step, step});
}

}  // namespace

std::vector<cuda::KernelPlan> bench_plans(DType type) {
  std::vector<cuda::KernelPlan> plans;
  for (const char* family : {"bench_fill", "bench_hash", "bench_inner"}) plans.push_back(bench_plan(family, type, 1));
  return plans;
}

template <class T>
void gather(const Context& ctx, std::span<T> to, DeviceStrided<const T> a, std::span<const index_t> rows) {
  T* next = to.data();
  for (const index_t i : rows) {
    const T* const row = a.data + i * a.row_stride;
    const auto columns = static_cast<std::size_t>(a.cols);
    if (a.col_stride == 1)
      cuda::copy_bytes(ctx.stream, next, row, columns * sizeof(T));
    else
      cuda::copy_lines(ctx.stream, next, sizeof(T), row, static_cast<std::size_t>(a.col_stride) * sizeof(T), sizeof(T),
                       columns);
    next += a.cols;
  }
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
std::vector<Sum> inner_sums(const Context& ctx, DeviceStrided<const T> a, DeviceStrided<const T> b,
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
  std::vector<Sum> all(entries.size(), {{}, 0, static_cast<long double>(a.rows)});
  for (std::size_t i = 0; i < partial.size(); ++i) {
    const Partial& part = partial[i];
    all[i % entries.size()] +=
        {{static_cast<long double>(part.re[0]) + part.re[1], static_cast<long double>(part.im[0]) + part.im[1]},
         part.size,
         0};
  }
  return all;
}

GpuPool::GpuPool(const Context& ctx, const std::vector<Case>& cases) : ctx_(ctx) {
  const OperandBytes most = most_bytes(cases, ctx.stream.device());
  x_ = cuda::Memory(ctx.stream, most.x), y_ = cuda::Memory(ctx.stream, most.y);
  out_ = cuda::Memory(ctx.stream, most.out), small_ = cuda::Memory(ctx.stream, most.small);
  result_ = cuda::Memory(ctx.stream, most.small), gram_ = cuda::Memory(ctx.stream, most.small);
  // All bits set is NaN in every type: what lies between lines must not matter.
  for (const cuda::Memory* m : {&x_, &y_, &out_}) cuda::fill_bytes(ctx.stream, m->data(), 0xff, m->bytes());
}

template <class T>
DeviceSets<T> GpuPool::operands(const Case& c) const {
  using R = result_t<T>;
  const Problem& p = c.problem;
  const OperandBytes size = operand_bytes(c);
  DeviceSets<T> o;
  const bool sparse = p.operation == Operation::spmm;
  SparsePattern pattern;
  if (sparse) {
    pattern = SparsePattern::of(c.pattern, p.n);
    o.sparse = DeviceCsrMatrix<T>(ctx_.stream, sparse_matrix<T>(pattern).view());
    const std::vector<std::int32_t> short_pointers(pattern.pointers->begin(), pattern.pointers->end());
    o.short_pointers = cuda::Memory(ctx_.stream, short_pointers.size() * sizeof(std::int32_t));
    cuda::copy_bytes(ctx_.stream, o.short_pointers.data(), short_pointers.data(), o.short_pointers.bytes());
    ctx_.stream.synchronize();
  }
  for (std::size_t s = 0; s < sets_of(c, ctx_.stream.device()); ++s) {
    const auto at = [s](const cuda::Memory& m, std::size_t bytes = 0) {
      return static_cast<std::byte*>(m.data()) + s * bytes;
    };
    DeviceOperands<T> d = operands_at<T, Space::device>(
        c, {at(x_, size.x), at(y_, size.y), at(out_, size.out), at(small_), at(result_), at(gram_)});
    const auto prepare = [&](const cuda::Memory& m, std::size_t bytes, DeviceStrided<const T> a, std::uint64_t first) {
      if (a.empty()) return;
      if (c.gap > 0) cuda::fill_bytes(ctx_.stream, at(m, bytes), 0xff, bytes);
      fill(ctx_, DeviceStrided<T>(const_cast<T*>(a.data), a.rows, a.cols, a.row_stride, a.col_stride), first);
    };
    prepare(x_, size.x, d.x, first_key.x), prepare(y_, size.y, d.y, first_key.y);
    if (sparse) {
      d.sparse = o.sparse.view(), d.pattern = pattern;
      d.short_pointers = static_cast<const std::int32_t*>(o.short_pointers.data());
    }
    refill(d);
    o.sets.push_back(d);
  }
  if (size.small > 0) {
    Matrix<R> small(std::max(p.p, p.q), std::max(p.p, p.q));
    fill_small(small, p);
    cuda::copy_bytes(ctx_.stream, small_.data(), small.data(),
                     static_cast<std::size_t>(small.rows() * small.cols()) * sizeof(R));
    ctx_.stream.synchronize();
  }
  return o;
}

template <class T>
void GpuPool::refill(const DeviceOperands<T>& o) const {
  if (in_place(o.problem.operation)) fill(ctx_, o.out, first_key.out);
}

Timing stream_timing(const Context& ctx, int repetitions, Turns& turns) {
  const double once = app::best_seconds(ctx, 1, [&] { turns.next(); });
  const int batch = std::clamp(static_cast<int>(std::ceil(long_enough / once)), 1, 200);
  return timing_of(app::seconds_of(ctx, repetitions,
                                   [&] {
                                     for (int b = 0; b < batch; ++b) turns.next();
                                   }),
                   batch);
}

double graph_seconds(const Context& ctx, int repetitions, double about, Turns& turns) {
  const int runs = std::clamp(static_cast<int>(std::ceil(2 * long_enough / about)), 1, 100);
  const cuda::Graph graph(ctx.stream, [&] {
    for (int r = 0; r < runs; ++r) turns.next();
  });
  return timing_of(app::seconds_of(ctx, repetitions, [&] { graph.launch(ctx.stream); }), runs).median;
}

#define TS_INSTANTIATE(T)                                                                                 \
  template std::vector<Sum> inner_sums<T>(const Context&, DeviceStrided<const T>, DeviceStrided<const T>, \
                                          std::span<const std::array<index_t, 2>>);                       \
  template DeviceSets<T> GpuPool::operands<T>(const Case&) const;                                         \
  template void GpuPool::refill<T>(const DeviceOperands<T>&) const;
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T)                                                                                  \
  template void gather<T>(const Context&, std::span<T>, DeviceStrided<const T>, std::span<const index_t>); \
  template std::uint64_t hash_of<T>(const Context&, DeviceStrided<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
