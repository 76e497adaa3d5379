// The first NaN or Inf of a matrix. Blocks are tested without branches, so that the compiler makes vector
// code of it; only a block that fails is searched.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/matrix/assembly.hpp"

namespace ts::inline v0::io {

namespace {

/// x - x is 0 for finite x and NaN for all others.
template <class R>
bool all_finite(const R* x, index_t n) {
  R sum = 0;
  constexpr index_t lanes = 16;
  R partial[lanes] = {};
  index_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (index_t l = 0; l < lanes; ++l) partial[l] += x[i + l] - x[i + l];
  for (; i < n; ++i) sum += x[i] - x[i];
  for (const R p : partial) sum += p;
  return sum == 0;
}
template <class T>
requires(sizeof(T) == 2) bool all_finite(const T* x, index_t n) {
  constexpr std::uint32_t exponent = narrowed<T>(std::numeric_limits<double>::infinity()).bits;
  std::uint32_t bad = 0;
  for (index_t i = 0; i < n; ++i) bad |= (x[i].bits & exponent) == exponent;
  return bad == 0;
}
template <class R>
bool all_finite(const std::complex<R>* x, index_t n) {
  return all_finite(reinterpret_cast<const R*>(x), 2 * n);
}

template <class T>
bool is_nan(T x) {
  if constexpr (is_complex<T>)
    return std::isnan(x.real()) || std::isnan(x.imag());
  else
    return std::isnan(widened(x));
}

/// The position of the first element that is not finite, or n.
template <class T>
index_t first_not_finite(const T* x, index_t n) {
  constexpr index_t block = 4096;
  for (index_t begin = 0; begin < n; begin += block) {
    const index_t end = std::min(n, begin + block);
    if (all_finite(x + begin, end - begin)) continue;
    for (index_t i = begin; i < end; ++i)
      if (!all_finite(x + i, 1)) return i;
  }
  return n;
}

template <class T>
[[noreturn]] void refuse(const std::string& name, T value, index_t row, index_t col) {
  throw Error(Errc::bad_input, name + " has " + (is_nan(value) ? "NaN" : "Inf") + " at row " + std::to_string(row) +
                                   ", column " + std::to_string(col) + " (counted from 0)");
}

}  // namespace

template <class T>
void check_finite(const CsrMatrix<T>& a, const Subject& subject) {
  const index_t at = first_not_finite(a.values.data(), a.nonzeros());
  if (at == a.nonzeros()) return;
  const auto before = std::upper_bound(a.pointers.begin(), a.pointers.end(), at) - a.pointers.begin() - 1;
  index_t row = subject.first_line + before, col = a.indices[static_cast<std::size_t>(at)];
  if (subject.by_columns) std::swap(row, col);
  refuse(subject.name, a.values[static_cast<std::size_t>(at)], row, col);
}

template <class T>
void check_finite(HostView<const T> a, index_t first_row, const std::string& name) {
  const bool contiguous = a.ld() == a.cols();
  for (index_t i = 0; i < (contiguous ? std::min<index_t>(a.rows(), 1) : a.rows()); ++i) {
    const index_t n = contiguous ? a.rows() * a.cols() : a.cols();
    const index_t at = first_not_finite(a.data() + i * a.ld(), n);
    if (at < n) {
      const index_t row = i + at / a.cols(), col = at % a.cols();
      refuse(name, a(row, col), first_row + row, col);
    }
  }
}

#define TS_INSTANTIATE(T) template void check_finite<T>(const CsrMatrix<T>&, const Subject&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T) template void check_finite<T>(HostView<const T>, index_t, const std::string&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::io
