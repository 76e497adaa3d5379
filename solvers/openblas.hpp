// OpenBLAS, or whatever LAPACK the machine has: found while the program runs, so that nothing needs it.
#pragma once

#include <complex>
#include <limits>
#include <mutex>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::solvers {

/// OpenBLAS, else another LAPACK; not loaded() where the machine has none. Opened once, and first of all libraries that
/// need OpenBLAS, for it chooses its kernels when it is opened, and needs to be told which where it does not know the
/// processor. $OPENBLAS_CORETYPE overrides that.
[[nodiscard]] const cuda::SharedLibrary& lapack_library();

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

/// Keeps OpenBLAS at a number of threads as long as it lives; other threads that want one wait. One in another on the
/// same thread is allowed. Whoever calls into OpenBLAS holds one: where several threads of a program call version
/// 0.3.21 at once, results differ from run to run and some runs crash, also with one thread each. Another number of
/// threads may give other bits. A LAPACK that is not OpenBLAS is left as it is.
class BlasThreads {
 public:
  /// @param threads at least 1
  explicit BlasThreads(int threads);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  int before_ = 0;
};

}  // namespace ts::solvers
