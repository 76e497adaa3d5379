#include "tallskinny/gemm/backend/context.hpp"

#include <omp.h>

namespace ts {

int Context::thread_count() const noexcept {
  return threads > 0 ? threads : omp_get_max_threads();
}

}  // namespace ts
