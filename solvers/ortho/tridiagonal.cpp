#include "tallskinny/solvers/ortho/tridiagonal.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/cpu/row_kernels.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/solvers/ortho/blas.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {

constexpr index_t panel = 32;        // reflectors before the rest of the matrix is touched
constexpr index_t block_width = 64;  // reflectors applied at once on the way back
constexpr index_t row_piece = 128;
// Rows left that are worth threads: in a product of matrices, and in a column, which else takes less than waking them.
constexpr index_t worth_threads = 200, column_worth_threads = 800;

/// The reduction: columns of A from the left, each brought up to date when its turn comes.
template <class T>
class Reduction {
 public:
  Reduction(const Context& ctx, HostView<T> a)
      : ctx_(ctx),
        a_(a),
        n_(a.rows()),
        strips_(std::clamp<index_t>(n_ / row_piece, 1, 16)),
        kernels_(cpu::row_kernels(ctx.simd).symmetric),
        p_(n_ + 2, 2 * panel),
        swapped_(n_ + 2, 2 * panel),
        mirrored_(strips_ + 2, n_),
        inner_(strips_ + 2, 2 * panel),
        squares_(at(pieces(0) + 1)),
        products_(at(strips_)) {
    out_.t.d.resize(at(n_)), out_.t.e.resize(at(n_));
    for (auto* vector : {&column_, &v_, &v_conjugate_, &y_}) vector->resize(at(n_ + spare_elements(n_)));
  }

  Reduced<T> run() {
    for (index_t j = 0; j < n_; ++j) {
      const index_t c = j % panel;
      if (c == 0) load_column(j);
      out_.t.d[at(j)] = std::real(column_[at(j)]);
      if (j + 1 == n_) break;
      reflect(j);
      multiply(j, c);
      finish_column(j, c);
      if (c + 1 == panel) update(j + 1);
    }
    parallel_pieces(threads(0), static_cast<index_t>(out_.blocks.size()),
                    [&](index_t block, int) { triangular_factor(out_.blocks[at(block)]); });
    return std::move(out_);
  }

 private:
  [[nodiscard]] index_t pieces(index_t first) const { return (n_ - first + row_piece - 1) / row_piece; }
  [[nodiscard]] int threads(index_t first, index_t worth = worth_threads) const {
    return n_ - first < worth ? 1 : blas_threads(ctx_);
  }

  /// Column j as it is in A, and its squares below row j.
  void load_column(index_t j) {
    for (index_t i = j; i < n_; ++i) column_[at(i)] = a_(i, j);
    sum_squares(j, 0, pieces(j));
  }
  /// Squares below row j + 1, in pieces of rows from j on.
  void sum_squares(index_t j, index_t piece, index_t end) {
    for (; piece < end; ++piece) {
      double sum = 0;
      const index_t first = std::max(j + piece * row_piece, j + 2), last = std::min(n_, j + (piece + 1) * row_piece);
      for (index_t i = first; i < last; ++i) sum += std::norm(column_[at(i)]);
      squares_[at(piece)] = sum;
    }
  }

  /// H_j^H column = beta e_1, as xLARFG.
  void reflect(index_t j) {
    double squares = 0;
    for (index_t k = 0; k < pieces(j); ++k) squares += squares_[at(k)];
    const T alpha = column_[at(j + 1)];
    tau_ = T{};
    double beta = std::real(alpha);
    T scale{};
    if (squares > 0 || std::imag(alpha) != 0) {
      beta = -std::copysign(std::sqrt(std::norm(alpha) + squares), std::real(alpha));
      if constexpr (is_complex<T>)
        tau_ = T((beta - alpha.real()) / beta, -alpha.imag() / beta);
      else
        tau_ = (beta - alpha) / beta;
      scale = T{1} / (alpha - beta);
    }
    out_.t.e[at(j)] = beta;
    if (j % block_width == 0) {
      const index_t width = std::min(block_width, n_ - 1 - j);
      out_.blocks.push_back({j, Matrix<T>(width + 2, n_ - 1 - j), Matrix<T>::zeros(width, width), width});
    }
    auto& block = out_.blocks.back();
    T* const stored = block.v.data() + (j - block.first) * block.v.ld() + (j - block.first);
    std::fill(block.v.data() + (j - block.first) * block.v.ld(), stored, T{});
    v_[at(j + 1)] = 1;
    for (index_t i = j + 2; i < n_; ++i) v_[at(i)] = column_[at(i)] * scale;
    for (index_t i = j + 1; i < n_; ++i) stored[i - j - 1] = v_[at(i)], v_conjugate_[at(i)] = conjugate(v_[at(i)]);
    block.f(j - block.first, j - block.first) = tau_;
  }

