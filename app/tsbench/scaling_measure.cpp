#include "tallskinny/app/tsbench/scaling_measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tallskinny/app/tsbench/check.hpp"
#include "tallskinny/app/tsbench/gpu/clock.hpp"
#include "tallskinny/app/tsbench/gpu/kernels.hpp"
#include "tallskinny/app/tsbench/run.hpp"
#include "tallskinny/app/tsbench/values.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/comm/nccl_communicator.hpp"
#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/comm/slab_collector.hpp"
#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"
#include "tallskinny/gemm/runtime/stopwatch.hpp"

namespace ts::bench {

namespace {

constexpr int units = static_cast<int>(most_row_units);

Case case_of(const ScalingCase& c, index_t rows) {
  return {"", {Operation::tsmttsm, c.type, rows, c.widths.p, c.widths.q}};
}

/// Of a rank, or of a unit where one rank works on all of them.
index_t most_rows(const ScalingCase& c, int ranks) {
  const RowSlabs slabs = RowSlabs::of_units(c.rows, ranks);
  index_t most = row_unit(c.rows);
  for (int r = 0; r < ranks; ++r) most = std::max(most, slabs.rows(r));
  return most;
}

struct Sizes {
  std::size_t x = 0, y = 0, result = 0, units = 0;
  [[nodiscard]] std::size_t sum() const noexcept { return x + y + result + units; }
};

Sizes sizes_of(const std::vector<ScalingCase>& cases, int ranks) {
  Sizes most;
  for (const ScalingCase& c : cases) {
    const OperandBytes one = operand_bytes(case_of(c, most_rows(c, ranks)));
    const auto entries = static_cast<std::size_t>(c.widths.p * c.widths.q);
    most.x = std::max(most.x, one.x), most.y = std::max(most.y, one.y);
    most.result = std::max(most.result, entries * 2 * sizeof(double));  // of the widest type
    most.units = std::max(most.units, entries * 2 * sizeof(double) * units);
  }
  return most;
}

/// Where the context works: on its GPU or on the processor.
class Memory {
 public:
  Memory(const Context& ctx, std::size_t bytes) {
    if (ctx.stream)
      device_ = cuda::Memory(ctx.stream, bytes), cuda::fill_bytes(ctx.stream, data(), 0, bytes);
    else
      host_ = Matrix<double>(static_cast<index_t>(bytes / sizeof(double)) + 1, 1);
  }
  [[nodiscard]] std::byte* data() noexcept {
    return static_cast<std::byte*>(device_.bytes() > 0 ? device_.data() : host_.data());
  }

 private:
  cuda::Memory device_;
  Matrix<double> host_;
};

class Rank {
 public:
  Rank(const ScalingRequest& request, const std::vector<ScalingCase>& cases, const std::shared_ptr<Communicator>& hosts)
      : Rank(request, sizes_of(cases, hosts->size()), context_of(request, hosts)) {}

  [[nodiscard]] ScalingMeasured measure(const ScalingCase& c) {
    return by_type(c.type, [&]<class T>(std::type_identity<T>) {
      return ctx_.stream ? measure_in<T, Space::device>(c) : measure_in<T, Space::host>(c);
    });
  }

 private:
  Rank(const ScalingRequest& request, const Sizes& sizes, Context ctx)
      : ctx_(std::move(ctx)),
        turns_(request.turns),
        x_(ctx_, sizes.x),
        y_(ctx_, sizes.y),
        result_(ctx_, sizes.result),
        units_(ctx_, sizes.units) {
    if (!distributed(ctx_)) return;
    (void)max_of_ranks(ctx_, 0);  // all have their memory, or none waits for NCCL
    if (ctx_.stream) ctx_.communicator = nccl_beside(ctx_.communicator, ctx_.communicator->rank());
  }

  static Context context_of(const ScalingRequest& request, const std::shared_ptr<Communicator>& hosts) {
    Context ctx;
    ctx.threads = request.threads, ctx.communicator = hosts;
    if (hosts->rank() == 0) ctx.log = request.log;
    if (request.gpu) ctx.stream = cuda::Stream(hosts->rank());
    return ctx;
  }

