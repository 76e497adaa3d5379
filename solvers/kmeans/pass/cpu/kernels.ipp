// The assign kernels, compiled once for each instruction set (TS_ISA) without contraction of a * b + c, so that results
// that must not depend on the instruction set do not. With TS_FLOATS_OF, the floating-point kernels of another set are
// used, and only products of integers are compiled. Everything here has internal linkage and calls no inline function
// of another header: a shared symbol compiled for AVX-512 could reach an older processor.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <type_traits>
#include <utility>

#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"

namespace ts::inline v0::assign_cpu::TS_ISA {
namespace {

#define TS_INLINE inline __attribute__((always_inline))
#define TS_LAMBDA __attribute__((always_inline))

#if defined(__AVX512F__)
constexpr int vector_bytes = 64, row_vectors = 3, group_size = 8;  // 24 accumulators of 32 registers
#elif defined(__AVX2__)
constexpr int vector_bytes = 32, row_vectors = 2, group_size = 6;  // 12 of 16
#else
constexpr int vector_bytes = 16, row_vectors = 2, group_size = 4;  // 8 of 16: products need a register
#endif

using VecF = float __attribute__((vector_size(vector_bytes)));
using VecD = double __attribute__((vector_size(vector_bytes)));
using VecI32 = std::int32_t __attribute__((vector_size(vector_bytes)));
using VecI64 = std::int64_t __attribute__((vector_size(vector_bytes)));

template <class S>
struct Types;
template <>
struct Types<float> {
  using Vec = VecF;
  using VecIndex = VecI32;
  using Index = std::int32_t;
};
template <>
struct Types<double> {
  using Vec = VecD;
  using VecIndex = VecI64;
  using Index = std::int64_t;
};

template <class S>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(S));
template <class S>
constexpr int tile_rows = row_vectors* lanes<S>;

#if defined(__AVX512F__)
TS_INLINE VecF fma(VecF a, VecF b, VecF c) { return _mm512_fmadd_ps(a, b, c); }
TS_INLINE VecD fma(VecD a, VecD b, VecD c) { return _mm512_fmadd_pd(a, b, c); }
#elif defined(__FMA__)
TS_INLINE VecF fma(VecF a, VecF b, VecF c) { return _mm256_fmadd_ps(a, b, c); }
TS_INLINE VecD fma(VecD a, VecD b, VecD c) { return _mm256_fmadd_pd(a, b, c); }
#else
TS_INLINE VecF fma(VecF a, VecF b, VecF c) { return a * b + c; }
TS_INLINE VecD fma(VecD a, VecD b, VecD c) { return a * b + c; }
#endif

/// The lanes, as bits, in which a < b.
#if defined(__AVX512F__)
TS_INLINE std::uint64_t lanes_below(VecF a, VecF b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TS_INLINE std::uint64_t lanes_below(VecD a, VecD b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
#elif defined(__AVX2__)
TS_INLINE std::uint64_t lanes_below(VecF a, VecF b) {
  return static_cast<std::uint64_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ)));
}
TS_INLINE std::uint64_t lanes_below(VecD a, VecD b) {
  return static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ)));
}
#else
template <class V>
TS_INLINE std::uint64_t lanes_below(V a, V b) {
  std::uint64_t found = 0;
  for (int l = 0; l < static_cast<int>(sizeof(V) / sizeof(a[0])); ++l) found |= std::uint64_t{a[l] < b[l]} << l;
  return found;
}
#endif

template <class V, class S>
TS_INLINE V load(const S* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class S>
TS_INLINE void store(S* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}
template <class V, class S>
TS_INLINE V broadcast(S x) {
  return x - V{};  // + would turn -0.0 into 0.0, and cost an addition
}
template <class V>
TS_INLINE V smaller(V a, V b) {
  return a < b ? a : b;
}
template <class V>
TS_INLINE V larger(V a, V b) {
  return a > b ? a : b;
}

/// Best and second best scores of the rows in the lanes of a vector.
template <class S>
struct BestSoFar {
  using V = typename Types<S>::Vec;
  using I = typename Types<S>::VecIndex;
  V best = broadcast<V>(static_cast<S>(__builtin_inf())), second = best;
  I which{};

  TS_INLINE void take(V score, I number) {
    which = score < best ? number : which;
    second = smaller(second, larger(best, score));
    best = smaller(best, score);
  }
};
template <class S>
using Out = BestTwo<S, typename Types<S>::Index>;
template <class S>
TS_INLINE void store_all(const BestSoFar<S> (&found)[row_vectors], const Out<S>& out) {
  for (int r = 0; r < row_vectors; ++r) {
    store(out.best + r * lanes<S>, found[r].best);
    store(out.second + r * lanes<S>, found[r].second);
    store(out.which + r * lanes<S>, found[r].which);
  }
}

/// The lines of the next rows, a few at a time.
struct Asking {
  static constexpr index_t line = 64, most = 4096;  // bytes; the processor asks for the rest by itself
  static constexpr index_t narrow = 512;            // bytes of rows that are one stretch if they lie side by side
  const char* values;
  const index_t* row;
  const index_t* end;
  index_t stride, bytes, at_once, at = 0;

  Asking(const NextRows& next, index_t steps)
      : values(static_cast<const char*>(next.x.values())), row(next.rows), end(next.rows + next.count) {
    const index_t size = next.x.type() == DType::float64 ? 8 : next.x.type() == DType::float32 ? 4 : 2;
    stride = next.x.row_stride() * size;
    bytes = next.x.cols() * size < most ? next.x.cols() * size : most;
    index_t rows = next.count;
    if (rows > 1 && stride <= narrow && row[rows - 1] - row[0] == rows - 1)
      bytes += (rows - 1) * stride, rows = 1, end = row + 1;
    if (stride % line != 0) bytes += line - 1;
    at_once = (bytes + line - 1) / line * rows / (steps > 0 ? steps : 1) + 1;  // no columns: no steps
  }
  TS_INLINE void step() {
    for (index_t q = 0; q < at_once && row != end; ++q) {
      __builtin_prefetch(values + *row * stride + at);
      at += line;
      if (at >= bytes) at = 0, ++row;
    }
  }
};

#include "tallskinny/solvers/kmeans/pass/cpu/scores.ipp"

TS_INLINE double widen(double x) { return x; }
TS_INLINE double widen(float x) { return x; }
TS_INLINE double widen(bfloat16 x) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16); }
/// The exponent is put right by a product, which serves subnormal numbers as well, but for infinities and
/// NaN.
TS_INLINE double widen(float16 x) {
  const std::uint32_t magnitude = (x.bits & 0x7fffu) << 13, beyond = 0x7c00u << 13;
  const float scaled = __builtin_bit_cast(float, magnitude) * 0x1p112f;
  const float value = magnitude < beyond ? scaled : __builtin_bit_cast(float, magnitude | 0x7f800000u);
  return (x.bits & 0x8000u) != 0 ? -value : value;
}

