#include "tallskinny/solvers/openblas.hpp"

#include <algorithm>
#include <cstdlib>

namespace ts::solvers {

namespace {

/// How OpenBLAS is told its number of threads, of which it has one for all callers.
struct Control {
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  std::recursive_mutex lock = {};

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

const cuda::SharedLibrary& lapack_library() {
  static const cuda::SharedLibrary library = [] {
    constexpr const char* names[] = {"libopenblas.so.0", "liblapack.so.3"};
    constexpr const char* variable = "OPENBLAS_CORETYPE";
    const char* const core = std::getenv(variable) == nullptr ? core_type() : nullptr;
    if (core != nullptr) ::setenv(variable, core, 0);
    const cuda::SharedLibrary opened(names);
    if (core != nullptr) ::unsetenv(variable);
    return opened;
  }();
  return library;
}

BlasThreads::BlasThreads(int threads) : lock_(control().lock) {
  if (control().threads == nullptr) return;
  before_ = control().threads();
  if (before_ != threads) control().set_threads(std::max(threads, 1));
}

BlasThreads::~BlasThreads() {
  if (before_ > 0 && control().threads() != before_) control().set_threads(before_);
}

}  // namespace ts::solvers
