// Kernels of a computation that is about to begin.
#pragma once

#include <functional>

#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

/// Compiles together, in parallel, what `work` would start on the device of ctx.stream: `work` gets a Context
/// that carries nothing out, and small results of operations are zero. Where ctx itself rehearses these kernels
/// join those that it notes. Without a device nothing happens.
void compile_ahead(const Context& ctx, const std::function<void(const Context&)>& work);

}  // namespace ts::inline v0
