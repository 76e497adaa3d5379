#include "tallskinny/gemm/cpu/row_kernels.hpp"

namespace ts::inline v0::cpu {

const RowKernels& row_kernels(Simd simd) {
  [[maybe_unused]] const Kernels& chosen = kernels(simd);
#if defined(TS_X86_KERNELS)
  if (&chosen == &avx512::table) return avx512::row_table;
  if (&chosen == &avx2::table) return avx2::row_table;
#endif
  return base::row_table;
}

}  // namespace ts::inline v0::cpu
