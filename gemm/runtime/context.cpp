#include "tallskinny/gemm/runtime/context.hpp"

#include "tallskinny/gemm/runtime/processors.hpp"

namespace ts {

int Context::thread_count() const noexcept { return threads > 0 ? threads : default_threads(); }

}  // namespace ts