  /// The rows of a slab of ctx.slabs, filled.
  template <class T, Space S>
  [[nodiscard]] Operands<T, S> operands(const ScalingCase& c, const Context& ctx) {
    const int slab = ctx.communicator->rank();
    Places at;
    at.x = x_.data(), at.y = y_.data(), at.result = result_.data();
    auto o = operands_at<T, S>(case_of(c, ctx.slabs.rows(slab)), at);
    const auto fill_rows = [&](const Strided<const T, S>& a, std::uint64_t first) {
      if (a.empty()) return;
      const std::uint64_t key = first + static_cast<std::uint64_t>(ctx.slabs.begin(slab) * a.cols);
      if constexpr (S == Space::device)
        fill(ctx, DeviceStrided<T>(const_cast<T*>(a.data), a.rows, a.cols, a.row_stride, a.col_stride), key);
      else
        fill<T>(ctx.thread_count(), const_cast<T*>(a.data), a.rows * a.cols, key);
    };
    fill_rows(o.x, first_key.x), fill_rows(o.y, first_key.y);
    return o;
  }

  template <class T, Space S>
  [[nodiscard]] std::vector<std::byte> bits_of(const Operands<T, S>& o) const {
    std::vector<std::byte> bits(static_cast<std::size_t>(o.result.rows * o.result.cols) * sizeof(result_t<T>));
    if constexpr (S == Space::device) {
      cuda::copy_bytes(ctx_.stream, bits.data(), o.result.data, bits.size());
      ctx_.stream.synchronize();
    } else {
      std::copy_n(reinterpret_cast<const std::byte*>(o.result.data), bits.size(), bits.begin());
    }
    return bits;
  }

  /// What one rank has at gpu_to_gpu, which works on all units one after the other.
  template <class T, Space S>
  [[nodiscard]] std::vector<std::byte> bits_of_one_rank(const ScalingCase& c) {
    Context one = ctx_;
    const auto collector = std::make_shared<SlabCollector>(units);
    one.communicator = collector, one.determinism = Determinism::gpu_to_gpu;
    one.slabs = RowSlabs::of_units(c.rows, units);
    Operands<T, S> o;
    for (int unit = 0; unit < units; ++unit) {
      collector->begin(unit);
      o = operands<T, S>(c, one);
      run(one, o);
    }
    return bits_of(o);
  }

  template <class T, Space S>
  [[nodiscard]] ScalingMeasured measure_in(const ScalingCase& c) {
    ctx_.slabs = RowSlabs::of_units(c.rows, ctx_.communicator->size());
    ScalingMeasured m;
    m.what = c, m.ranks = ctx_.communicator->size();
    std::vector<std::byte> wanted;
    if (ctx_.communicator->rank() == 0) wanted = bits_of_one_rank<T, S>(c);
    wanted = gather_bytes(ctx_, wanted).front();
    const Operands<T, S> o = operands<T, S>(c, ctx_);
    Context fixed = ctx_;
    fixed.determinism = Determinism::gpu_to_gpu;
    for (const Context* level : {&ctx_, &fixed}) {
      run(*level, o);
      m.worst_error = std::max(m.worst_error, worst_error(*level, o));
    }
    m.same_bits = !any_rank(ctx_, bits_of(o) != wanted);
    if (m.right()) time(o, fixed, m);
    return m;
  }

