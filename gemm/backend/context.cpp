#include "tallskinny/gemm/backend/context.hpp"

#include "tallskinny/gemm/core/processors.hpp"

namespace ts {

int Context::thread_count() const noexcept {
  return threads > 0 ? threads : default_threads();
}

}  // namespace ts
