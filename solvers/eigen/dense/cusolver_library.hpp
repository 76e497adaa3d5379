// cuSOLVER, NVIDIA's LAPACK, as it is found when a program runs. Nothing of it serves the build: what is used of its
// 64-bit interface is declared here. For the .cpp files of this folder alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "tallskinny/gemm/runtime/gpu/stream.hpp"
#include "tallskinny/gemm/runtime/gpu/vendor_library.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers::cusolver {

// Numbers of its headers.
enum Vectors : int { no_vectors = 0, with_vectors = 1 };
enum Triangle : int { upper_triangle = 1 };
enum Factors : int { transposed_factors = 1, adjoint_factors = 2 };
inline constexpr int reals = 1;  // CUDA_R_64F
template <class T>
inline constexpr int numbers_of = is_complex<T> ? 5 : reals;  // CUDA_C_64F

using Pointer = void*;
using Size = std::int64_t;
using Bytes = std::size_t;

struct Library : cuda::VendorLibrary {
  Library() : VendorLibrary({"libcusolver.so.12", "libcusolver.so.11"}) {}

  int (*property)(int, int*) = find("cusolverGetProperty");
  int (*create)(Pointer*) = find("cusolverDnCreate");
  int (*create_params)(Pointer*) = find("cusolverDnCreateParams");
  int (*set_stream)(Pointer, CUstream_st*) = find("cusolverDnSetStream");
  int (*syevd_size)(Pointer, Pointer, int, int, Size, int, const void*, Size, int, const void*, int, Bytes*,
                    Bytes*) = find("cusolverDnXsyevd_bufferSize");
  int (*syevd)(Pointer, Pointer, int, int, Size, int, void*, Size, int, void*, int, void*, Bytes, void*, Bytes,
               int*) = find("cusolverDnXsyevd");
  int (*gesvdp_size)(Pointer, Pointer, int, int, Size, Size, int, const void*, Size, int, const void*, int, const void*,
                     Size, int, const void*, Size, int, Bytes*, Bytes*) = find("cusolverDnXgesvdp_bufferSize");
  int (*gesvdp)(Pointer, Pointer, int, int, Size, Size, int, void*, Size, int, void*, int, void*, Size, int, void*,
                Size, int, void*, Bytes, void*, Bytes, int*, double*) = find("cusolverDnXgesvdp");
  int (*gesvd_size)(Pointer, Pointer, signed char, signed char, Size, Size, int, const void*, Size, int, const void*,
                    int, const void*, Size, int, const void*, Size, int, Bytes*,
                    Bytes*) = find("cusolverDnXgesvd_bufferSize");
  int (*gesvd)(Pointer, Pointer, signed char, signed char, Size, Size, int, void*, Size, int, void*, int, void*, Size,
               int, void*, Size, int, void*, Bytes, void*, Bytes, int*) = find("cusolverDnXgesvd");
  int (*getrf_size)(Pointer, Pointer, Size, Size, int, const void*, Size, int, Bytes*,
                    Bytes*) = find("cusolverDnXgetrf_bufferSize");
  int (*getrf)(Pointer, Pointer, Size, Size, int, void*, Size, Size*, int, void*, Bytes, void*, Bytes,
               int*) = find("cusolverDnXgetrf");
  int (*getrs)(Pointer, Pointer, int, Size, Size, int, const void*, Size, const Size*, int, void*, Size,
               int*) = find("cusolverDnXgetrs");
};

/// What came in 2024, with 11.7.1.
struct GeneralLibrary : cuda::VendorLibrary {
  GeneralLibrary() : VendorLibrary({"libcusolver.so.12", "libcusolver.so.11"}) {}

  int (*geev_size)(Pointer, Pointer, int, int, Size, int, const void*, Size, int, const void*, int, const void*, Size,
                   int, const void*, Size, int, Bytes*, Bytes*) = find("cusolverDnXgeev_bufferSize");
  int (*geev)(Pointer, Pointer, int, int, Size, int, void*, Size, int, void*, int, void*, Size, int, void*, Size, int,
              void*, Bytes, void*, Bytes, int*) = find("cusolverDnXgeev");
};

/// Loaded with the first call.
[[nodiscard]] const Library& library();
[[nodiscard]] const GeneralLibrary& general_library();

/// @throws Error(out_of_memory), Error(device_failure) unless the status is a success.
void check(int status, const char* what);

/// A handle of a device, with this stream, while this lives; one thread at a time has it. It is kept as long as the
/// process lives, for it takes longer to make than a small matrix to decompose.
class Session {
 public:
  explicit Session(const cuda::Stream& stream);
  [[nodiscard]] Pointer handle() const noexcept { return handle_; }
  [[nodiscard]] Pointer params() const noexcept { return params_; }

 private:
  std::unique_lock<std::mutex> lock_;
  Pointer handle_ = nullptr, params_ = nullptr;
};

}  // namespace ts::inline v0::solvers::cusolver
