// Where and how an operation runs. Passed first to every operation; holds no global state.
#pragma once

#include <functional>
#include <string_view>

#include "tallskinny/gemm/backend/cuda/stream.hpp"
#include "tallskinny/gemm/core/types.hpp"

namespace ts {

/// How far equal input gives equal bits. On the CPU `run_to_run` already includes
/// independence from the number of threads.
enum class Determinism { run_to_run, gpu_to_gpu };

/// Which of the two CPU implementations runs: the vectorised fast path, or the plain Eigen reference that a
/// reader can check against the formula. Both have one signature and one meaning.
enum class Implementation { fast, reference };

/// Vector instructions of the fast path; `best` takes what the processor offers.
enum class Simd { best, sse2, avx2, avx512 };

struct Context {
  int threads = 0;  ///< 0: as many as OpenMP would take
  Determinism determinism = Determinism::run_to_run;
  Implementation implementation = Implementation::fast;
  Simd simd = Simd::best;  ///< an override the processor cannot meet is an error, never a silent fallback
  cuda::Stream stream;     ///< where operations on device views run; set it with cuda::Stream(device)
  std::function<void(std::string_view)> log;  ///< called with whole lines; empty: silent

  /// The number of threads to use: `threads`, or OpenMP's default for 0.
  [[nodiscard]] int thread_count() const noexcept;
};

}  // namespace ts