  /// A strip of rows of about the same area as the others.
  [[nodiscard]] index_t strip_begin(index_t first, index_t strip, index_t strips) const {
    const auto m = static_cast<double>(n_ - first);
    if (strip >= strips) return n_;
    const double share = std::sqrt(static_cast<double>(strip) / static_cast<double>(strips));
    return first + static_cast<index_t>(share * m / 8) * 8;
  }

  /// y = A v below row j, where A is as it was before this panel, and conj([V, W]^H v) of the panel.
  void multiply(index_t j, index_t c) {
    const index_t first = j + 1, strips = std::clamp<index_t>((n_ - first) / row_piece, 1, strips_);
    bounds_.resize(at(strips + 1));
    for (index_t s = 0; s <= strips; ++s) bounds_[at(s)] = strip_begin(first, s, strips);
    parallel_pieces(threads(first, column_worth_threads), strips, [&](index_t turn, int) {
      const index_t strip = strips - 1 - turn;  // long rows first
      multiply_strip(first, strip);
      // The panel's share: even pieces of rows.
      const index_t m = n_ - first, begin = first + m * strip / strips, end = first + m * (strip + 1) / strips;
      T* const sums = &inner_(strip, 0);
      std::fill_n(sums, 2 * panel, T{});
      if (c > 0) blas_gemv<T>("N", 2 * c, end - begin, T{1}, &p_(begin, 0), p_.ld(), &v_conjugate_[at(begin)], sums);
    });
  }
  void multiply_tiles(index_t first, index_t begin, index_t end, T* mirror) {
    constexpr index_t tile_rows = 64, tile_columns = 512;
    for (index_t r = begin; r < end; r += tile_rows) {
      const index_t rows = std::min(tile_rows, end - r);
      std::fill_n(&y_[at(r)], rows, T{});
      for (index_t k = first; k < r; k += tile_columns) {
        const index_t columns = std::min(tile_columns, r - k);
        const T* const tile = &a_(r, k);
        blas_gemv<T>("T", columns, rows, T{1}, tile, a_.ld(), &v_[at(k)], &y_[at(r)]);
        blas_gemv<T>("N", columns, rows, T{1}, tile, a_.ld(), &v_conjugate_[at(r)], mirror + k);
      }
      blas_hemv<T>(rows, &a_(r, r), a_.ld(), &v_conjugate_[at(r)], mirror + r);
    }
  }
  void multiply_strip(index_t first, index_t strip) {
    const index_t begin = bounds_[at(strip)], end = bounds_[at(strip + 1)];
    T* const mirror = &mirrored_(strip, 0);  // conj(A^H v) of this strip's rows
    std::fill(mirror + first, mirror + end, T{});
    if constexpr (!is_complex<T>) {
      kernels_.lower_rows(&a_(first, first), a_.ld(), begin - first, end - first, &v_[at(first)], &y_[at(first)],
                          mirror + first);
    } else {
      multiply_tiles(first, begin, end, mirror);
    }
    T product{};
    for (index_t i = begin; i < end; ++i) product += v_conjugate_[at(i)] * y_[at(i)];
    for (index_t i = first; i < end; ++i) product += v_conjugate_[at(i)] * conjugate(mirror[i]);
    products_[at(strip)] = std::real(product);
  }

  /// w = tau (y - V (W^H v) - W (V^H v)) - |tau|^2 / 2 (v^H A v) v, and the next column brought up to date.
  void finish_column(index_t j, index_t c) {
    T meets[2 * panel] = {};  // ... [V, W]
    double product = 0;
    for (index_t s = 0; s + 1 < static_cast<index_t>(bounds_.size()); ++s) {
      product += products_[at(s)];
      for (index_t k = 0; k < c; ++k)
        meets[2 * k] += conjugate(inner_(s, 2 * k + 1)), meets[2 * k + 1] += conjugate(inner_(s, 2 * k));
    }
    for (index_t k = 0; k < c; ++k) product -= 2 * std::real(conjugate(meets[2 * k]) * meets[2 * k + 1]);
    const double half = 0.5 * std::norm(tau_) * product;
    const auto take_rows = [&](index_t begin, index_t end) {
      for (index_t s = 0; s + 1 < static_cast<index_t>(bounds_.size()); ++s)
        for (index_t i = begin; i < std::min(end, bounds_[at(s + 1)]); ++i) y_[at(i)] += conjugate(mirrored_(s, i));
      if (c > 0 && begin < end)
        blas_gemv<T>("T", 2 * c, end - begin, T{-1}, &p_(begin, 0), p_.ld(), meets, &y_[at(begin)]);
      for (index_t i = begin; i < end; ++i) {
        const T v = v_[at(i)], w = tau_ * y_[at(i)] - half * v;
        p_(i, 2 * c) = swapped_(i, 2 * c + 1) = v, p_(i, 2 * c + 1) = swapped_(i, 2 * c) = w;
      }
    };
    const bool next = c + 1 < panel;
    take_rows(j + 1, j + 2);
    T row[2 * panel];
    for (index_t k = 0; k < 2 * c + 2; ++k) row[k] = conjugate(swapped_(j + 1, k));
    parallel_pieces(threads(j + 1, column_worth_threads), pieces(j + 1), [&](index_t piece, int) {
      const index_t begin = j + 1 + piece * row_piece, end = std::min(n_, begin + row_piece);
      take_rows(std::max(begin, j + 2), end);
      if (!next) return;
      for (index_t i = begin; i < end; ++i) column_[at(i)] = a_(i, j + 1);
      blas_gemv<T>("T", 2 * c + 2, end - begin, T{-1}, &p_(begin, 0), p_.ld(), row, &column_[at(begin)]);
      sum_squares(j + 1, piece, piece + 1);
    });
  }

