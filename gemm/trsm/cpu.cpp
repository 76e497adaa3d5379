#include <cmath>
#include <vector>

#include "tallskinny/gemm/cpu/outer.hpp"
#include "tallskinny/gemm/cpu/row_cuts.hpp"
#include "tallskinny/gemm/trsm/detail.hpp"

namespace ts::inline v0::fast {

namespace {

using cpu::panel_rows;

/// R column by column as the kernels read it, and the reciprocals of its diagonal.
template <class T>
struct Factor {
  std::vector<T> columns, inverse;
  bool divisible = true;  ///< no reciprocal, nor a product with one, overflows or loses digits

  explicit Factor(Strided<const T> r)
      : columns(static_cast<std::size_t>(r.cols * r.cols)), inverse(static_cast<std::size_t>(r.cols)) {
    for (index_t j = 0; j < r.cols; ++j) {
      for (index_t k = 0; k < j; ++k) {
        columns[static_cast<std::size_t>(j * r.cols + k)] = r(k, j);
        const double ratio = std::abs(cpu::scaled(r(k, j), inverse[static_cast<std::size_t>(k)]));
        divisible = divisible && (ratio == 0 || std::isnormal(static_cast<real_t<T>>(ratio)));
      }
      const T reciprocal = T{1} / r(j, j);
      inverse[static_cast<std::size_t>(j)] = reciprocal;
      divisible = divisible && std::isnormal(std::real(reciprocal) + std::imag(reciprocal)) &&
                  std::isnormal(std::abs(reciprocal)) && std::isnormal(std::abs(r(j, j)));
    }
  }
};

/// The factor of columns first .. first+p-1 for rows as they lie in memory, in vectors of `lanes` reals.
/// `ld`: reals between the beginnings of two rows.
template <class T>
cpu::NarrowFactor<real_t<T>> narrow_factor(const Factor<T>& factor, index_t order, index_t first, index_t p, index_t ld,
                                           index_t lanes) {
  constexpr index_t parts = cpu::reals_in<T>;
  const bool gaps = ld != p * parts;
  cpu::NarrowFactor<real_t<T>> f;
  f.p = p, f.fold = gaps ? 1 : lanes / (p * parts), f.step = f.fold * p * parts, f.stride = f.fold * ld;
  const auto inverse = [&](index_t j) { return factor.inverse[static_cast<std::size_t>(first + j)]; };
  for (index_t l = 0; l < f.step; ++l) {
    const index_t j = l % (p * parts) / parts, part = l % parts, row = l - l % (p * parts);
    const auto turned_part = [part](T z) { return part == 0 ? -std::imag(z) : std::real(z); };
    const auto own_part = [part](T z) { return part == 0 ? std::real(z) : std::imag(z); };
    const T own = inverse(j);
    f.scale[l] = own_part(own), f.scale_turned[l] = turned_part(own);
    f.own_real[l] = static_cast<std::int32_t>(row + j * parts);
    f.own_imaginary[l] = static_cast<std::int32_t>(row + j * parts + parts - 1);
    for (index_t k = 0; k < p; ++k) {
      f.real_lane[k][l] = static_cast<std::int32_t>(row + k * parts);
      f.imaginary_lane[k][l] = static_cast<std::int32_t>(row + k * parts + parts - 1);
      if (j <= k) continue;
      const T r = cpu::scaled(factor.columns[static_cast<std::size_t>((first + j) * order + first + k)], inverse(k));
      f.behind[k][l] = -1;
      f.tile[k][l] = -own_part(r), f.turned[k][l] = -turned_part(r);
    }
  }
  return f;
}

/// X R^-1 in rows where they lie, as many columns at a time as fill a vector:
/// X_1 = X_1 R_11^-1, then [X_2 ..] = [X_2 ..] - X_1 [R_12 ..].
template <class T>
class Columns {
 public:
  using R = real_t<T>;

  Columns(const Context& ctx, const cpu::SubstitutionKernels<T>& kernel, const Factor<T>& factor, Strided<const T> r,
          index_t ld)
      : kernel_(&kernel), width_(r.cols * parts), ld_(ld * parts) {
    const index_t most = kernel.lanes / parts;
    for (index_t first = 0; first < r.cols; first += most) {
      const index_t p = std::min(most, r.cols - first), behind = first + p;
      solves_.push_back(narrow_factor(factor, r.cols, first, p, ld_, kernel.lanes));
      if (behind < r.cols)
        updates_.emplace_back(cpu::kernels(ctx.simd), p, r.cols - behind, false,
                              [&](index_t i, index_t j) { return -r(first + i, behind + j); });
    }
  }

