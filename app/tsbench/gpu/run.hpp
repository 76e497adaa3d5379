// An operation on device operands, once.
#pragma once

#include "tallskinny/app/tsbench/gpu/pool.hpp"

namespace ts::bench {

template <class T>
void run_on_gpu(const Context& ctx, const DeviceOperands<T>& o);

}  // namespace ts::bench