  /// A = A - V W^H - W V^H from row and column `first` on, in tiles of the lower triangle.
  void update(index_t first) {
    const index_t tile = n_ - first < 1500 ? 128 : 256;
    const index_t count = (n_ - first + tile - 1) / tile;
    parallel_pieces(threads(first), count * (count + 1) / 2, [&](index_t t, int) {
      index_t i = 0;
      while ((i + 1) * (i + 2) / 2 <= t) ++i;
      const index_t k = t - i * (i + 1) / 2;
      const index_t r = first + i * tile, q = first + k * tile;
      const index_t rows = std::min(tile, n_ - r), columns = std::min(tile, n_ - q);
      blas_gemm<T>("C", "N", columns, rows, 2 * panel, T{-1}, &swapped_(q, 0), swapped_.ld(), &p_(r, 0), p_.ld(), T{1},
                   &a_(r, q), a_.ld());
    });
  }

  /// F of I - V F V^H, as xLARFT.
  void triangular_factor(typename Reduced<T>::Block& block) const {
    const index_t width = block.width, m = n_ - 1 - block.first;
    Matrix<T> g(width + 2, width);  // V^H V by columns
    blas_gemm<T>("C", "N", width, width, m, T{1}, block.v.data(), block.v.ld(), block.v.data(), block.v.ld(), T{0},
                 g.data(), width);
    for (index_t i = 0; i < width; ++i) {
      const T tau = block.f(i, i);
      for (index_t r = 0; r < i; ++r) {
        T sum{};
        for (index_t k = r; k < i; ++k) sum += block.f(k, r) * g(i, k);
        block.f(i, r) = -tau * sum;
      }
    }
  }

  const Context& ctx_;
  HostView<T> a_;
  index_t n_, strips_;
  cpu::SymmetricKernels kernels_;
  Matrix<T> p_, swapped_;  ///< columns v_0, w_0, v_1, w_1 .. of the panel, and w_0, v_0 ..
  Matrix<T> mirrored_, inner_;
  std::vector<double> squares_, products_;
  std::vector<T> column_, v_, v_conjugate_, y_;
  std::vector<index_t> bounds_;  ///< of strips
  T tau_{};
  Reduced<T> out_;
};

}  // namespace

bool has_tridiagonal() { return blas_routines<double>() != nullptr && has_divide_and_conquer(); }

template <class T>
Reduced<T> reduce(const Context& ctx, HostView<T> a) {
  const OneBlasThread one;
  return Reduction<T>(ctx, a).run();
}

template <class T>
void turn_back(const Context& ctx, const Reduced<T>& reduced, HostView<T> x) {
  constexpr index_t piece = 128;
  const index_t n = reduced.t.size(), k = x.rows(), pieces = (k + piece - 1) / piece;
  const OneBlasThread one;
  parallel_pieces(blas_threads(ctx), pieces, [&](index_t number, int) {
    const index_t first = number * piece, width = std::min(piece, k - first);
    Matrix<T> w(width + 2, block_width), fw(width + 2, block_width);
    for (auto block = reduced.blocks.rbegin(); block != reduced.blocks.rend(); ++block) {
      const index_t m = n - 1 - block->first, b = block->width;
      T* const c = &x(first, block->first + 1);
      blas_gemm<T>("C", "N", b, width, m, T{1}, block->v.data(), block->v.ld(), c, x.ld(), T{0}, w.data(), w.ld());
      blas_gemm<T>("N", "N", b, width, b, T{1}, block->f.data(), block->f.ld(), w.data(), w.ld(), T{0}, fw.data(),
                   fw.ld());
      blas_gemm<T>("N", "N", m, width, b, T{-1}, block->v.data(), block->v.ld(), fw.data(), fw.ld(), T{1}, c, x.ld());
    }
  });
}

#define TS_INSTANTIATE(T)                                     \
  template Reduced<T> reduce<T>(const Context&, HostView<T>); \
  template void turn_back<T>(const Context&, const Reduced<T>&, HostView<T>);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho
