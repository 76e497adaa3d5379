#include <cmath>
#include <vector>

#include "tallskinny/gemm/backend/cpu/panel.hpp"
#include "tallskinny/gemm/backend/cpu/row_cuts.hpp"
#include "tallskinny/gemm/trsm/trsm_detail.hpp"

namespace ts::fast {

namespace {

using cpu::panel_rows;

/// R column by column as the kernels read it, and the reciprocals of its diagonal.
template <class T>
struct Factor {
  std::vector<T> columns, inverse;
  bool divisible = true;  ///< no reciprocal overflows or loses digits

  explicit Factor(Strided<const T> r)
      : columns(static_cast<std::size_t>(r.cols * r.cols)), inverse(static_cast<std::size_t>(r.cols)) {
    for (index_t j = 0; j < r.cols; ++j) {
      for (index_t k = 0; k < j; ++k) columns[static_cast<std::size_t>(j * r.cols + k)] = r(k, j);
      const T reciprocal = T{1} / r(j, j);
      inverse[static_cast<std::size_t>(j)] = reciprocal;
      divisible = divisible && std::isnormal(std::real(reciprocal) + std::imag(reciprocal)) &&
                  std::isnormal(std::abs(reciprocal)) && std::isnormal(std::abs(r(j, j)));
    }
  }
};

/// The factor for rows as they lie in memory, `fold` of them in a vector of `lanes` reals.
template <class T>
cpu::NarrowFactor<real_t<T>> narrow_factor(const Factor<T>& factor, index_t p, index_t lanes) {
  constexpr index_t parts = cpu::reals_in<T>;
  cpu::NarrowFactor<real_t<T>> f;
  f.p = p, f.fold = lanes / (p * parts), f.step = f.fold * p * parts;
  for (index_t l = 0; l < f.step; ++l) {
    const index_t j = l % (p * parts) / parts, part = l % parts, row = l - l % (p * parts);
    const auto turned_part = [part](T z) { return part == 0 ? -std::imag(z) : std::real(z); };
    const auto own_part = [part](T z) { return part == 0 ? std::real(z) : std::imag(z); };
    const T own = factor.inverse[static_cast<std::size_t>(j)];
    f.scale[l] = own_part(own), f.scale_turned[l] = turned_part(own);
    f.own_real[l] = static_cast<std::int32_t>(row + j * parts);
    f.own_imaginary[l] = static_cast<std::int32_t>(row + j * parts + parts - 1);
    for (index_t k = 0; k < p; ++k) {
      f.real_lane[k][l] = static_cast<std::int32_t>(row + k * parts);
      f.imaginary_lane[k][l] = static_cast<std::int32_t>(row + k * parts + parts - 1);
      if (j <= k) continue;
      const T r = factor.columns[static_cast<std::size_t>(j * p + k)];
      f.behind[k][l] = -1;
      f.tile[k][l] = -own_part(r), f.turned[k][l] = -turned_part(r);
    }
  }
  for (index_t k = 0; k < p; ++k) {
    f.inverse[k][0] = std::real(factor.inverse[static_cast<std::size_t>(k)]);
    f.inverse[k][1] = std::imag(factor.inverse[static_cast<std::size_t>(k)]);
  }
  return f;
}

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

/// Lets the memory work on the next panel while this one is solved.
template <class T>
void ask_for(const T* x, index_t count) noexcept {
  const auto* bytes = reinterpret_cast<const char*>(x);
  for (index_t b = 0; b < count * static_cast<index_t>(sizeof(T)); b += 64) __builtin_prefetch(bytes + b, 1);
}

}  // namespace

template <class T>
void trsm(const Context& ctx, Strided<T> x, Strided<const T> r) {
  const auto& kernel = std::get<cpu::SubstitutionKernels<T>>(cpu::row_kernels(ctx.simd).substitution);
  const Factor<T> factor(r);
  // Multiplying by a reciprocal is as good as dividing only while the reciprocal is an ordinary number.
  if (!factor.divisible) return reference::trsm<T>(x, r);
  const int threads = cpu::threads_for(ctx, x.rows * x.cols * static_cast<index_t>(sizeof(T)));
  const bool contiguous = (x.col_stride == 1 || x.cols == 1) && x.row_stride == x.cols;
  const bool in_place = cpu::solves_in_place(contiguous, x.cols * cpu::reals_in<T>, kernel.lanes);
  const cpu::Chunks chunks = cpu::solve_chunks(x.rows, in_place);
  if (in_place) {
    const auto narrow = narrow_factor(factor, x.cols, kernel.lanes);
    cpu::for_each_chunk(threads, chunks.count, [&](index_t chunk, int) {
      auto* rows = reinterpret_cast<real_t<T>*>(x.data + chunks.begin(chunk) * x.cols);
      kernel.narrow(rows, chunks.end(chunk) - chunks.begin(chunk), narrow);
    });
    return;
  }
  cpu::Scratch<real_t<T>> scratch(threads, panel_rows * x.cols * cpu::reals_in<T>);
  cpu::for_each_chunk(threads, chunks.count, [&](index_t chunk, int thread) {
    real_t<T>* panel = scratch.of(thread);
    for (index_t i = chunks.begin(chunk); i < chunks.end(chunk); i += panel_rows) {
      const index_t rows = std::min(panel_rows, chunks.end(chunk) - i);
      load_panel(x, i, rows, panel);
      if (contiguous && i + rows < x.rows)
        ask_for(x.data + (i + rows) * x.cols, std::min(panel_rows, x.rows - i - rows) * x.cols);
      kernel.solve(panel, x.cols, factor.columns.data(), factor.inverse.data());
      store_panel(panel, i, rows, x);
    }
  });
}

#define TS_INSTANTIATE(T) template void trsm<T>(const Context&, Strided<T>, Strided<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::fast
