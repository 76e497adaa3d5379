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

/// Twelve chains of multiply-adds fill two units of four cycles latency.
constexpr int chains = 12;

/// Kernels for registers of one width. Macros, because the compiler lowers vectors before it clones or inlines: the
/// body must be in the function with the target.
/// - sum: of one stream or of two; prefetches the line `ahead` doubles further on (0: none).
/// - flops: chains begin at different numbers, since equal ones would be computed once.
#define TS_FLOPS(name, target, V)                                     \
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
#define TS_KERNELS(level, target, V64, V32)                                                               \
  target double sum_##level(const double* p, std::size_t count, std::size_t streams, std::size_t ahead) { \
    constexpr std::size_t lanes = sizeof(V64) / sizeof(double);                                           \
    const std::size_t length = count / streams, second = streams == 1 ? 4 * lanes : length;               \
    V64 s[8] = {};                                                                                        \
    for (std::size_t i = 0; i < length; i += 8 / streams * lanes)                                         \
      for (std::size_t v = 0; v < 4; ++v) {                                                               \
        const double* q = p + i + v * lanes;                                                              \
        __builtin_prefetch(q + ahead);                                                                    \
        __builtin_prefetch(q + second + ahead);                                                           \
        V64 x, y;                                                                                         \
        std::memcpy(&x, q, sizeof x);                                                                     \
        std::memcpy(&y, q + second, sizeof y);                                                            \
        s[v] += x;                                                                                        \
        s[4 + v] += y;                                                                                    \
      }                                                                                                   \
    for (std::size_t v = 1; v < 8; ++v) s[0] += s[v];                                                     \
    return s[0][0];                                                                                       \
  }                                                                                                       \
  TS_FLOPS(flops64_##level, target, V64)                                                                  \
  TS_FLOPS(flops32_##level, target, V32)
#if defined(__x86_64__)
TS_KERNELS(avx512, __attribute__((target("avx512f"))), Wide64, Wide32)
TS_KERNELS(avx2, __attribute__((target("avx2,fma"))), Half64, Half32)
#endif
TS_KERNELS(base, , Quarter64, Quarter32)
#undef TS_KERNELS
#undef TS_FLOPS

struct Kernels {
  double (*sum)(const double*, std::size_t count, std::size_t streams, std::size_t ahead);
  double (*flops64)(long steps);
  double (*flops32)(long steps);
  double lanes;  ///< of float64
};
Kernels kernels_here() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {sum_avx512, flops64_avx512, flops32_avx512, 8};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {sum_avx2, flops64_avx2, flops32_avx2, 4};
#endif
  return {sum_base, flops64_base, flops32_base, 2};
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

double flop_rate(int threads, double (*run)(long steps), double lanes) {
  constexpr long steps = 400000;
  const double seconds = seconds_of_all_threads(threads, [&](int) { sink = run(steps); });
  return threads * static_cast<double>(steps) * 2 * lanes * chains / seconds;
}

}  // namespace

void measure_roofs(std::span<const double> source, std::span<double> target, int threads, Roofs& best) {
  const auto bytes = static_cast<double>(source.size_bytes());
  const Kernels kernels = kernels_here();
  const auto read = [&](std::size_t streams, std::size_t ahead) {
    const double seconds = seconds_of_all_threads(threads, [&](int thread) {
      const Share mine = share_of(source.size(), thread, threads);
      sink = kernels.sum(source.data() + mine.begin, mine.end - mine.begin, streams, ahead);
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
  for (const std::size_t ahead : {0, 512, 1024})
    for (const std::size_t streams : {1, 2}) read(streams, ahead);
  copy(copy_plain);
#if defined(__x86_64__)
  copy(copy_past_caches);
  if (__builtin_cpu_supports("avx512f")) copy(copy_past_caches_512);
#endif
  best.float64_flops = std::max(best.float64_flops, flop_rate(threads, kernels.flops64, kernels.lanes));
  best.float32_flops = std::max(best.float32_flops, flop_rate(threads, kernels.flops32, 2 * kernels.lanes));
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
