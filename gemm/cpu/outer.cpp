#include "tallskinny/gemm/cpu/outer.hpp"

#include <numeric>

namespace ts::inline v0::cpu {

template <class T>
SmallFactor<T>::SmallFactor(const Kernels& kernels, index_t p, index_t q)
    : kernels_(&kernels),
      depth_(p * reals_in<T>),
      width_(q * reals_in<T>),
      groups_(round_up(width_, kernels.real<R>().lanes) / kernels.real<R>().lanes,
              kernels.real<R>().tile_columns / kernels.real<R>().lanes) {
  // Results are streamed in blocks of whole cache lines, so that blocks meet on line boundaries, and of few
  // rows, so that the memory takes them while the next ones are computed.
  constexpr index_t cache_bytes = 8 << 10, most_depth = 256, line = 64;
  const index_t out_bytes = width_ * static_cast<index_t>(sizeof(R));
  const index_t rows_unit = std::max(kernels.real<R>().tile_rows, line / std::gcd(line, out_bytes));
  const index_t lanes = kernels.real<R>().lanes;
  const index_t widest = std::max(depth_, width_);
  narrow_ = kernels.has_permute && widest <= lanes / 2;
  // A row's end costs a sum across the lanes: worth it for long rows, and where the other way would leave
  // most lanes idle.
  dots_ = !narrow_ && (depth_ >= 64 * lanes || (width_ <= lanes / 4 && depth_ >= 4 * lanes));
  block_depth_ = narrow_ ? depth_ : std::min(depth_, most_depth);
  block_rows_ = std::clamp<index_t>(cache_bytes / out_bytes / rows_unit * rows_unit, rows_unit, 1024);
  constexpr index_t large = 512 << 10;
  if (dots_) {
    // What a tile reads of its rows fills eight of the twelve ways of the first-level cache; one tile of
    // columns reads it once only. A factor that the second-level cache cannot hold serves more rows at a
    // time.
    const bool once = width_ <= kernels.real<R>().tile_columns / lanes;
    block_depth_ = std::min(depth_, (once ? 32 << 10 : 4 << 10) / static_cast<index_t>(sizeof(R)));
    const index_t tiles = depth_ * out_bytes > large / 2 ? 16 : 1;
    block_rows_ = round_up(tiles * kernels.real<R>().tile_rows, rows_unit);
  } else if (depth_ * out_bytes > large) {
    // A factor that does not stay in the second-level cache is read for enough rows to be worth it.
    block_rows_ = std::max<index_t>(block_rows_, 128);
  }
  if (narrow_) {
    fold_.fold = lanes / widest;
    fold_.width_a = depth_, fold_.width_b = width_;
    fold_.count = static_cast<int>(depth_);
    for (int d = 0; d < fold_.count; ++d)
      for (index_t r = 0; r < fold_.fold; ++r)
        for (index_t j = 0; j < width_; ++j) fold_.index[d][r * width_ + j] = static_cast<std::int32_t>(r * depth_ + d);
  }
  // Pieces of all columns side by side, a line apart from a multiple of the caches' stride.
  constexpr index_t reals_in_line = line / static_cast<index_t>(sizeof(R));
  s_ = dots_ ? Matrix<R>::zeros((depth_ + block_depth_ - 1) / block_depth_ * width_,
                                round_up(block_depth_, reals_in_line) + reals_in_line)
             : Matrix<R>::zeros(depth_, narrow_ ? lanes : round_up(width_, lanes));
}

template <class T>
void SmallFactor<T>::put(index_t i, index_t j, R value) noexcept {
  if (narrow_) {
    for (index_t r = 0; r < fold_.fold; ++r) s_(i, r * width_ + j) = value;
    return;
  }
  if (dots_) {
    s_(i / block_depth_ * width_ + j, i % block_depth_) = value;
    return;
  }
  const index_t lanes = kernels_->real<R>().lanes;
  index_t g = j / lanes * groups_.count / groups_.n;
  while (groups_.begin(g + 1) <= j / lanes) ++g;
  const index_t first = groups_.begin(g) * lanes, width = groups_.begin(g + 1) * lanes - first;
  s_.data()[first * depth_ + i * width + j - first] = value;
}

template <class T>
void SmallFactor<T>::apply(Panel<R> x, index_t rows, index_t first, index_t depth, Write write, R* out, index_t ld_out,
                           const Ahead& ahead) const noexcept {
  if (narrow_)
    kernels_->narrow<R>().outer(x.data, rows, fold_, s_.data(), write == Write::stream, out);
  else if (dots_)
    kernels_->real<R>().dots({x,
                              rows,
                              depth,
                              {s_.data() + first / block_depth_ * width_ * s_.ld(), s_.ld()},
                              width_,
                              out,
                              ld_out,
                              write == Write::add,
                              static_cast<const R*>(ahead.data[0])});
  else
    kernels_->real<R>().outer({x, rows, depth, s_.data(), depth_, first, width_, out, ld_out, write}, ahead);
}

template <class T>
void SmallFactor<T>::apply_stored(const E* x, index_t rows, Write write, R* out) const noexcept {
  kernels_->narrow<E>().outer(x, rows, fold_, s_.data(), write == Write::stream, out);
}

template <class C>
Target<C>::Target(const Kernels& kernels, C beta, Strided<C> y, bool fresh) : kernels_(&kernels), beta_(beta), y_(y) {
  if (y_.cols == 1) y_.col_stride = 1;
  if (y_.rows == 1 && y_.col_stride == 1) y_.row_stride = y_.cols;
  streams_ = streams(y_.rows * y_.cols * static_cast<index_t>(sizeof(C)),
                     fresh && beta == C{} && y_.col_stride == 1 && y_.row_stride == y_.cols);
}

template <class C>
void Target<C>::put(index_t i, index_t rows, const R* out) const noexcept {
  const RealKernels<R>& real = kernels_->real<R>();
  const index_t width = y_.cols * reals_in<C>;
  bool real_beta = true;
  if constexpr (is_complex<C>) real_beta = beta_.imag() == 0;
  if (y_.col_stride == 1 && real_beta) {
    R* y = reinterpret_cast<R*>(y_.data + i * y_.row_stride);
    if (streams_) return real.stream(out, rows * width, y);
    if (y_.row_stride == y_.cols) return real.store(out, 0, 1, rows * width, std::real(beta_), y, 0);
    return real.store(out, width, rows, width, std::real(beta_), y, y_.row_stride * reals_in<C>);
  }
  const C* results = reinterpret_cast<const C*>(out);
  for (index_t j = 0; j < y_.cols; ++j)
    for (index_t r = 0; r < rows; ++r) {
      C& y = y_(i + r, j);
      const C value = results[r * y_.cols + j];
      y = beta_ == C{} ? value : value + scaled(beta_, y);
    }
}

template <class T>
void multiply(const Context& ctx, const Kernels& kernels, Strided<const T> x, const SmallFactor<T>& s, result_t<T> beta,
              Strided<result_t<T>> y) {
  using R = real_t<T>;
  const PanelSource<T> from(kernels, x);
  const bool in_place = static_cast<const void*>(x.data) == static_cast<const void*>(y.data);
  const Target<result_t<T>> target(kernels, beta, y, !in_place);
  const index_t unit = s.rows_in_stores();
  const bool stored = s.narrow() && from.contiguous();
  // Columns are read in pieces long enough to be streams.
  constexpr index_t column_piece = 256;
  const index_t depth = s.block_depth();
  const index_t block = from.row_major() ? s.block_rows() : std::max(s.block_rows(), column_piece);
  const int threads = threads_for(
      ctx, x.rows * (x.cols * static_cast<index_t>(sizeof(T)) + s.width() * static_cast<index_t>(sizeof(R))));
  const Chunks chunks(x.rows, block, most_row_chunks);
  const index_t out_size = s.buffer_size(block), in_size = from.in_place() && !s.narrow() ? 0 : block * depth;
  Scratch<R> scratch(threads, out_size + in_size);

  // Of long rows, the next pieces of the same ones, then the beginnings of others.
  const auto what_next = [&](index_t i, index_t rows, index_t done) -> Ahead {
    if (depth == s.depth()) return ask_ahead(from, i, rows);
    if (!from.in_place() || !s.by_dots() || (done == s.depth() && i + 2 * rows > x.rows)) return {};
    return {{done < s.depth() ? from.stored(i) + done : from.stored(i + rows), nullptr}, {0, 0}};
  };
  parallel_pieces(threads, chunks.count, [&](index_t chunk, int thread) {
    R* const out = scratch.of(thread);
    for (index_t i = chunks.begin(chunk); i < chunks.end(chunk); i += block) {
      const index_t rows = std::min(block, chunks.end(chunk) - i);
      const bool direct = target.direct(unit) && rows % unit == 0;
      R* const to = direct ? target.rows_from(i) : out;
      const Write whole = direct ? Write::stream : Write::store;
      if (stored) {
        s.apply_stored(from.stored(i), rows, whole, to);
      } else {
        for (index_t first = 0; first < s.depth(); first += depth) {
          const index_t count = std::min(depth, s.depth() - first);
          const Write write = first > 0 ? Write::add : whole;
          s.apply(from.block(i, rows, first, count, s.narrow(), out + out_size), rows, first, count, write, to,
                  s.width(), what_next(i, rows, first + count));
        }
      }
      if (!direct) target.put(i, rows, out);
    }
    target.finish();
  });
}

TS_FOR_EACH_TYPE(TS_CLASS, SmallFactor)
TS_FOR_EACH_TYPE(TS_FUNCTION, multiply)
TS_FOR_EACH_RESULT_TYPE(TS_CLASS, Target)

}  // namespace ts::inline v0::cpu
