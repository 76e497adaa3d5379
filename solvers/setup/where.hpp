// Where a run is faster: on the processor or on a device, from what is known of it before anything is read.
#pragma once

#include "tallskinny/gemm/plan/processor_info.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/solvers/eigen/dense/dense_solver.hpp"
#include "tallskinny/solvers/eigen/values/options.hpp"

namespace ts::inline v0::solvers {

/// Rough numbers of bytes that a run moves and flops that it computes.
struct RunWork {
  double bytes = 0;     ///< read and written where the work is done
  double flops = 0;     ///< beside them, in float32 if `narrow`, else in float64
  double sent = 0;      ///< bytes that a device must be sent first
  double resident = 0;  ///< bytes that must fit there
  bool narrow = false;
};

/// Rates of a processor when so many of its threads are used.
[[nodiscard]] ProcessorInfo with_threads(const ProcessorInfo&, int threads) noexcept;

/// Seconds, at the rates that these values state: memory and arithmetic overlap.
[[nodiscard]] double seconds_on(const ProcessorInfo&, const RunWork&) noexcept;
/// seconds() on a device, with the cost of starting there: the driver, cached kernels, and transfers.
[[nodiscard]] double seconds_on(const cuda::DeviceInfo&, const RunWork&) noexcept;

/// True if a run on the device is long enough to make up for loading NVIDIA's libraries.
[[nodiscard]] bool pays_libraries(const cuda::DeviceInfo&, const RunWork&) noexcept;

/// A search for eigenvalues: so many block steps of products with the matrix and passes over half of the basis as it
/// takes to converge on a spectrum with small gaps.
/// @param rows of the basis. @param element_bytes of its numbers.
[[nodiscard]] RunWork work_of_search(const EigenPlan& plan, index_t rows, std::size_t element_bytes,
                                     std::uint64_t matrix_bytes) noexcept;

/// Matrices with fewer rows or columns are decomposed by the processor where nobody asks for a device: to start one and
/// load cuSOLVER takes longer than that saves (docs/notes/dense-measured.md).
inline constexpr index_t whole_on_device = 3000;
/// whole_on_device where a device was requested, but not a decomposition of the whole matrix.
inline constexpr index_t whole_on_device_asked = 1000;

/// A decomposition of a whole matrix, with all vectors; of a small one (above) nothing, which no device is faster at.
/// Half of the reduction to a condensed form reads the rest of the matrix for every column.
[[nodiscard]] RunWork work_of_decomposition(DenseTask task, index_t rows, index_t cols,
                                            std::size_t element_bytes) noexcept;

/// k-means: passes over n x d points of `element_bytes`, with k centres.
[[nodiscard]] RunWork work_of_kmeans(index_t n, index_t d, index_t k, std::size_t element_bytes,
                                     index_t most_passes) noexcept;

}  // namespace ts::inline v0::solvers
