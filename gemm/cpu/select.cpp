#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/cpu/row_kernels.hpp"
#include "tallskinny/gemm/runtime/instructions.hpp"
#if defined(TS_X86_KERNELS)
#include <cpuid.h>
#endif

namespace ts::inline v0::cpu {

namespace {

#if defined(TS_X86_KERNELS)
bool has_avx2() {
  // clang 14 does not know the name of F16C: bit 29 of ECX in leaf 1.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1u << 29)) != 0;
  return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
#else
constexpr bool has_avx2() { return false; }
constexpr bool has_avx512() { return false; }
#endif

const Kernels& best_kernels() {
#if defined(TS_X86_KERNELS)
  if (most_simd() >= Simd::avx512 && has_avx512()) return avx512::table;
  if (most_simd() >= Simd::avx2 && has_avx2()) return avx2::table;
#endif
  return base::table;
}

}  // namespace

const Kernels& kernels(Simd simd) {
  static const Kernels& best = best_kernels();
  switch (simd) {
    case Simd::best: return best;
    case Simd::sse2: return base::table;
    case Simd::avx2:
      expects(has_avx2(), "Context::simd asks for AVX2 (with FMA and F16C), which this processor does not have");
#if defined(TS_X86_KERNELS)
      return avx2::table;
#endif
      break;
    case Simd::amx:
      expects(has_avx512() && has_tiles(),
              "Context::simd asks for AMX (with AVX-512), which this processor does not have, or Linux does not allow");
      [[fallthrough]];
    case Simd::avx512:
      expects(has_avx512(), "Context::simd asks for AVX-512 (F, BW, VL, DQ), which this processor does not have");
#if defined(TS_X86_KERNELS)
      return avx512::table;
#endif
      break;
  }
  throw Error(Errc::invalid_argument, "Context::simd is not one of its five values");
}

const RowKernels& row_kernels(Simd simd) {
  [[maybe_unused]] const Kernels& chosen = kernels(simd);
#if defined(TS_X86_KERNELS)
  if (&chosen == &avx512::table) return avx512::row_table;
  if (&chosen == &avx2::table) return avx2::row_table;
#endif
  return base::row_table;
}

}  // namespace ts::inline v0::cpu
