#include "tallskinny/gemm/runtime/openblas.hpp"

#include <cstdlib>
#include <mutex>

namespace ts::inline v0 {

namespace {

/// How OpenBLAS is told its number of threads, of which it has one for all callers.
struct Control {
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  std::mutex lock = {};
  int holders = 0, before = 0;

  Control() {
    const auto& library = lapack_library();
    if (!library.bind(threads, "openblas_get_num_threads") || !library.bind(set_threads, "openblas_set_num_threads"))
      threads = nullptr;
  }
};

Control& control() {
  static Control one;
  return one;
}

/// OpenBLAS takes a processor that is newer than itself for one of 2004, and runs several times as slowly: the kernels
/// that fit this one, as OpenBLAS calls them, or nullptr where it shall choose.
const char* core_type() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

}  // namespace

void prepare_openblas() {
  constexpr int keep = 0;  // what is set
  if (const char* const core = core_type()) ::setenv("OPENBLAS_CORETYPE", core, keep);
  ::setenv("OPENBLAS_NUM_THREADS", "1", keep);
}

const cuda::SharedLibrary& lapack_library() {
  static const cuda::SharedLibrary library = [] {
    constexpr const char* names[] = {"libopenblas.so.0", "liblapack.so.3"};
    return cuda::SharedLibrary(names);
  }();
  return library;
}

std::string lapack_name() {
  if (!lapack_library().loaded()) return "";
  const char* (*config)() = nullptr;  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
  if (!lapack_library().bind(config, "openblas_get_config")) return "LAPACK";
  const std::string words = config();
  return "LAPACK (" + words.substr(0, words.find(' ', words.find(' ') + 1)) + ")";
}

bool threads_may_call_openblas() {
  static const bool may = [] {
    int (*parallel)() = nullptr;  // 0: built for one thread
    return !lapack_library().bind(parallel, "openblas_get_parallel") || parallel() != 0;
  }();
  return may;
}

OneBlasThread::OneBlasThread() {
  Control& c = control();
  if (c.threads == nullptr) return;
  const std::lock_guard lock(c.lock);
  if (c.holders++ > 0) return;
  c.before = c.threads();
  if (c.before != 1) c.set_threads(1);
}

OneBlasThread::~OneBlasThread() {
  Control& c = control();
  if (c.threads == nullptr) return;
  const std::lock_guard lock(c.lock);
  if (--c.holders == 0 && c.before != 1) c.set_threads(c.before);
}

}  // namespace ts::inline v0
