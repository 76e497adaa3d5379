#include "tallskinny/gemm/runtime/openblas.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::inline v0 {

namespace {

/// How OpenBLAS is told its number of threads, of which it has one for all callers.
struct Control {
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  std::mutex lock = {};
  std::condition_variable free = {};
  int holders = 0, count = 0, before = 0;

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

thread_local int held_here = 0;  // by this thread

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

/// OpenBLAS maps a buffer for each thread that is within it, and where it cannot, tries again for ever: there must be
/// address space for as many as there will be. Its own pages beside them.
constexpr std::size_t buffer_bytes = std::size_t{129} << 20, own_bytes = std::size_t{48} << 20;

void expect_address_space(int threads) {
  std::vector<std::pair<void*, std::size_t>> maps;
  bool enough = true;
  for (int i = -1; i < threads && enough; ++i) {
    const std::size_t bytes = i < 0 ? own_bytes : buffer_bytes;
    void* const place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    enough = place != MAP_FAILED;
    if (enough) maps.emplace_back(place, bytes);
  }
  for (const auto& [place, bytes] : maps) ::munmap(place, bytes);
  if (!enough)
    throw Error(Errc::out_of_memory,
                "there is too little address space for OpenBLAS, which needs " +
                    std::to_string((own_bytes + static_cast<std::size_t>(threads) * buffer_bytes) >> 20) + " MiB for " +
                    std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
                    ": raise the limit (ulimit -v) or use fewer threads");
}

/// Has the buffers mapped at once, while there is place; OpenBLAS keeps what it has mapped.
void map_buffers(const cuda::SharedLibrary& library, int threads) {
  constexpr int least_table = 50;  // as many buffers every build of OpenBLAS knows
  void* (*take)(int) = nullptr;
  void (*give_back)(void*) = nullptr;
  if (!library.bind(take, "blas_memory_alloc") || !library.bind(give_back, "blas_memory_free")) return;
  std::vector<void*> buffers;
  for (int i = 0; i < std::min(threads, least_table); ++i) buffers.push_back(take(0));
  for (void* const buffer : buffers) give_back(buffer);
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
    const int threads = default_threads();
    expect_address_space(threads);
    cuda::SharedLibrary opened(names);
    map_buffers(opened, threads);
    return opened;
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

BlasThreads::BlasThreads(int count) {
  Control& c = control();
  if (c.threads == nullptr || held_here++ > 0) return;
  std::unique_lock lock(c.lock);
  c.free.wait(lock, [&] { return c.holders == 0 || c.count == count; });
  if (c.holders++ > 0) return;
  c.count = count, c.before = c.threads();
  if (c.before != count) c.set_threads(count);
}

BlasThreads::~BlasThreads() {
  Control& c = control();
  if (c.threads == nullptr || --held_here > 0) return;
  const std::lock_guard lock(c.lock);
  if (--c.holders > 0) return;
  if (c.before != c.count) c.set_threads(c.before);
  c.free.notify_all();
}

}  // namespace ts::inline v0
