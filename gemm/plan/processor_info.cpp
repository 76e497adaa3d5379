#include "tallskinny/gemm/plan/processor_info.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "tallskinny/gemm/runtime/instructions.hpp"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ts::inline v0 {

int lanes_of(Simd level, DType computed_in) noexcept {
  const int bytes = level >= Simd::avx512 ? 64 : level == Simd::avx2 ? 32 : 16;
  const bool double_precision = computed_in == DType::float64 || computed_in == DType::complex128;
  return bytes / (double_precision ? 8 : 4);
}

std::string_view name_of(Simd level) noexcept {
  switch (level) {
    case Simd::best: return "best";
    case Simd::sse2: return "sse2";
    case Simd::avx2: return "avx2";
    case Simd::avx512: return "avx512";
    case Simd::amx: return "amx";
  }
  return "?";
}

namespace {

std::string brand() {
#if defined(__x86_64__)
  std::array<unsigned, 12> words{};
  for (unsigned i = 0; i < 3; ++i)
    if (!__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]))
      return "x86-64";
  std::array<char, sizeof words + 1> text{};
  std::memcpy(text.data(), words.data(), sizeof words);
  std::string name(text.data());
  name.erase(0, name.find_first_not_of(' '));
  return name;
#else
  return "cpu";
#endif
}

Simd widest() {
#if defined(__x86_64__)
  if (most_simd() >= Simd::avx512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return Simd::avx512;
  // clang 14 does not know the name of F16C: bit 29 of ECX in leaf 1.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1u << 29)) != 0;
  if (most_simd() >= Simd::avx2 && f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return Simd::avx2;
#endif
  return Simd::sse2;
}

std::int64_t system_value(int name, std::int64_t otherwise) {
  const long value = sysconf(name);
  return value > 0 ? value : otherwise;
}

ProcessorInfo detect() {
  ProcessorInfo d;
  d.name = brand();
  d.threads = Context{}.thread_count();
  d.simd = widest();
  d.l1_bytes = system_value(_SC_LEVEL1_DCACHE_SIZE, d.l1_bytes);
  d.l2_bytes = system_value(_SC_LEVEL2_CACHE_SIZE, d.l2_bytes);
  d.l3_bytes = system_value(_SC_LEVEL3_CACHE_SIZE, d.l3_bytes);
  // Per core: 8 GB/s of memory, 40 GB/s of L2, one fused multiply-add of a whole register per cycle at 2 GHz.
  const double cores = d.threads;
  d.read_bytes_per_second = std::min(8e9 * cores, 2e11);
  d.copy_bytes_per_second = 0.9 * d.read_bytes_per_second;
  d.cache_bytes_per_second = 4e10 * cores;
  d.float64_flops = 4e9 * lanes_of(d.simd, DType::float64) * cores;
  d.float32_flops = 2 * d.float64_flops;
  return d;
}

}  // namespace

const ProcessorInfo& this_cpu() {
  static const ProcessorInfo info = detect();
  return info;
}

}  // namespace ts::inline v0
