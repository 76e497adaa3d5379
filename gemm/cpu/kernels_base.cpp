#include "tallskinny/gemm/cpu/vec_base.hpp"
// The vectors come first.
#include "tallskinny/gemm/cpu/table.hpp"

namespace ts::inline v0::cpu::base {

extern constinit const Kernels table = make_table("base");

}  // namespace ts::inline v0::cpu::base
