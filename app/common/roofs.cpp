#include "tallskinny/app/common/roofs.hpp"

#include <algorithm>
#include <cstring>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/plan/processor_info.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ts::app {

namespace {

// The compiler lowers operations on these to the widest registers of the level it compiles for.
using Wide64 = double __attribute__((vector_size(64)));
using Wide32 = float __attribute__((vector_size(64)));
using Half64 = double __attribute__((vector_size(32)));
using Half32 = float __attribute__((vector_size(32)));
using Quarter64 = double __attribute__((vector_size(16)));
using Quarter32 = float __attribute__((vector_size(16)));

volatile double sink;  // keeps results alive

/// One thread's share of `count` elements in whole blocks of 64 lines.
struct Share {
  std::size_t begin, end;
};
Share share_of(std::size_t count, int thread, int threads) {
  constexpr std::size_t block = 512;
  const auto me = static_cast<std::size_t>(thread), all = static_cast<std::size_t>(threads);
  const std::size_t blocks = count / block;
  return {blocks * me / all * block, blocks * (me + 1) / all * block};
}

/// Sums of one stream and of two; prefetches the line `ahead` doubles further on (0: none). Macros, because the
/// compiler lowers vectors before it clones or inlines: the body must be in the function with the target.
#define TS_SUMS(level, target, V)                                                        \
  target double sum_one_##level(const double* p, std::size_t count, std::size_t ahead) { \
    constexpr std::size_t lanes = sizeof(V) / sizeof(double);                            \
    V s[8] = {};                                                                         \
    for (std::size_t i = 0; i < count; i += 8 * lanes)                                   \
      for (std::size_t v = 0; v < 8; ++v) {                                              \
        __builtin_prefetch(p + i + v * lanes + ahead);                                   \
        V x;                                                                             \
        std::memcpy(&x, p + i + v * lanes, sizeof x);                                    \
        s[v] += x;                                                                       \
      }                                                                                  \
    for (std::size_t v = 1; v < 8; ++v) s[0] += s[v];                                    \
    return s[0][0];                                                                      \
  }                                                                                      \
  target double sum_two_##level(const double* p, std::size_t count, std::size_t ahead) { \
    constexpr std::size_t lanes = sizeof(V) / sizeof(double);                            \
    const std::size_t half = count / 128 * 64;                                           \
    V s[8] = {};                                                                         \
    for (std::size_t i = 0; i < half; i += 4 * lanes)                                    \
      for (std::size_t v = 0; v < 4; ++v) {                                              \
        const double* q = p + i + v * lanes;                                             \
        __builtin_prefetch(q + ahead);                                                   \
        __builtin_prefetch(q + half + ahead);                                            \
        V x, y;                                                                          \
        std::memcpy(&x, q, sizeof x);                                                    \
        std::memcpy(&y, q + half, sizeof y);                                             \
        s[v] += x;                                                                       \
        s[4 + v] += y;                                                                   \
      }                                                                                  \
    for (std::size_t v = 1; v < 8; ++v) s[0] += s[v];                                    \
    return s[0][0];                                                                      \
  }
#if defined(__x86_64__)
TS_SUMS(avx512, __attribute__((target("avx512f"))), Wide64)
TS_SUMS(avx2, __attribute__((target("avx2"))), Half64)
#endif
TS_SUMS(base, , Quarter64)
#undef TS_SUMS

struct ReadKernels {
  double (*one)(const double*, std::size_t, std::size_t);
  double (*two)(const double*, std::size_t, std::size_t);
};
ReadKernels read_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {sum_one_avx512, sum_two_avx512};
  if (__builtin_cpu_supports("avx2")) return {sum_one_avx2, sum_two_avx2};
#endif
  return {sum_one_base, sum_two_base};
}

void copy_plain(const double* from, double* to, std::size_t count) { std::memcpy(to, from, count * sizeof(double)); }

#if defined(__x86_64__)
void copy_past_caches(const double* from, double* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 8) {
    _mm_prefetch(reinterpret_cast<const char*>(from + i + 512), _MM_HINT_T0);
    for (std::size_t v = 0; v < 8; v += 2) _mm_stream_pd(to + i + v, _mm_loadu_pd(from + i + v));
  }
  _mm_sfence();
}
__attribute__((target("avx512f"))) void copy_past_caches_512(const double* from, double* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 8) {
    _mm_prefetch(reinterpret_cast<const char*>(from + i + 512), _MM_HINT_T0);
    _mm512_stream_pd(to + i, _mm512_loadu_pd(from + i));
  }
  _mm_sfence();
}
#endif

template <class Work>
double seconds_of_all_threads(int threads, const Work& work) {
  const Stopwatch watch;
  parallel(threads, work);
  return watch.seconds();
}

