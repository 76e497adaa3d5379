#include "tallskinny/gemm/cpu/inner.hpp"

namespace ts::inline v0::cpu {

template <class T>
InnerProduct<T>::InnerProduct(const Kernels& kernels, index_t p, index_t q, bool gram)
    : kernels_(&kernels), m_(p * reals_in<T>), n_(q * reals_in<T>), gram_(gram) {
  // The wider operand lies across the lanes, the numbers of the other are spread.
  swapped_ = m_ > n_;
  const index_t spread = std::min(m_, n_), across = std::max(m_, n_);
  const RealKernels<R>& real = kernels.real<R>();
  narrow_ = kernels.has_permute && across <= real.lanes / 2;
  if (!narrow_) {
    // A block and the next one, which is asked for meanwhile, share the first-level cache with the sums.
    // Where that would leave too few rows for a tile's work to outweigh its sums, the second level has to do.
    constexpr index_t cache_bytes = 16 << 10, most_rows = 512;
    const index_t row = (spread + across) * static_cast<index_t>(sizeof(R));
    block_ = std::clamp<index_t>(cache_bytes / row / 8 * 8, row <= 512 ? 32 : 64, most_rows);
    ld_ = round_up(across, real.lanes);
    size_ = spread * ld_;
    // From here on rows are so far apart that the lines of a tile's columns fall into few sets of the cache.
    constexpr index_t wide = 384;
    if (spread >= wide) {
      block_ = 128;
      pack_size_ = block_ * (spread + ld_);
    }
    return;
  }
  fold_.fold = real.lanes / across;
  fold_.width_a = spread, fold_.width_b = across;
  // Gram: lane j meets lane j + d of its row; d up to half the width makes every pair once.
  fold_.count = static_cast<int>(gram ? across / 2 + 1 : spread);
  for (int d = 0; d < fold_.count; ++d)
    for (index_t r = 0; r < fold_.fold; ++r)
      for (index_t j = 0; j < across; ++j)
        fold_.index[d][r * across + j] = static_cast<std::int32_t>(r * spread + (gram ? (j + d) % across : index_t{d}));
  ld_ = real.lanes;
  size_ = fold_.count * ld_;
  constexpr index_t vectors_in_block = 1024;
  block_ = vectors_in_block * fold_.fold;
}

template <class T>
void InnerProduct<T>::add(Panel<R> a, Panel<R> b, index_t rows, double* sums, R* pack,
                          const Ahead& ahead) const noexcept {
  if (swapped_) std::swap(a, b);
  if (narrow_)
    kernels_->narrow<R>().inner(a.data, b.data, rows, fold_, sums);
  else
    kernels_->real<R>().inner(
        {a, std::min(m_, n_), b, std::max(m_, n_), rows, gram_, sums, ld_, pack_size_ == 0 ? nullptr : pack}, ahead);
}

template <class T>
void InnerProduct<T>::add_stored(const E* a, const E* b, index_t rows, double* sums) const noexcept {
  if (swapped_) std::swap(a, b);
  kernels_->narrow<E>().inner(a, b, rows, fold_, sums);
}

template <class T>
double InnerProduct<T>::real_entry(const double* sums, index_t i, index_t j) const noexcept {
  if (swapped_ || (gram_ && i > j)) std::swap(i, j);
  if (!narrow_) return sums[i * ld_ + j];
  index_t d = i;
  if (gram_) {
    d = (i - j + n_) % n_;
    if (d >= fold_.count) d = (j - i + n_) % n_, j = i;
  }
  double sum = 0;
  for (index_t r = 0; r < fold_.fold; ++r) sum += sums[d * ld_ + r * fold_.width_b + j];
  return sum;
}

template <class T>
void InnerProduct<T>::finish(Op op, result_t<T> alpha, const double* sums, result_t<T> beta,
                             Strided<result_t<T>> c) const noexcept {
  using C = result_t<T>;
  const auto put = [&](index_t i, index_t j, auto wide) {
    C& out = c(i, j);
    using Wide = decltype(wide);
    Wide value = scaled(Wide(alpha), wide);
    if (beta != C{}) value += scaled(Wide(beta), Wide(out));
    out = C(value);
  };
  const auto entry = [&](index_t i, index_t j) {
    if constexpr (is_complex<C>) {
      const double rr = real_entry(sums, 2 * i, 2 * j), ii = real_entry(sums, 2 * i + 1, 2 * j + 1);
      const double ri = real_entry(sums, 2 * i, 2 * j + 1), ir = real_entry(sums, 2 * i + 1, 2 * j);
      if (op == Op::adjoint) return std::complex<double>(rr + ii, gram_ && i == j ? 0.0 : ri - ir);
      return std::complex<double>(rr - ii, ri + ir);
    } else {
      return real_entry(sums, i, j);
    }
  };
  for (index_t i = 0; i < c.rows; ++i)
    for (index_t j = 0; j < c.cols; ++j) put(i, j, entry(i, j));
}

PartialSums::PartialSums(const RowParts& parts, const Chunks& chunks, index_t size)
    : parts_(parts), per_part_(chunks.per_part), size_(round_up(size, 8)), memory_(chunks.count, size_) {}

double* PartialSums::clear(index_t chunk) noexcept {
  double* sums = memory_.data() + chunk * size_;
  std::fill_n(sums, size_, 0.0);
  return sums;
}

void PartialSums::add_chunks(int threads) noexcept {
  constexpr index_t slice = 512;
  const index_t slices = (size_ + slice - 1) / slice;
  parallel_pieces(memory_.rows() * size_ < 65536 ? 1 : threads, parts_.here * slices, [&](index_t s, int) {
    double* const all = memory_.data() + s / slices * per_part_ * size_;
    const index_t first = s % slices * slice, last = std::min(size_, first + slice);
    for (index_t apart = 1; apart < per_part_; apart *= 2)
      for (index_t c = 0; c + apart < per_part_; c += 2 * apart)
        for (index_t i = first; i < last; ++i) all[c * size_ + i] += all[(c + apart) * size_ + i];
  });
}

const double* PartialSums::total(const Context& ctx, int threads) {
  add_chunks(threads);
  if (parts_.one()) return memory_.data();
  Matrix<double> parts(parts_.count, size_);
  for (index_t i = 0; i < parts_.here; ++i) std::copy_n(part(i), size_, parts.data() + (parts_.first + i) * size_);
  if (!gather_parts(ctx, parts_, parts.data(), size_)) return nullptr;
  add_parts(parts_, parts.data(), size_);
  memory_ = std::move(parts);
  return memory_.data();
}

Chunks chunks_for(const RowParts& parts, index_t block, index_t width, index_t sums) noexcept {
  constexpr index_t most = 256, fewer = 64, small = 2048, memory = (index_t{64} << 20) / 8, outweighs = 4;
  const index_t count = std::clamp<index_t>(memory / std::max<index_t>(sums, 1), 1, sums <= small ? most : fewer);
  return {parts, block, count, std::max<index_t>(512, outweighs * sums / width)};
}

TS_FOR_EACH_TYPE(TS_CLASS, InnerProduct)

}  // namespace ts::inline v0::cpu
