#include <string_view>

#include "tallskinny/gemm/assign/cpu/kernels.hpp"
#include "tallskinny/gemm/cpu/kernels.hpp"
#include "tallskinny/gemm/runtime/instructions.hpp"

namespace ts::inline v0::assign_cpu {

const AssignKernels& select(Simd simd) {
  [[maybe_unused]] const std::string_view instructions = cpu::kernels(simd).name;  // or throws
#if defined(TS_X86_KERNELS)
  if (instructions == "avx512") {
    if (__builtin_cpu_supports("avx512vnni") == 0) return avx512::kernels;
#if defined(TS_AMX_KERNELS)
    if ((simd == Simd::amx || (simd == Simd::best && most_simd() == Simd::amx)) && has_tiles()) return amx::kernels;
#endif
    return avx512vnni::kernels;
  }
  if (instructions == "avx2") return avx2::kernels;
#endif
  return base::kernels;
}

}  // namespace ts::inline v0::assign_cpu
