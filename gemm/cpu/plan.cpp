#include "tallskinny/gemm/plan/plan.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/cpu/outer.hpp"
#include "tallskinny/gemm/cpu/row_cuts.hpp"

namespace ts::inline v0::cpu {

namespace {

/// What the fast path would do with a problem, asked from the very objects that do it.
struct FastPath {
  std::string_view kernel;
  int lanes = 1;                   ///< of a vector of the type computed in
  int fold = 1;                    ///< rows that share a vector
  int tile_rows = 1;               ///< register tile: numbers spread over vectors, by
  int tile_cols = 1;               ///< numbers lying in them
  index_t spread = 1, across = 1;  ///< the dimensions, in reals, that the tile is to cover
  index_t chunk_rows = 0, chunks = 0;
  int threads = 1;
  bool streams = false;
};

/// The tables of a level as data: nothing of them is called.
const Kernels& table_of([[maybe_unused]] Simd simd) {
#if defined(TS_X86_KERNELS)
  if (simd >= Simd::avx512) return avx512::table;
  if (simd == Simd::avx2) return avx2::table;
#endif
  return base::table;
}

void set_chunks(FastPath& d, const Chunks& chunks) {
  d.chunk_rows = chunks.size;
  d.chunks = chunks.count;
}

template <class T>
void describe_inner(FastPath& d, const Problem& problem, const Kernels& kernels) {
  const bool gram = problem.operation == Operation::gram;
  const index_t p = problem.p * reals_in<T>, q = (gram ? problem.p : problem.q) * reals_in<T>;
  const InnerProduct<T> product(kernels, problem.p, gram ? problem.p : problem.q, gram);
  d.spread = std::min(p, q), d.across = std::max(p, q);
  if (product.narrow()) d.fold = static_cast<int>(d.lanes / d.across);
  if (problem.operation == Operation::tsmttsm || gram)
    return set_chunks(d, chunks_for(whole_rows(problem.n), product.block(), p + q, product.size()));
  const InnerProduct<T> of_w(kernels, problem.q, problem.q, true);
  const index_t block = pass_block((p + q) * static_cast<index_t>(sizeof(real_t<T>)));
  set_chunks(d, chunks_for(whole_rows(problem.n), block, p + q, (product.size() + 7) / 8 * 8 + of_w.size()));
}

template <class T>
void describe_outer(FastPath& d, const Problem& problem, const Kernels& kernels) {
  using C = result_t<T>;
  constexpr index_t deep = 1024;  // as good as any larger depth: it is worked on in pieces
  const SmallFactor<T> factor(kernels, std::min(problem.p, deep), problem.q, false,
                              [](index_t, index_t) { return C{}; });
  d.spread = 1, d.across = factor.width();
  if (factor.narrow()) d.fold = static_cast<int>(d.lanes / std::max(factor.depth(), factor.width()));
  set_chunks(d, Chunks(problem.n, factor.block_rows(), most_row_chunks));
  d.streams = streams(problem.n * problem.q * static_cast<index_t>(sizeof(C)),
                      problem.contiguous && !problem.accumulate && problem.operation != Operation::tsmm_in_place);
}

template <class T>
void describe_rows(FastPath& d, const Problem& problem, const Kernels& kernels) {
  using C = result_t<T>;
  const index_t p = problem.p * reals_in<T>;
  d.tile_rows = 1, d.tile_cols = 4 * d.lanes;  // four vectors at a time
  switch (problem.operation) {
    case Operation::spmm:
      d.across = problem.q * reals_in<T>;
      d.chunks = sparse_chunks(problem.nonzeros, problem.n, d.threads);
      d.chunk_rows = (problem.n + d.chunks - 1) / d.chunks;  // on average: chunks are even in entries
      d.streams =
          streams(problem.n * problem.q * static_cast<index_t>(sizeof(C)), problem.contiguous && !problem.accumulate);
      d.kernel = "rows of A";
      return;
    case Operation::column_norms:
      d.across = p;
      d.fold = static_cast<int>(squares_fold(problem.contiguous, p));
      set_chunks(d, squares_chunks(whole_rows(problem.n), problem.p * static_cast<index_t>(sizeof(T)), p, d.fold));
      return;
    default: {
      const bool in_place = kernels.has_permute && problem.contiguous;
      d.across = std::min<index_t>(p, d.lanes);
      d.fold = in_place && p <= d.lanes ? static_cast<int>(d.lanes / p) : 1;
      set_chunks(d, solve_chunks(problem.n, in_place, problem.p * static_cast<index_t>(sizeof(T))));
      if (!in_place) d.kernel = kernels.has_permute ? "rows where they lie, or transposed panels" : "transposed panels";
    }
  }
}

template <class T>
FastPath describe_type(const Problem& problem, Simd simd, int threads) {
  const Kernels& kernels = table_of(simd);
  const auto& real = kernels.real<real_t<T>>();
  Context ctx;
  ctx.threads = threads;
  FastPath d;
  d.lanes = static_cast<int>(real.lanes);
  d.tile_rows = static_cast<int>(real.tile_rows), d.tile_cols = static_cast<int>(real.tile_columns);
  d.threads = threads_for(ctx, static_cast<index_t>(cost_of(problem).bytes()));
  d.kernel = problem.contiguous ? "rows" : "rows, copied where they do not lie row by row";
  if (problem.n == 0 || problem.p == 0 || problem.q == 0) return d;
  switch (problem.operation) {
    case Operation::tsmttsm:
    case Operation::gram:
    case Operation::inner_and_gram:
    case Operation::project_out: describe_inner<T>(d, problem, kernels); break;
    case Operation::tsmm:
    case Operation::tsmm_in_place:
    case Operation::tsm2r: describe_outer<T>(d, problem, kernels); break;
    default: describe_rows<T>(d, problem, kernels);
  }
  if (d.fold > 1) {
    d.kernel = "folded rows";
    d.tile_rows = 1, d.tile_cols = d.lanes;
  }
  d.threads = static_cast<int>(std::clamp<index_t>(d.chunks, 1, d.threads));
  return d;
}

/// For the vector level `simd`, whether or not this processor has it, and up to `threads` threads.
FastPath describe(const Problem& problem, Simd simd, int threads) {
  return by_type(problem.type,
                 [&]<class T>(std::type_identity<T>) { return describe_type<T>(problem, simd, threads); });
}

}  // namespace

}  // namespace ts::inline v0::cpu

