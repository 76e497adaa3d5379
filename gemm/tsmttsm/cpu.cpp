#include "tallskinny/gemm/cpu/library.hpp"
#include "tallskinny/gemm/tsmttsm/detail.hpp"

namespace ts::inline v0::fast {

namespace {

template <class T>
void inner_product(const Context& ctx, Op op, result_t<T> alpha, Strided<const T> a, Strided<const T> b,
                   result_t<T> beta, Strided<result_t<T>> c, bool gram) {
  using R = real_t<T>;
  const cpu::Kernels& kernels = cpu::kernels(ctx.simd);
  if (cpu::library_inner<T>(ctx, kernels, op, alpha, a, b, beta, c, gram)) return;
  const cpu::PanelSource<T> from_a(kernels, a), from_b(kernels, b);
  const cpu::InnerProduct<T> product(kernels, a.cols, b.cols, gram);
  const bool stored = product.narrow() && from_a.contiguous() && from_b.contiguous();

  const index_t width_a = from_a.width(), width_b = from_b.width(), block = product.block();
  const int threads = cpu::threads_for(ctx, a.rows * (a.cols + b.cols) * static_cast<index_t>(sizeof(T)));
  const RowParts parts = row_parts(ctx, gram ? "gram" : "tsmttsm", a.rows);
  const cpu::Chunks chunks = cpu::chunks_for(parts, block, width_a + width_b, product.size());
  cpu::PartialSums partial(parts, chunks, product.size());
  cpu::Scratch<R> scratch(threads, product.pack_size() + (stored ? 0 : block * (width_a + width_b)));

  parallel_pieces(threads, chunks.count, [&](index_t chunk, int thread) {
    double* sums = partial.clear(chunk);
    R* const pack = scratch.of(thread);
    R* const buffer = pack + product.pack_size();
    for (index_t i = chunks.begin(chunk); i < chunks.end(chunk); i += block) {
      const index_t rows = std::min(block, chunks.end(chunk) - i);
      if (stored) {
        product.add_stored(from_a.stored(i), from_b.stored(i), rows, sums);
        continue;
      }
      const auto part_a = from_a.block(i, rows, 0, width_a, product.narrow(), buffer);
      const auto part_b = gram ? part_a : from_b.block(i, rows, 0, width_b, product.narrow(), buffer + block * width_a);
      product.add(part_a, part_b, rows, sums, pack,
                  gram ? cpu::ask_ahead(from_a, i, rows) : cpu::ask_ahead(from_a, from_b, i, rows));
    }
  });
  if (const double* const sums = partial.total(ctx, threads)) product.finish(op, alpha, sums, beta, c);
}

}  // namespace

template <class T>
void tsmttsm(const Context& ctx, Op op, result_t<T> alpha, Strided<const T> a, Strided<const T> b, result_t<T> beta,
             Strided<result_t<T>> c) {
  inner_product<T>(ctx, op, alpha, a, b, beta, c, false);
}

template <class T>
void gram(const Context& ctx, Op op, result_t<T> alpha, Strided<const T> a, result_t<T> beta, Strided<result_t<T>> c) {
  inner_product<T>(ctx, op, alpha, a, a, beta, c, true);
}

TS_FOR_EACH_TYPE(TS_FUNCTION, tsmttsm)
TS_FOR_EACH_TYPE(TS_FUNCTION, gram)

}  // namespace ts::inline v0::fast
