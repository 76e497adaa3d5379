#include "tallskinny/gemm/cpu/outer.hpp"
#include "tallskinny/gemm/cpu/row_cuts.hpp"
#include "tallskinny/gemm/project/detail.hpp"

namespace ts::inline v0::fast {

namespace {

/// What a pass over V and W does with a few rows of them: update (if there is a factor), then V^H W and W^H W.
template <class T>
struct ProjectPass {
  using R = real_t<T>;

  ProjectPass(const cpu::Kernels& kernels, Strided<const T> v, const cpu::SmallFactor<T>* factor, Strided<T> w,
              bool with_inner, bool with_gram)
      : from_v(kernels, v),
        from_w(kernels, cpu::as_const(w)),
        inner(kernels, v.cols, w.cols, false),
        gram(kernels, w.cols, w.cols, true),
        target(kernels, T{1}, w, false),
        minus_s(factor),
        wants_inner(with_inner),
        wants_gram(with_gram),
        in_place(factor != nullptr && factor->adds() && from_w.row_major()),
        ld_updated(in_place ? w.row_stride * cpu::reals_in<T> : from_w.width()) {}

  [[nodiscard]] index_t inner_size() const { return wants_inner ? (inner.size() + 7) / 8 * 8 : 0; }
  [[nodiscard]] index_t sums_size() const { return inner_size() + (wants_gram ? gram.size() : 0); }

  /// W = W - V S for rows `first` .. first+rows-1, by way of `out` where W cannot be updated where it lies.
  void update(index_t first, index_t rows, cpu::Panel<R> v, R* out) const {
    const index_t few = minus_s->block_rows(), depth = minus_s->block_depth(), width = from_v.width();
    for (index_t r = 0; r < rows; r += few) {
      const index_t count = std::min(few, rows - r);
      R* const to = in_place ? target.rows_from(first + r) : out;
      for (index_t k = 0; k < width; k += depth)
        minus_s->apply({v.data + r * v.ld + k, v.ld}, count, k, std::min(depth, width - k),
                       in_place || k > 0 ? cpu::Write::add : cpu::Write::store, to, ld_updated,
                       depth >= width ? cpu::ask_ahead(from_v, from_w, first + r, count) : cpu::Ahead{});
      if (!in_place) target.put(first + r, count, out);
    }
  }

  /// Adds the products of those rows to `sums`.
  void add(index_t first, index_t rows, cpu::Panel<R> v, cpu::Panel<R> w, double* sums, R* pack) const {
    for (index_t r = 0; r < rows; r += inner.block()) {
      const index_t count = std::min(inner.block(), rows - r);
      const cpu::Panel<R> few{w.data + r * w.ld, w.ld};
      if (wants_inner)
        inner.add({v.data + r * v.ld, v.ld}, few, count, sums, pack,
                  minus_s == nullptr ? cpu::ask_ahead(from_v, from_w, first + r, count) : cpu::Ahead{});
      if (wants_gram) gram.add(few, few, count, sums + inner_size(), pack, {});
    }
  }

  cpu::PanelSource<T> from_v, from_w;
  cpu::InnerProduct<T> inner, gram;
  cpu::Target<T> target;
  const cpu::SmallFactor<T>* minus_s;
  bool wants_inner, wants_gram;
  bool in_place;  ///< W is updated where it lies
  index_t ld_updated;
};

/// One pass over V and W, chunk by chunk, whose sums are of rows that are still in cache.
template <class T>
void pass(const Context& ctx, const cpu::Kernels& kernels, Strided<const T> v, const cpu::SmallFactor<T>* minus_s,
          Strided<T> w, Strided<T> s_next, Strided<T> g) {
  using R = real_t<T>;
  const ProjectPass<T> of(kernels, v, minus_s, w, !s_next.empty(), !g.empty());
  const index_t width_v = of.from_v.width(), width_w = of.from_w.width();
  const index_t row_bytes = (width_v + width_w) * static_cast<index_t>(sizeof(R));
  const index_t block = cpu::pass_block(row_bytes);
  const RowParts parts = row_parts(ctx, minus_s == nullptr ? "inner_and_gram" : "project_out", w.rows);
  const cpu::Chunks chunks = cpu::chunks_for(parts, block, width_v + width_w, of.sums_size());
  const int threads = cpu::threads_for(ctx, w.rows * row_bytes);
  cpu::PartialSums partial(parts, chunks, of.sums_size());
  const index_t v_size = block * width_v, w_size = block * width_w;
  const index_t out_size = minus_s == nullptr ? 0 : minus_s->buffer_size(minus_s->block_rows());
  cpu::Scratch<R> scratch(threads, v_size + w_size + out_size + std::max(of.inner.pack_size(), of.gram.pack_size()));

  parallel_pieces(threads, chunks.count, [&](index_t chunk, int thread) {
    double* const sums = partial.clear(chunk);
    R* const v_buffer = scratch.of(thread);
    R* const w_buffer = v_buffer + v_size;
    R* const out = w_buffer + w_size;
    for (index_t i = chunks.begin(chunk); i < chunks.end(chunk); i += block) {
      const index_t rows = std::min(block, chunks.end(chunk) - i);
      cpu::Panel<R> part_v{nullptr, 0};
      if (width_v != 0) part_v = of.from_v.block(i, rows, 0, width_v, of.inner.narrow(), v_buffer);
      if (minus_s != nullptr) of.update(i, rows, part_v, out);
      if (!of.wants_inner && !of.wants_gram) continue;
      const bool packed = of.inner.narrow() || of.gram.narrow();
      of.add(i, rows, part_v, of.from_w.block(i, rows, 0, width_w, packed, w_buffer), sums, out + out_size);
    }
  });
  if (!of.wants_inner && !of.wants_gram) return;
  const double* const sums = partial.total(ctx, threads);
  if (sums == nullptr) return;
  if (of.wants_inner) of.inner.finish(Op::adjoint, T{1}, sums, T{}, s_next);
  if (of.wants_gram) of.gram.finish(Op::adjoint, T{1}, sums + of.inner_size(), T{}, g);
}

}  // namespace

template <class T>
void inner_and_gram(const Context& ctx, Strided<const T> v, Strided<const T> w, Strided<T> s, Strided<T> g) {
  Strided<T> read_only_w;
  read_only_w.data = const_cast<T*>(w.data), read_only_w.rows = w.rows, read_only_w.cols = w.cols;
  read_only_w.row_stride = w.row_stride, read_only_w.col_stride = w.col_stride;
  pass<T>(ctx, cpu::kernels(ctx.simd), v, nullptr, read_only_w, s, g);
}

template <class T>
void project_out(const Context& ctx, Strided<const T> v, Strided<const T> s, Strided<T> w, Strided<T> s_next,
                 Strided<T> g) {
  const cpu::Kernels& kernels = cpu::kernels(ctx.simd);
  if (v.cols == 0) return pass<T>(ctx, kernels, v, nullptr, w, s_next, g);
  const cpu::SmallFactor<T> minus_s(kernels, s.rows, s.cols, false, [&](index_t i, index_t j) { return -s(i, j); });
  pass<T>(ctx, kernels, v, &minus_s, w, s_next, g);
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, inner_and_gram)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, project_out)

}  // namespace ts::inline v0::fast