  template <class T, Space S>
  void time(const Operands<T, S>& o, const Context& fixed, ScalingMeasured& m) {
    const Context here = alone(ctx_);
    const std::size_t bytes = static_cast<std::size_t>(o.result.rows * o.result.cols) * sizeof(result_t<T>);
    const std::span<std::uint64_t> words(reinterpret_cast<std::uint64_t*>(o.result.data),
                                         (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    const std::vector<std::size_t> offsets = offsets_of_units(o.result.rows * o.result.cols * (is_complex<T> ? 2 : 1));
    const std::array<std::function<void()>, 4> works = {[&] { run(ctx_, o); }, [&] { run(fixed, o); },
                                                        [&] {
                                                          run(here, o);
                                                          add(words);
                                                        },
                                                        [&] {
                                                          for (int g = 0; g < 4; ++g) gather_units(offsets);
                                                        }};
    const std::array<double*, 4> seconds = {&m.run_to_run, &m.gpu_to_gpu, &m.plain, &m.gathers};
    std::array<int, 4> batches{};
    std::array<std::vector<double>, 4> times;
    for (std::size_t w = 0; w < works.size(); ++w) {
      works[w]();
      const double once = max_of_ranks(ctx_, clock(1, works[w]));
      batches[w] = std::clamp(static_cast<int>(std::ceil(3 * long_enough / std::max(once, 1e-9))), 1, 200);
    }
    for (int turn = 0; turn < turns_; ++turn)
      for (std::size_t w = 0; w < works.size(); ++w) {
        (void)max_of_ranks(ctx_, 0);  // all begin together
        times[w].push_back(max_of_ranks(ctx_, clock(batches[w], works[w])));
      }
    for (std::size_t w = 0; w < works.size(); ++w) *seconds[w] = timing_of(times[w], batches[w]).median;
  }

  /// Seconds of so many runs: on a GPU between two events of its stream.
  [[nodiscard]] double clock(int runs, const std::function<void()>& work) const {
    const auto all = [&] {
      for (int r = 0; r < runs; ++r) work();
    };
    if (!ctx_.stream) {
      const Stopwatch watch;
      all();
      return watch.seconds();
    }
    cuda::Event start(ctx_.stream), end(ctx_.stream);
    start.record(ctx_.stream);
    all();
    end.record(ctx_.stream);
    return end.seconds_since(start);
  }

  void add(std::span<std::uint64_t> words) const {
    if (!distributed(ctx_)) return;
    if (ctx_.stream)
      ctx_.communicator->add(ctx_.stream, words);
    else
      ctx_.communicator->add(words);
  }

  [[nodiscard]] std::vector<std::size_t> offsets_of_units(index_t numbers) const {
    const index_t unit = row_unit(ctx_.slabs.rows());
    std::vector<std::size_t> offsets;
    for (int r = 0; r <= ctx_.slabs.slabs(); ++r) {
      const index_t first = (ctx_.slabs.begin(r) + unit - 1) / unit;
      offsets.push_back(static_cast<std::size_t>(first * numbers) * sizeof(double));
    }
    return offsets;
  }

  void gather_units(std::span<const std::size_t> offsets) {
    if (!distributed(ctx_)) return;
    (void)(ctx_.stream ? ctx_.communicator->all_gather(ctx_.stream, units_.data(), offsets)
                       : ctx_.communicator->all_gather(units_.data(), offsets));
  }

  Context ctx_;  // at run_to_run
  int turns_;
  Memory x_, y_, result_, units_;
};

/// Compiles, in parallel, what one rank starts.
void prepare(const ScalingRequest& request, const std::vector<ScalingCase>& cases, int ranks) {
  Context ctx;
  ctx.stream = cuda::Stream(0), ctx.log = request.log;
  std::vector<cuda::KernelPlan> plans;
  const auto take = [&](const std::vector<cuda::KernelPlan>& some) {
    plans.insert(plans.end(), some.begin(), some.end());
  };
  for (const ScalingCase& c : cases) {
    take(bench_plans(c.type));
    for (const Determinism level : {Determinism::run_to_run, Determinism::gpu_to_gpu})
      take(kernels_of(case_of(c, c.rows / ranks), ctx.stream.device(), level));
  }
  cuda::prepare(ctx, plans);
}

}  // namespace

std::size_t scaling_bytes(const std::vector<ScalingCase>& cases, int ranks) { return sizes_of(cases, ranks).sum(); }

void measure_scaling(const ScalingRequest& request, int ranks, const std::vector<ScalingCase>& cases,
                     const std::function<void(const ScalingMeasured&)>& done) {
  if (request.gpu) {
    const auto found = static_cast<int>(cuda::list_devices().devices.size());
    if (found < ranks)
      throw Error(Errc::no_device,
                  std::to_string(ranks) + " ranks need a GPU each, and there are " + std::to_string(found));
    prepare(request, cases, ranks);
  }
  run_on_threads(ranks, [&](const std::shared_ptr<Communicator>& hosts) {
    Rank rank(request, cases, hosts);
    for (const ScalingCase& c : cases) {
      const ScalingMeasured m = rank.measure(c);
      if (hosts->rank() == 0) done(m);
    }
  });
}

}  // namespace ts::bench