/// Twelve chains of multiply-adds that fill two units of four cycles latency, in registers of one width. They
/// begin at different numbers: equal chains would be computed once.
constexpr int chains = 12;
#define TS_MULTIPLY_ADD(name, target, V)                              \
  target double name(long steps) {                                    \
    V acc[chains] = {};                                               \
    const V a = acc[0] + 0.999f;                                      \
    const V b = acc[0] + 1e-3f;                                       \
    for (int c = 0; c < chains; ++c) acc[c] += static_cast<float>(c); \
    for (long s = 0; s < steps; ++s)                                  \
      for (auto& x : acc) x = x * a + b;                              \
    for (int c = 1; c < chains; ++c) acc[0] += acc[c];                \
    return static_cast<double>(acc[0][0]);                            \
  }
#if defined(__x86_64__)
TS_MULTIPLY_ADD(multiply_add_avx512_64, __attribute__((target("avx512f"))), Wide64)
TS_MULTIPLY_ADD(multiply_add_avx512_32, __attribute__((target("avx512f"))), Wide32)
TS_MULTIPLY_ADD(multiply_add_avx2_64, __attribute__((target("avx2,fma"))), Half64)
TS_MULTIPLY_ADD(multiply_add_avx2_32, __attribute__((target("avx2,fma"))), Half32)
#endif
TS_MULTIPLY_ADD(multiply_add_base_64, , Quarter64)
TS_MULTIPLY_ADD(multiply_add_base_32, , Quarter32)
#undef TS_MULTIPLY_ADD

struct FlopKernel {
  double (*run)(long steps);
  double flops_per_step;
};
FlopKernel flop_kernel(bool double_precision) {
  const auto kernel = [](auto* run, double lanes) { return FlopKernel{run, 2 * lanes * chains}; };
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return double_precision ? kernel(multiply_add_avx512_64, 8) : kernel(multiply_add_avx512_32, 16);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return double_precision ? kernel(multiply_add_avx2_64, 4) : kernel(multiply_add_avx2_32, 8);
#endif
  return double_precision ? kernel(multiply_add_base_64, 2) : kernel(multiply_add_base_32, 4);
}

double flop_rate(int threads, const FlopKernel& kernel) {
  constexpr long steps = 400000;
  const double seconds = seconds_of_all_threads(threads, [&](int) { sink = kernel.run(steps); });
  return threads * static_cast<double>(steps) * kernel.flops_per_step / seconds;
}

}  // namespace

void measure_roofs(std::span<const double> source, std::span<double> target, int threads, Roofs& best) {
  const auto bytes = static_cast<double>(source.size_bytes());
  const auto read = [&](auto* kernel, std::size_t ahead) {
    const double seconds = seconds_of_all_threads(threads, [&](int thread) {
      const Share mine = share_of(source.size(), thread, threads);
      sink = kernel(source.data() + mine.begin, mine.end - mine.begin, ahead);
    });
    best.read_bytes_per_second = std::max(best.read_bytes_per_second, bytes / seconds);
  };
  const auto copy = [&](auto* kernel) {
    const double seconds = seconds_of_all_threads(threads, [&](int thread) {
      const Share mine = share_of(source.size(), thread, threads);
      kernel(source.data() + mine.begin, target.data() + mine.begin, mine.end - mine.begin);
    });
    best.copy_bytes_per_second = std::max(best.copy_bytes_per_second, 2 * bytes / seconds);
  };
  const ReadKernels kernels = read_kernels();
  for (const std::size_t ahead : {0, 512, 1024}) {
    read(kernels.one, ahead);
    read(kernels.two, ahead);
  }
  copy(copy_plain);
#if defined(__x86_64__)
  copy(copy_past_caches);
  if (__builtin_cpu_supports("avx512f")) copy(copy_past_caches_512);
#endif
  best.float64_flops = std::max(best.float64_flops, flop_rate(threads, flop_kernel(true)));
  best.float32_flops = std::max(best.float32_flops, flop_rate(threads, flop_kernel(false)));
}

Roofs measured_roofs(int threads) {
  constexpr std::int64_t least = 64 << 20, most = 512 << 20;  // bytes
  const auto count = static_cast<std::size_t>(std::clamp(4 * this_cpu().l3_bytes, least, most)) / 4096 * 512;
  auto source = Matrix<double>::zeros(static_cast<index_t>(count), 1);
  auto target = Matrix<double>::zeros(static_cast<index_t>(count), 1);
  Roofs best;
  for (int round = 0; round < 2; ++round) measure_roofs({source.data(), count}, {target.data(), count}, threads, best);
  return best;
}

}  // namespace ts::app
