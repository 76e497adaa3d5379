#include <string_view>

#include "tallskinny/gemm/assign/cpu/kernels.hpp"
#include "tallskinny/gemm/cpu/kernels.hpp"

namespace ts::inline v0::assign_cpu {

const AssignKernels& select(Simd simd) {
  [[maybe_unused]] const std::string_view instructions = cpu::kernels(simd).name;  // or throws
#if defined(TS_X86_KERNELS)
  if (instructions == "avx512")
    return __builtin_cpu_supports("avx512vnni") != 0 ? avx512vnni::kernels : avx512::kernels;
  if (instructions == "avx2") return avx2::kernels;
#endif
  return base::kernels;
}

}  // namespace ts::inline v0::assign_cpu
