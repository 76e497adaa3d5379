// OpenBLAS, or whatever LAPACK the machine has: found while the program runs, so that nothing needs it.
#pragma once

#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::inline v0 {

/// Sets $OPENBLAS_CORETYPE to the kernels that fit this processor, for OpenBLAS may not know it and be slow, and
/// $OPENBLAS_NUM_THREADS to 1, so that it starts its own threads where BlasThreads asks for them; neither if it is set.
/// OpenBLAS reads both when it is opened. No thread may read the environment meanwhile: for programs, before they start
/// any.
void prepare_openblas();

/// OpenBLAS, else another LAPACK; not loaded() where the machine has none. Opened once, and first of all libraries that
/// need OpenBLAS. @throws Error(out_of_memory) without address space for its buffers: OpenBLAS would wait for ever.
[[nodiscard]] const cuda::SharedLibrary& lapack_library();

/// "LAPACK (OpenBLAS 0.3.21)", or "LAPACK" where it is another; empty where there is none.
[[nodiscard]] std::string lapack_name();

/// Whether several threads may call it at once: not where it is an OpenBLAS that was built for a single one.
[[nodiscard]] bool threads_may_call_openblas();
/// The threads of ctx, or one.
[[nodiscard]] inline int blas_threads(const Context& ctx) {
  return threads_may_call_openblas() ? ctx.thread_count() : 1;
}

/// Elements that must be mapped behind every array with a leading dimension of `rows` that complex routines are given:
/// zgemv of OpenBLAS 0.3.21 reads up to a column beyond the last one (without use of what it reads), which ends the
/// program where that memory is not there. Seen in zhetrd.
[[nodiscard]] constexpr index_t spare_elements(index_t rows) noexcept { return 2 * rows; }

/// call(work, length) of a LAPACK routine twice: with length -1 it says how much workspace it wants, then it gets that,
/// and the spare elements of `rows`. Returns false where no int counts as many.
template <class T, class Call>
[[nodiscard]] bool with_workspace(index_t rows, const Call& call) {
  T wanted{};
  call(&wanted, -1);
  const double length = std::real(wanted);
  if (!(length < std::numeric_limits<int>::max())) return false;
  std::vector<T> work(static_cast<std::size_t>(length) + static_cast<std::size_t>(spare_elements(rows)));
  call(work.data(), static_cast<int>(length));
  return true;
}

/// Keeps OpenBLAS at so many threads for each call as long as one lives, since another number of threads gives other
/// bits. OpenBLAS has one number for the whole process: whoever asks for another one waits until nobody holds this, but
/// within one on the same thread, where the outer one holds. Several threads may hold the same number and call OpenBLAS
/// at once: its routines of one thread share nothing but a locked table of buffers, and with more they take turns. To
/// be destroyed by the thread that made it. A LAPACK that is not OpenBLAS is left as it is.
class BlasThreads {
 public:
  explicit BlasThreads(int count);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;
};

}  // namespace ts::inline v0