/// use(the elements of x in their type). As by_real_type, whose copy for a wider instruction set must not be shared.
template <class Use>
TS_INLINE auto with_values(const Rows& x, const Use& use) {
  switch (x.type()) {
#define TS_CASE(T) \
  case dtype_of<T>: return use(static_cast<const T*>(x.values()));
    TS_FOR_EACH_REAL_TYPE(TS_CASE)
#undef TS_CASE
    default: return use(static_cast<const double*>(x.values()));
  }
}

template <class T>
TS_INLINE void centred_row(const T* __restrict x, index_t stride, double scale, bool scaled,
                           const double* __restrict shift, index_t d, double* __restrict row) {
  if (stride == 1 && !scaled) {
    for (index_t j = 0; j < d; ++j) row[j] = widen(x[j]) - shift[j];
  } else {
    for (index_t j = 0; j < d; ++j) row[j] = widen(x[j * stride]) * scale - shift[j];
  }
}

void centred(const Rows& x, index_t i, const double* shift, double* row) {
  const index_t d = x.cols(), stride = x.col_stride(), first = i * x.row_stride();
  const double scale = x.scale(i);
  const bool scaled = x.has_scale();
  with_values(x,
              [&](const auto* values) TS_LAMBDA { centred_row(values + first, stride, scale, scaled, shift, d, row); });
}

#include "tallskinny/solvers/kmeans/pass/cpu/pack.ipp"

#include "tallskinny/solvers/kmeans/pass/cpu/decide.ipp"

template <class S>
void row_scores(const S* x, index_t d, const S* centroids, const S* half_norms, index_t k, S* scores) {
  using V = typename Types<S>::Vec;
  for (index_t m = 0; m < k; ++m) {
    const S* c = centroids + m * d;
    V acc[2] = {};
    index_t j = 0;
    for (; j + 2 * lanes<S> <= d; j += 2 * lanes<S>)
      for (int q = 0; q < 2; ++q) acc[q] = fma(load<V>(x + j + q * lanes<S>), load<V>(c + j + q * lanes<S>), acc[q]);
    S rest = 0;
    for (; j < d; ++j) rest += x[j] * c[j];
    const V both = acc[0] + acc[1];
    for (int l = 0; l < lanes<S>; ++l) rest += both[l];
    scores[m] = half_norms[m] + rest;
  }
}

#if !defined(TS_FLOATS_OF)
#include "tallskinny/solvers/kmeans/pass/cpu/means.ipp"
#include "tallskinny/solvers/kmeans/pass/cpu/sums.ipp"
#endif
#if defined(__AVX512VNNI__) || (defined(__AVX2__) && !defined(__AVX512F__))
#include "tallskinny/solvers/kmeans/pass/cpu/groups.ipp"
#include "tallskinny/solvers/kmeans/pass/cpu/integers.ipp"

#include "tallskinny/solvers/kmeans/pass/cpu/pruning.ipp"
#else
constexpr IntegerKernels of_integers;
constexpr PruningKernels of_bytes;
#endif

#if defined(TS_FLOATS_OF)
}  // namespace

extern const ByteKernels bytes;
const ByteKernels bytes = {of_integers, of_bytes};
#else
template <class S>
constexpr ScoreKernels<S, typename Types<S>::Index> score_table() {
  return {tile_rows<S>, group_size, best_two<S>, below<S>,     best_two_sparse<S>,
          lanes<S>,     pack<S>,    decide<S>,   row_scores<S>};
}

}  // namespace

extern const AssignKernels kernels;
#define TS_NAME_OF(isa) #isa
#define TS_NAME(isa) TS_NAME_OF(isa)
const AssignKernels kernels = {{of_integers, of_bytes},
                               TS_NAME(TS_ISA),
                               score_table<float>(),
                               score_table<double>(),
                               centred,
                               accumulate,
                               move,
                               screen,
                               squared_distance,
                               own_squared_distances,
                               add,
                               spread,
                               means,
                               squared_step,
                               inertia_term};
#endif

}  // namespace ts::inline v0::assign_cpu::TS_ISA
