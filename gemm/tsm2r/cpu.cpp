#include "tallskinny/gemm/cpu/library.hpp"
#include "tallskinny/gemm/tsm2r/detail.hpp"

namespace ts::inline v0::fast {

namespace {

/// Rows of op(D) are computed from the contiguous side of D.
template <class T>
bool along_rows(Op op_d, const Strided<const T>& d) {
  return (op_d == Op::none ? d.col_stride : d.row_stride) == 1 || d.rows == 1 || d.cols == 1;
}

/// Y = alpha op(A) X + beta Y with op = transpose or adjoint and A row-major: the inner product of TSMTTSM
/// with one very wide operand, so that the lanes lie along the rows of Y and nothing is transposed. Each
/// chunk of rows of Y is computed alone.
template <class T>
void across_rows(const Context& ctx, const cpu::Kernels& kernels, Op op, result_t<T> alpha, Strided<const T> a,
                 Strided<const T> x, result_t<T> beta, Strided<result_t<T>> y) {
  using R = real_t<T>;
  // Few enough rows of A at once that the processor follows each of them as a stream of its own.
  constexpr index_t depth = 16;
  // Long runs of each row, but work for many threads where Y is short.
  const index_t chunk = std::clamp<index_t>(y.rows / 64 / 64 * 64, 256, 2048);
  const cpu::Chunks chunks(y.rows, chunk, y.rows);
  const cpu::PanelSource<T> from_x(kernels, x);
  const int threads = cpu::threads_for(ctx, a.rows * a.cols * static_cast<index_t>(sizeof(T)));
  cpu::Scratch<double> sums(threads, chunk * x.cols * 2 * cpu::reals_in<T> * cpu::reals_in<T> + 64);
  cpu::Scratch<R> panels(threads, depth * (chunk + x.cols) * cpu::reals_in<T>);

  parallel_pieces(threads, chunks.count, [&](index_t c, int thread) {
    const index_t first = chunks.begin(c), rows = chunks.end(c) - first;
    const Strided<const T> part = a.block(0, first, a.rows, rows);
    const Strided<result_t<T>> target = y.block(first, 0, rows, y.cols);
    const cpu::PanelSource<T> from_a(kernels, part);
    const cpu::InnerProduct<T> product(kernels, rows, x.cols, false);
    double* const total = sums.of(thread);
    R* const buffer = panels.of(thread);
    std::fill_n(total, product.size(), 0.0);
    for (index_t k = 0; k < a.rows; k += depth) {
      const index_t count = std::min(depth, a.rows - k);
      product.add(from_a.block(k, count, 0, from_a.width(), product.narrow(), buffer),
                  from_x.block(k, count, 0, from_x.width(), product.narrow(), buffer + depth * from_a.width()), count,
                  total, nullptr, {});
    }
    product.finish(op, alpha, total, beta, target);
  });
}

}  // namespace

template <class T>
void tsm2r(const Context& ctx, Op op_d, result_t<T> alpha, Strided<const T> d, Strided<const T> x, result_t<T> beta,
           Strided<result_t<T>> y) {
  const cpu::Kernels& kernels = cpu::kernels(ctx.simd);
  constexpr index_t few = 16;  // beyond, transposing D into panels is a small part of the work
  if (!along_rows(op_d, d) && x.cols <= few) {
    across_rows<T>(ctx, kernels, op_d == Op::none ? Op::transpose : op_d, alpha, op_d == Op::none ? d.transposed() : d,
                   x, beta, y);
    return;
  }
  if constexpr (std::is_same_v<T, result_t<T>>)
    if (op_d == Op::none && cpu::library_multiply<T>(ctx, Op::none, alpha, d, x, beta, y)) return;
  // The same product as TSMM with a long "row" of the tall operand: the kernels take it in pieces.
  const cpu::SmallFactor<T> factor(kernels, x.rows, x.cols, op_d == Op::adjoint,
                                   [&](index_t i, index_t j) { return cpu::scaled(alpha, widened(x(i, j))); });
  cpu::multiply<T>(ctx, kernels, op_d == Op::none ? d : d.transposed(), factor, beta, y);
}

TS_FOR_EACH_TYPE(TS_FUNCTION, tsm2r)

}  // namespace ts::inline v0::fast
