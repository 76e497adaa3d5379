#include <atomic>
#include <thread>
#include <vector>

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/cpu/outer.hpp"
#include "tallskinny/gemm/cpu/row_cuts.hpp"
#include "tallskinny/gemm/plan/processor_info.hpp"
#include "tallskinny/gemm/spmm/detail.hpp"

namespace ts::inline v0::fast {

namespace {

/// A row-major view of X: X itself, or a copy where it lies column by column.
template <class T>
Strided<const T> row_major(const Strided<const T>& x, Matrix<T>& copy, int threads) {
  if (x.col_stride == 1 || x.cols == 1) return x;
  copy = Matrix<T>(x.rows, x.cols);
  const auto to = copy.view();
  constexpr index_t block = 512;  // whole lines of the source, and a target block that stays in cache
  parallel_pieces(threads, (x.rows + block - 1) / block, [&](index_t c, int) {
    const index_t end = std::min(x.rows, (c + 1) * block);
    for (index_t j = 0; j < x.cols; ++j)
      for (index_t i = c * block; i < end; ++i) to(i, j) = x(i, j);
  });
  return Strided<const T>(copy.cview());
}

/// Rows cut where the number of entries (and rows) before the cut is about even.
template <class T, class I>
class RowCuts {
 public:
  RowCuts(const CsrView<T, Space::host, I>& a, StepRows rows, int threads)
      : a_(a), rows_(rows), count_(cpu::sparse_chunks(weight(rows.end) - weight(rows.begin), 0, threads)) {}
  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] index_t begin(index_t c) const noexcept {
    const index_t all = weight(rows_.end) - weight(rows_.begin);
    const index_t wanted = weight(rows_.begin) + all / count_ * c + all % count_ * c / count_;
    index_t low = rows_.begin, high = rows_.end;  // the first row of at least that weight
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (weight(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return c == count_ ? rows_.end : low;
  }

 private:
  [[nodiscard]] index_t weight(index_t row) const noexcept { return a_.pointers[row] + row; }
  CsrView<T, Space::host, I> a_;
  StepRows rows_;
  index_t count_;
};

/// Y = alpha A X + beta Y: each row of Y is the work of one thread.
template <class T, class I>
void multiply(const Context& ctx, int threads, result_t<T> alpha, const CsrView<T, Space::host, I>& a,
              Strided<const T> x, result_t<T> beta, Strided<result_t<T>> y) {
  using C = result_t<T>;
  const auto& kernel = std::get<cpu::SparseKernels<T, I>>(cpu::row_kernels(ctx.simd).sparse);
  const cpu::Target<C> target(cpu::kernels(ctx.simd), beta, y, true);
  const index_t width = y.cols * cpu::reals_in<C>;
  constexpr index_t rows_unit = 64, buffer_bytes = 16 << 10;  // streamed blocks meet on line boundaries
  const index_t block =
      std::max<index_t>(1, buffer_bytes / (width * static_cast<index_t>(sizeof(real_t<C>))) / rows_unit) * rows_unit;
  cpu::Scratch<C> scratch(threads, block * y.cols + 64);
  const RowCuts<T, I> cuts(a, {0, a.rows}, threads);
  parallel_pieces(threads, cuts.count(), [&](index_t chunk, int thread) {
    C* out = scratch.of(thread);
    const index_t end = cuts.begin(chunk + 1);
    for (index_t i = cuts.begin(chunk); i < end; i += block) {
      const index_t rows = std::min(block, end - i);
      kernel.gather(a, i, i + rows, x, out);
      if (alpha != C{1})
        for (index_t k = 0; k < rows * y.cols; ++k) out[k] = cpu::scaled(alpha, out[k]);
      target.put(i, rows, reinterpret_cast<real_t<C>*>(out));
    }
    target.finish();
  });
}

/// Columns of A cut so that each range holds about as many entries; counted in bins of neighbouring columns.
template <class T, class I>
std::vector<index_t> column_cuts(const CsrView<T, Space::host, I>& a, int ranges) {
  const index_t bins = std::min<index_t>(a.cols, 4096), in_bin = (a.cols + bins - 1) / bins;
  std::vector<index_t> entries(static_cast<std::size_t>(bins));
  for (index_t e = 0; e < a.nonzeros(); ++e) ++entries[static_cast<std::size_t>(a.indices[e] / in_bin)];
  std::vector<index_t> cuts = {0};
  index_t before = 0;
  for (index_t bin = 0; bin < bins; ++bin) {
    before += entries[static_cast<std::size_t>(bin)];
    while (static_cast<int>(cuts.size()) < ranges &&
           before >= a.nonzeros() / ranges * static_cast<index_t>(cuts.size()))
      cuts.push_back(std::min(a.cols, (bin + 1) * in_bin));
  }
  cuts.resize(static_cast<std::size_t>(ranges), a.cols);
  cuts.push_back(a.cols);
  return cuts;
}

/// Y = alpha A^T X + beta Y (or A^H): every thread reads all of A but writes only its own rows of Y, in the
/// order of A's rows, so that the bits do not depend on how many threads there are.
template <class T, class I>
void multiply_transposed(const Context& ctx, int threads, Op op, result_t<T> alpha, const CsrView<T, Space::host, I>& a,
                         Strided<const T> x, result_t<T> beta, Strided<result_t<T>> y) {
  using C = result_t<T>;
  const auto& kernel = std::get<cpu::SparseKernels<T, I>>(cpu::row_kernels(ctx.simd).sparse);
  const bool in_place = y.col_stride == 1 || y.cols == 1;
  Matrix<C> copy;
  Strided<C> sum = y;
  if (!in_place) {
    copy = Matrix<C>(y.rows, y.cols);
    sum = Strided<C>(copy.view());
  }
  const auto cuts = threads > 1 ? column_cuts(a, threads) : std::vector<index_t>{0, a.cols};
  parallel_pieces(threads, threads, [&](index_t range, int) {
    const index_t first = cuts[static_cast<std::size_t>(range)], end = cuts[static_cast<std::size_t>(range) + 1];
    for (index_t i = first; i < end; ++i)
      for (index_t j = 0; j < y.cols; ++j) sum(i, j) = beta == C{} ? C{} : cpu::scaled(beta, y(i, j));
    kernel.scatter({a, first, end, op == Op::adjoint, alpha, x, sum});
    if (!in_place)
      for (index_t j = 0; j < y.cols; ++j)
        for (index_t i = first; i < end; ++i) y(i, j) = sum(i, j);
  });
}

}  // namespace

template <class T, class I>
void spmm(const Context& ctx, Op op_a, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x,
          result_t<T> beta, Strided<result_t<T>> y) {
  const index_t bytes = a.nonzeros() * static_cast<index_t>(sizeof(T) + sizeof(I)) +
                        (x.rows * x.cols + y.rows * y.cols) * static_cast<index_t>(sizeof(T));
  const int threads = cpu::threads_for(ctx, bytes);
  Matrix<T> copy;
  const auto rows_of_x = row_major(x, copy, threads);
  if (op_a == Op::none)
    multiply<T, I>(ctx, threads, alpha, a, rows_of_x, beta, y);
  else
    multiply_transposed<T, I>(ctx, threads, op_a, alpha, a, rows_of_x, beta, y);
}

template <class T, class I>
SpmmSteps spmm_steps(const Context& ctx, const CsrView<T, Space::host, I>& a, index_t columns) {
  constexpr int most = 8;                                          // beyond, arithmetic is what counts
  constexpr index_t share_of_cache = 2;                            // others have some of it too
  constexpr index_t fewest_tile_rows = 64, tile_bytes = 64 << 10;  // of X, A and Y
  const index_t row_bytes =                                        // that a step moves
      3 * columns * static_cast<index_t>(sizeof(T)) +
      a.nonzeros() / std::max<index_t>(a.rows, 1) * static_cast<index_t>(sizeof(T) + sizeof(I)) + 8;
  const index_t tile = std::max(fewest_tile_rows, tile_bytes / row_bytes);
  const int threads = cpu::threads_for(ctx, a.rows * row_bytes);
  const SpmmSteps one = spmm_steps_of(a.rows, std::max<index_t>(a.facts.reach, 0), tile, threads);
  const index_t kept = std::min(a.rows, this_cpu().l3_bytes / share_of_cache / row_bytes) / threads;
  int count = a.facts.reach < 0 ? 1 : most;
  while (count > 1 && ((count - 1) * one.lag + 1) * tile > kept) --count;
  return one.of(count);
}

template <class T, class I>
void spmm_recurrence(const Context& ctx, const SpmmSteps& s, real_t<T> alpha, const CsrView<T, Space::host, I>& a,
                     real_t<T> shift, Strided<T> x, real_t<T> beta, Strided<T> y) {
  using Kernels = cpu::SparseKernels<T, I>;
  const auto& kernel = std::get<Kernels>(cpu::row_kernels(ctx.simd).sparse);
  const typename Kernels::Step turns[] = {{a, alpha, shift, beta, x, y}, {a, alpha, shift, beta, y, x}};
  if (s.count == 1) {  // nothing to keep apart: threads share the entries evenly
    const RowCuts<T, I> cuts(a, s.rows_of(0), s.domains);
    return parallel_pieces(s.domains, cuts.count(),
                           [&](index_t c, int) { kernel.step(turns[0], cuts.begin(c), cuts.begin(c + 1)); });
  }
  std::vector<std::atomic<int>> finished(static_cast<std::size_t>(s.tiles));  // steps that a tile has behind it
  const auto ready = [&](const SpmmSteps::Item& item) {
    if (item.step == 0 || item.tile < 0) return true;
    for (index_t t = std::max<index_t>(item.tile - s.reach, 0); t <= std::min(item.tile + s.reach, s.tiles - 1); ++t)
      if (finished[static_cast<std::size_t>(t)].load(std::memory_order_acquire) < item.step) return false;
    return true;
  };
  const auto carry_out = [&](const SpmmSteps::Item& item) {
    if (item.tile < 0) return;
    if (const StepRows rows = s.rows_of(item); rows.count() > 0)
      kernel.step(turns[item.step % 2], rows.begin, rows.end);
    finished[static_cast<std::size_t>(item.tile)].store(item.step + 1, std::memory_order_release);
  };
  struct alignas(64) Domain {
    std::atomic_flag taken;
    std::atomic<index_t> next = 0;  // place, written by who has taken it
  };
  std::vector<Domain> domains(static_cast<std::size_t>(s.domains));
  // A thread that cannot go on in its own domain takes a step in another, so that one thread alone gets through.
  parallel(s.domains, [&](int own) {
    for (bool left = true; left; std::this_thread::yield()) {
      left = false;
      for (int k = 0; k < s.domains; ++k) {
        const int d = (own + k) % s.domains;
        auto& [taken, next] = domains[static_cast<std::size_t>(d)];
        const index_t end = s.places(d);
        if (next == end) continue;
        left = true;
        if (taken.test_and_set(std::memory_order_acquire)) continue;
        index_t place = next;
        for (bool more = true; more && place < end && ready(s.item(d, place)); more = k == 0)
          carry_out(s.item(d, place)), next = ++place;
        taken.clear(std::memory_order_release);
      }
    }
  });
}

TS_FOR_EACH_RESULT_TYPE(TS_INDEXED_FUNCTION, spmm_steps)
TS_FOR_EACH_RESULT_TYPE(TS_INDEXED_FUNCTION, spmm_recurrence)
#undef TS_INSTANTIATE_INDEX

TS_FOR_EACH_TYPE(TS_INDEXED_FUNCTION, spmm)
#undef TS_INSTANTIATE_INDEX

}  // namespace ts::inline v0::fast
