#include "tallskinny/gemm/cpu/outer.hpp"
#include "tallskinny/gemm/cpu/row_cuts.hpp"
#include "tallskinny/gemm/project/detail.hpp"

namespace ts::fast {

namespace {

/// One pass over V and W, chunk by chunk: update (if there is a factor), then V^H W and W^H W of the rows
/// that are still in cache.
template <class T>
void pass(const Context& ctx, const cpu::Kernels& kernels, Strided<const T> v, const cpu::SmallFactor<T>* minus_s,
          Strided<T> w, Strided<T> s_next, Strided<T> g) {
  using R = real_t<T>;
  const cpu::PanelSource<T> from_v(kernels, v), from_w(kernels, cpu::as_const(w));
  const cpu::InnerProduct<T> inner(kernels, v.cols, w.cols, false), gram(kernels, w.cols, w.cols, true);
  const cpu::Target<T> target(kernels, T{1}, w, false);
  const bool wants_inner = !s_next.empty(), wants_gram = !g.empty();
  const index_t width_v = from_v.width(), width_w = from_w.width();
  const bool packed_inner = inner.narrow(), packed_gram = gram.narrow();

  const index_t row_bytes = (width_v + width_w) * static_cast<index_t>(sizeof(R));
  const index_t block = cpu::pass_block(row_bytes);
  const index_t inner_size = wants_inner ? inner.size() : 0, gram_size = wants_gram ? gram.size() : 0;
  const index_t sums_size = (inner_size + 7) / 8 * 8 + gram_size;
  const RowParts parts = row_parts(ctx, minus_s == nullptr ? "inner_and_gram" : "project_out", w.rows);
  const cpu::Chunks chunks = cpu::chunks_for(parts, block, width_v + width_w, sums_size);
  const int threads = cpu::threads_for(ctx, w.rows * row_bytes);
  cpu::PartialSums partial(parts, chunks, sums_size);
  const index_t v_size = block * width_v, w_size = block * width_w;
  const index_t out_size = minus_s == nullptr ? 0 : minus_s->buffer_size(minus_s->block_rows());
  cpu::Scratch<R> scratch(threads, v_size + w_size + out_size + std::max(inner.pack_size(), gram.pack_size()));

  const bool where_it_lies = minus_s != nullptr && minus_s->adds() && from_w.row_major();
  const index_t ld_to = where_it_lies ? w.row_stride * cpu::reals_in<T> : width_w;

  parallel_pieces(threads, chunks.count, [&](index_t chunk, int thread) {
    double* const inner_sums = partial.clear(chunk);
    double* const gram_sums = inner_sums + (inner_size + 7) / 8 * 8;
    R* const v_buffer = scratch.of(thread);
    R* const w_buffer = v_buffer + v_size;
    R* const out = w_buffer + w_size;
    R* const pack = out + out_size;
    for (index_t i = chunks.begin(chunk); i < chunks.end(chunk); i += block) {
      const index_t rows = std::min(block, chunks.end(chunk) - i);
      cpu::Panel<R> part_v{nullptr, 0};
      if (width_v != 0) part_v = from_v.block(i, rows, 0, width_v, packed_inner, v_buffer);
      if (minus_s != nullptr) {  // W = W - V S
        const index_t few = minus_s->block_rows(), depth = minus_s->block_depth();
        for (index_t r = 0; r < rows; r += few) {
          const index_t count = std::min(few, rows - r);
          R* const to = where_it_lies ? target.rows_from(i + r) : out;
          for (index_t first = 0; first < width_v; first += depth)
            minus_s->apply({part_v.data + r * part_v.ld + first, part_v.ld}, count, first,
                           std::min(depth, width_v - first),
                           where_it_lies || first > 0 ? cpu::Write::add : cpu::Write::store, to, ld_to,
                           depth >= width_v ? cpu::ask_ahead(from_v, from_w, i + r, count) : cpu::Ahead{});
          if (!where_it_lies) target.put(i + r, count, out);
        }
      }
      if (!wants_inner && !wants_gram) continue;
      const auto part_w = from_w.block(i, rows, 0, width_w, packed_inner || packed_gram, w_buffer);
      for (index_t r = 0; r < rows; r += inner.block()) {
        const index_t count = std::min(inner.block(), rows - r);
        const cpu::Panel<R> few_w{part_w.data + r * part_w.ld, part_w.ld};
        if (wants_inner)
          inner.add({part_v.data + r * part_v.ld, part_v.ld}, few_w, count, inner_sums, pack,
                    minus_s == nullptr ? cpu::ask_ahead(from_v, from_w, i + r, count) : cpu::Ahead{});
        if (wants_gram) gram.add(few_w, few_w, count, gram_sums, pack, {});
      }
    }
  });
  if (!wants_inner && !wants_gram) return;
  const double* const sums = partial.total(ctx, threads);
  if (sums == nullptr) return;
  if (wants_inner) inner.finish(Op::adjoint, T{1}, sums, T{}, s_next);
  if (wants_gram) gram.finish(Op::adjoint, T{1}, sums + (inner_size + 7) / 8 * 8, T{}, g);
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

#define TS_INSTANTIATE(T)                                                                                      \
  template void inner_and_gram<T>(const Context&, Strided<const T>, Strided<const T>, Strided<T>, Strided<T>); \
  template void project_out<T>(const Context&, Strided<const T>, Strided<const T>, Strided<T>, Strided<T>, Strided<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::fast
