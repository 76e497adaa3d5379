#include "tallskinny/gemm/cpu/describe.hpp"

#include "tallskinny/gemm/cpu/outer.hpp"
#include "tallskinny/gemm/cpu/row_cuts.hpp"

namespace ts::inline v0::cpu {

namespace {

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

}  // namespace

FastPath describe(const Problem& problem, Simd simd, int threads) {
#define TS_CASE(T) \
  if (problem.type == dtype_of<T>) return describe_type<T>(problem, simd, threads);
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
  throw Error(Errc::invalid_argument, "a problem's element type is not one of the six");
}

}  // namespace ts::inline v0::cpu
