// Where and how an operation runs. Passed first to every operation; holds no global state.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "tallskinny/gemm/core/host_memory.hpp"
#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/gemm/runtime/communicator.hpp"
#include "tallskinny/gemm/runtime/gpu/stream.hpp"
#include "tallskinny/gemm/runtime/row_slabs.hpp"

namespace ts::inline v0 {

/// How far equal input gives equal bits. `run_to_run`: on one machine, distributed in one way; on the CPU whatever the
/// number of threads, but for whole matrices by LAPACK. `gpu_to_gpu`: on every GPU, and however many ranks or slabs the
/// rows are distributed over, as long as these begin where units of rows do (RowSlabs::of_units).
enum class Determinism { run_to_run, gpu_to_gpu };

/// Which of the two CPU implementations runs: the vectorised fast path, or the plain Eigen reference that a
/// reader can check against the formula. Both have one signature and one meaning.
enum class Implementation { fast, reference };

/// Vector instructions of the fast path; `best` takes what the processor offers. `amx`: AVX-512, and tiles for 8-bit
/// products of k-means.
enum class Simd { best, sse2, avx2, avx512, amx };

/// How calls with it run: a plain value, copied freely. Of one thread at a time where it has a stream or several ranks.
struct Context {
  int threads = 0;  ///< 0: default_threads() of runtime/threads/processors.hpp
  Determinism determinism = Determinism::run_to_run;
  Implementation implementation = Implementation::fast;
  Simd simd = Simd::best;  ///< an override the processor cannot meet is an error, never a silent fallback
  cuda::Stream stream;     ///< where operations on device views run; set it with cuda::Stream(device)
  /// With several ranks the rows of tall operands are distributed: inner products, Gram matrices, norms and
  /// fused steps sum over all ranks, which all make the same calls and get the same results. Operations on
  /// what every rank holds take a Context without it.
  std::shared_ptr<Communicator> communicator = self_communicator();
  /// What matrices in host memory that calls with this context make, results among them, take their memory from; it
  /// outlives them (UseHostMemory says more). Null: as the thread has it in use, else the library's own. That of a GPU
  /// is said by the stream (cuda::DeviceAllocator).
  std::pmr::memory_resource* host_memory = nullptr;
  RowSlabs slabs;  ///< how rows are distributed over several ranks: asked for at level gpu_to_gpu alone
  std::function<void(std::string_view)> log;  ///< called with whole lines; empty: silent

  /// The number of threads to use: `threads`, or default_threads() for 0.
  [[nodiscard]] int thread_count() const noexcept;
};

/// The context of an operation on what every rank holds.
[[nodiscard]] inline Context alone(Context ctx) {
  ctx.communicator = self_communicator(), ctx.slabs = {};
  return ctx;
}

/// All rows of a distributed operand of which `here` are this rank's, and the first of these.
/// @throws Error(invalid_argument) where there are several ranks and ctx.slabs does not say which rows each has.
[[nodiscard]] index_t all_rows(const Context& ctx, index_t here);
[[nodiscard]] index_t first_row(const Context& ctx);

}  // namespace ts::inline v0
