// An operation on device operands, once.
#pragma once

#include "tallskinny/app/tsbench/gpu_operands.hpp"
#include "tallskinny/gemm/backend/context.hpp"

namespace ts::bench {

template <class T>
void run_on_gpu(const Context& ctx, const Operands<T>& o, CsrView<T, Space::device> sparse);

}  // namespace ts::bench
