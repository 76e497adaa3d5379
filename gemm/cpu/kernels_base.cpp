#include "tallskinny/gemm/cpu/vec_base.hpp"
// The vectors come first.
#include "tallskinny/gemm/cpu/table.hpp"

namespace ts::cpu::base {

extern constinit const Kernels table = make_table("base");

}  // namespace ts::cpu::base