namespace ts::inline v0 {

namespace {

constexpr index_t ceil_div(index_t a, index_t b) noexcept { return (a + b - 1) / b; }

bool double_precision(DType t) noexcept { return t == DType::float64 || t == DType::complex128; }

Simd level_of(Simd wanted, const ProcessorInfo& device) {
  if (wanted == Simd::best) return device.simd;
  if (wanted == Simd::amx && device.simd == Simd::avx512) return device.simd;  // tiles serve none of these
  if (wanted > device.simd)
    throw Error(Errc::invalid_argument, "this processor has no " + std::string(name_of(wanted)) +
                                            " instructions (the widest it has are " +
                                            std::string(name_of(device.simd)) + ")");
  return wanted;
}

/// Useful share of whole tiles (seed of the idea: NVIDIA's matrix multiplication guide, "tile quantization").
double tile_share(index_t size, index_t tile) noexcept {
  return size == 0 ? 1.0 : static_cast<double>(size) / static_cast<double>(ceil_div(size, tile) * tile);
}

void decide(Plan& plan, const ProcessorInfo& device, int threads) {
  const cpu::FastPath d = cpu::describe(plan.problem, plan.simd, threads > 0 ? threads : device.threads);
  plan.kernel = d.kernel;
  plan.lanes = d.lanes, plan.fold = d.fold, plan.tile_rows = d.tile_rows, plan.tile_cols = d.tile_cols;
  plan.chunk_rows = d.chunk_rows, plan.chunks = d.chunks, plan.threads = d.threads;
  plan.streaming_stores = d.streams;
  // Tiles shrink at the edges to whole vectors; what a last vector does beyond the width is lost.
  plan.tile_utilisation = plan.fold > 1 ? tile_share(d.across * d.fold, d.lanes) : tile_share(d.across, d.lanes);
  plan.wave_utilisation = plan.chunks == 0 ? 1.0 : tile_share(plan.chunks, plan.threads);
}

void predict(Plan& plan, const ProcessorInfo& device) {
  const double share = static_cast<double>(plan.threads) / device.threads;
  const bool in_cache = plan.cost.bytes() <= static_cast<double>(device.l2_bytes) * plan.threads;
  const bool writes = plan.cost.written_bytes * 20 > plan.cost.read_bytes;
  const double bandwidth = in_cache ? device.cache_bytes_per_second * share
                           : writes ? device.copy_bytes_per_second
                                    : device.read_bytes_per_second;
  const double peak = double_precision(plan.problem.type) ? device.float64_flops : device.float32_flops;
  const double narrower = static_cast<double>(plan.lanes) / lanes_of(device.simd, plan.problem.type);
  plan.memory_seconds = plan.cost.bytes() / bandwidth;
  plan.arithmetic_seconds = plan.cost.flops / (peak * share * narrower * plan.tile_utilisation * plan.wave_utilisation);
  plan.launch_seconds = plan.threads > 1 ? device.launch_seconds : device.launch_seconds / 10;
  const double work = std::max(plan.memory_seconds, plan.arithmetic_seconds);
  plan.seconds = work + plan.launch_seconds;
  plan.bound = plan.launch_seconds > work                      ? Bound::launch
               : plan.arithmetic_seconds > plan.memory_seconds ? Bound::arithmetic
                                                               : Bound::memory;
}

}  // namespace

std::string_view name_of(Bound bound) noexcept {
  switch (bound) {
    case Bound::memory: return "memory";
    case Bound::arithmetic: return "arithmetic";
    case Bound::launch: return "launch";
  }
  return "?";
}

Plan make_plan(const Problem& problem, const ProcessorInfo& device, const PlanOverrides& wish) {
  Plan plan;
  plan.problem = problem;
  plan.cost = cost_of(problem);
  plan.simd = level_of(wish.simd, device);
  expects(wish.threads >= 0, "threads must not be negative");
  decide(plan, device, wish.threads);
  predict(plan, device);
  return plan;
}

}  // namespace ts::inline v0
