#include "tallskinny/gemm/backend/cpu/vec_avx512.hpp"
// The vectors come first.
#include "tallskinny/gemm/backend/cpu/table.hpp"

namespace ts::cpu::avx512 {

extern constinit const Kernels table = make_table("avx512");

}  // namespace ts::cpu::avx512