  void solve(T* rows, index_t count) const noexcept {
    R* x = reinterpret_cast<R*>(rows);
    index_t readable = (count - 1) * ld_ + width_;
    for (std::size_t c = 0; c < solves_.size(); ++c) {
      kernel_->narrow(x, count, readable, solves_[c]);
      if (c == updates_.size()) return;
      R* const behind = x + updates_[c].depth();
      updates_[c].apply({x, ld_}, count, 0, updates_[c].depth(), cpu::Write::add, behind, ld_, {});
      readable -= behind - x;
      x = behind;
    }
  }

 private:
  static constexpr index_t parts = cpu::reals_in<T>;
  const cpu::SubstitutionKernels<T>* kernel_;
  index_t width_, ld_;
  std::vector<cpu::NarrowFactor<R>> solves_;
  std::vector<cpu::SmallFactor<T>> updates_;
};

/// Between X and the transposed panel; rows that X does not have are zero.
template <class T>
void load_panel(const Strided<T>& x, index_t i, index_t rows, real_t<T>* panel) noexcept {
  const auto* from = reinterpret_cast<const real_t<T>*>(x.data + i * x.row_stride);
  constexpr index_t parts = cpu::reals_in<T>;
  for (index_t j = 0; j < x.cols; ++j)
    for (index_t part = 0; part < parts; ++part) {
      const real_t<T>* column = from + j * x.col_stride * parts + part;
      real_t<T>* line = panel + (part * x.cols + j) * panel_rows;
      for (index_t r = 0; r < rows; ++r) line[r] = column[r * x.row_stride * parts];
      std::fill(line + rows, line + panel_rows, real_t<T>{});
    }
}
template <class T>
void store_panel(const real_t<T>* panel, index_t i, index_t rows, const Strided<T>& x) noexcept {
  auto* to = reinterpret_cast<real_t<T>*>(x.data + i * x.row_stride);
  constexpr index_t parts = cpu::reals_in<T>;
  for (index_t j = 0; j < x.cols; ++j)
    for (index_t part = 0; part < parts; ++part) {
      real_t<T>* column = to + j * x.col_stride * parts + part;
      const real_t<T>* line = panel + (part * x.cols + j) * panel_rows;
      for (index_t r = 0; r < rows; ++r) column[r * x.row_stride * parts] = line[r];
    }
}

}  // namespace

template <class T>
void trsm(const Context& ctx, Strided<T> x, Strided<const T> r) {
  const auto& kernel = std::get<cpu::SubstitutionKernels<T>>(cpu::row_kernels(ctx.simd).substitution);
  const Factor<T> factor(r);
  // Multiplying by a reciprocal is as good as dividing only while the reciprocal is an ordinary number.
  if (!factor.divisible) return reference::trsm<T>(x, r);
  const int threads = cpu::threads_for(ctx, x.rows * x.cols * static_cast<index_t>(sizeof(T)));
  const bool in_place = kernel.lanes > 0 && (x.col_stride == 1 || x.cols == 1);
  const cpu::Chunks chunks = cpu::solve_chunks(x.rows, in_place, x.cols * static_cast<index_t>(sizeof(T)));
  if (in_place) {
    const Columns<T> columns(ctx, kernel, factor, r, x.row_stride);
    parallel_pieces(threads, chunks.count, [&](index_t chunk, int) {
      for (index_t i = chunks.begin(chunk); i < chunks.end(chunk); i += chunks.block)
        columns.solve(x.data + i * x.row_stride, std::min(chunks.block, chunks.end(chunk) - i));
    });
    return;
  }
  cpu::Scratch<real_t<T>> scratch(threads, panel_rows * x.cols * cpu::reals_in<T>);
  parallel_pieces(threads, chunks.count, [&](index_t chunk, int thread) {
    real_t<T>* panel = scratch.of(thread);
    for (index_t i = chunks.begin(chunk); i < chunks.end(chunk); i += panel_rows) {
      const index_t rows = std::min(panel_rows, chunks.end(chunk) - i);
      load_panel(x, i, rows, panel);
      kernel.solve(panel, x.cols, factor.columns.data(), factor.inverse.data());
      store_panel(panel, i, rows, x);
    }
  });
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, trsm)

}  // namespace ts::inline v0::fast
