#include <cmath>

#include "tallskinny/gemm/backend/cpu/row_cuts.hpp"
#include "tallskinny/gemm/norms/column_norms_detail.hpp"

namespace ts::fast {

namespace {

using cpu::Source;

/// The sums of squares of the real columns of a row-major X. A narrow contiguous X is read as one of `fold`
/// times the width, so that every vector is full; what remains of its rows is read as it is.
template <class T>
class Squares {
 public:
  using E = cpu::stored_t<T>;

  Squares(const Context& ctx, Strided<const T> x)
      : kernel_(std::get<cpu::SquareKernels<E>>(cpu::row_kernels(ctx.simd).squares)),
        from_(cpu::kernels(ctx.simd), x),
        width_(from_.width()),
        fold_(cpu::squares_fold(from_.contiguous(), width_)),
        ld_(from_.contiguous() ? width_ : x.row_stride * cpu::reals_in<T>) {}

  [[nodiscard]] index_t width() const noexcept { return width_; }
  [[nodiscard]] index_t size() const noexcept { return width_ * fold_; }
  [[nodiscard]] index_t fold() const noexcept { return fold_; }
  /// sums += squares of rows i .. i+rows-1.
  void add(index_t i, index_t rows, double* sums) const noexcept {
    const index_t folded = rows / fold_;
    kernel_.add(from_.stored(i), ld_ * fold_, folded, width_ * fold_, sums);
    if (folded * fold_ < rows)
      kernel_.add(from_.stored(i + folded * fold_), ld_, rows - folded * fold_, width_, sums);
  }

 private:
  const cpu::SquareKernels<E>& kernel_;
  Source<T> from_;
  index_t width_, fold_, ld_;
};

template <class T>
std::vector<double> sums_of_squares(const Context& ctx, Strided<const T> x) {
  const Squares<T> squares(ctx, x);
  const index_t row_bytes = x.cols * static_cast<index_t>(sizeof(T));
  const cpu::Chunks chunks = cpu::squares_chunks(x.rows, row_bytes, squares.width(), squares.fold());
  const int threads = cpu::threads_for(ctx, x.rows * row_bytes);
  cpu::PartialSums partial(chunks.count, squares.size());
  cpu::for_each_chunk(threads, chunks.count, [&](index_t chunk, int) {
    double* sums = partial.clear(chunk);
    for (index_t i = chunks.begin(chunk); i < chunks.end(chunk); i += chunks.block)
      squares.add(i, std::min(chunks.block, chunks.end(chunk) - i), sums);
  });
  std::vector<double> sums(static_cast<std::size_t>(x.cols));
  const double* total = partial.total(threads);
  for (index_t r = 0; r < squares.size(); ++r)
    sums[static_cast<std::size_t>(r % squares.width() / cpu::reals_in<T>)] += total[r];
  return sums;
}

/// Where squares neither overflow nor lose digits to underflow.
bool safe(double sum) noexcept {
  return sum > 0x1p-900 && sum < 0x1p1000;
}

/// ||x|| = m sqrt(sum (x_i / m)^2) with m = max |x_i|: for the rare column whose plain sum left the safe
/// range.
template <class T>
double scaled_norm(Strided<const T> x, index_t j) {
  const auto each_part = [&](auto&& use) {
    for (index_t i = 0; i < x.rows; ++i) {
      const auto value = widened(x(i, j));
      use(static_cast<double>(std::real(value)));
      if constexpr (is_complex<T>) use(static_cast<double>(std::imag(value)));
    }
  };
  double largest = 0, sum = 0;
  each_part([&](double part) { largest = std::max(largest, std::abs(part)); });
  if (largest == 0 || std::isinf(largest)) return largest;
  each_part([&](double part) { sum += (part / largest) * (part / largest); });
  return largest * std::sqrt(sum);
}

}  // namespace

template <class T>
void column_norms(const Context& ctx, Strided<const T> x, std::span<real_t<T>> norms) {
  std::vector<double> sums;
  if (x.col_stride == 1 || x.cols == 1) {
    sums = sums_of_squares(ctx, x);
  } else {  // each column is contiguous
    for (index_t j = 0; j < x.cols; ++j) {
      Strided<const T> column = x.block(0, j, x.rows, 1);
      column.col_stride = 1;
      sums.push_back(sums_of_squares(ctx, column).front());
    }
  }
  const int threads = cpu::threads_for(ctx, x.rows * x.cols);
  cpu::for_each_chunk(threads, x.cols, [&](index_t j, int) {
    const double sum = sums[static_cast<std::size_t>(j)];
    const double norm = safe(sum) || std::isnan(sum) ? std::sqrt(sum) : scaled_norm(x, j);
    norms[static_cast<std::size_t>(j)] = static_cast<real_t<T>>(norm);
  });
}

#define TS_INSTANTIATE(T) \
  template void column_norms<T>(const Context&, Strided<const T>, std::span<real_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::fast
