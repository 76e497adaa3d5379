#include <cmath>

#include "tallskinny/gemm/cpu/row_cuts.hpp"
#include "tallskinny/gemm/norms/detail.hpp"

namespace ts::inline v0::fast {

namespace {

using cpu::PanelSource;

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
    if (folded * fold_ < rows) kernel_.add(from_.stored(i + folded * fold_), ld_, rows - folded * fold_, width_, sums);
  }

 private:
  const cpu::SquareKernels<E>& kernel_;
  PanelSource<T> from_;
  index_t width_, fold_, ld_;
};

/// A sum of squares in three ranges (Blue 1978; thresholds as in Anderson 2017), so that nothing overflows
/// and nothing is lost to underflow: of small numbers scaled up, of ordinary ones, of large ones scaled down.
struct RangedSum {
  double small = 0, medium = 0, big = 0;
  static constexpr double big_from = 0x1p486, shrink = 0x1p-538, small_to = 0x1p-511, grow = 0x1p537;

  void add(double x) noexcept {
    const double size = std::abs(x);
    if (size > big_from)
      big += size * shrink * (size * shrink);
    else if (size < small_to)
      small += size * grow * (size * grow);
    else  // NaN too
      medium += size * size;
  }
  [[nodiscard]] double root() const noexcept {
    const bool has_medium = !(medium == 0);
    if (big > 0) return std::sqrt(has_medium ? big + medium * shrink * shrink : big) / shrink;
    if (!(small > 0)) return std::sqrt(medium);
    const double low = std::sqrt(small) / grow;
    return has_medium ? std::hypot(low, std::sqrt(medium)) : low;
  }
};

/// Sums of squares of a column, from what was added up without ranges where that neither overflowed nor lost
/// digits.
template <class T>
RangedSum ranged_sum(double plain, Strided<const T> x, index_t j, index_t begin, index_t end) noexcept {
  if ((plain > 0x1p-900 && plain < 0x1p1000) || std::isnan(plain)) return {0, plain, 0};
  RangedSum sum;
  for (index_t i = begin; i < end; ++i) {
    const auto value = widened(x(i, j));
    sum.add(static_cast<double>(std::real(value)));
    if constexpr (is_complex<T>) sum.add(static_cast<double>(std::imag(value)));
  }
  return sum;
}

/// sums[(parts.first + k) * stride + j] = the squares of column j in part k here, for columns that lie row by
/// row.
template <class T>
void add_squares(const Context& ctx, Strided<const T> x, const RowParts& parts, RangedSum* sums, index_t stride) {
  const Squares<T> squares(ctx, x);
  const index_t row_bytes = x.cols * static_cast<index_t>(sizeof(T));
  const cpu::Chunks chunks = cpu::squares_chunks(parts, row_bytes, squares.width(), squares.fold());
  const int threads = cpu::threads_for(ctx, x.rows * row_bytes);
  cpu::PartialSums partial(parts, chunks, squares.size());
  parallel_pieces(threads, chunks.count, [&](index_t chunk, int) {
    double* to = partial.clear(chunk);
    for (index_t i = chunks.begin(chunk); i < chunks.end(chunk); i += chunks.block)
      squares.add(i, std::min(chunks.block, chunks.end(chunk) - i), to);
  });
  partial.add_chunks(threads);
  parallel_pieces(threads, parts.here * x.cols, [&](index_t item, int) {
    const index_t k = item / x.cols, j = item % x.cols, reals = cpu::reals_in<T>;
    double plain = 0;
    for (index_t fold = 0; fold < squares.fold(); ++fold)
      for (index_t part = 0; part < reals; ++part) plain += partial.part(k)[fold * squares.width() + j * reals + part];
    sums[(parts.first + k) * stride + j] =
        ranged_sum(plain, x, j, k * parts.part_rows, std::min(x.rows, (k + 1) * parts.part_rows));
  });
}

}  // namespace

template <class T>
void column_norms(const Context& ctx, Strided<const T> x, std::span<real_t<T>> norms) {
  const RowParts parts = row_parts(ctx, "column_norms", x.rows);
  std::vector<RangedSum> sums(static_cast<std::size_t>(parts.count * x.cols));
  if (x.col_stride == 1 || x.cols == 1) {
    add_squares(ctx, x, parts, sums.data(), x.cols);
  } else {  // each column is contiguous
    for (index_t j = 0; j < x.cols; ++j) {
      Strided<const T> column = x.block(0, j, x.rows, 1);
      column.col_stride = 1;
      add_squares(ctx, column, parts, sums.data() + j, x.cols);
    }
  }
  constexpr index_t in_sum = sizeof(RangedSum) / sizeof(double);
  double* const numbers = &sums.data()->small;
  if (!gather_parts(ctx, parts, numbers, in_sum * x.cols)) return;
  add_parts(parts, numbers, in_sum * x.cols);
  for (index_t j = 0; j < x.cols; ++j)
    norms[static_cast<std::size_t>(j)] = static_cast<real_t<T>>(sums[static_cast<std::size_t>(j)].root());
}

TS_FOR_EACH_TYPE(TS_FUNCTION, column_norms)

}  // namespace ts::inline v0::fast
