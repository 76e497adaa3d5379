// What a benchmark needs on the device beside the operations: filling operands, taking samples of them, and
// reference sums.
#pragma once

#include "tallskinny/app/tsbench/check.hpp"
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::bench {

/// The kernels of this file for elements of type T, for compiling them with others.
[[nodiscard]] std::vector<cuda::KernelPlan> bench_plans(DType type);

/// a(i, j) = value_at<T>(first + i * columns + j)
template <class T>
void fill(const Context& ctx, DeviceStrided<T> a, std::uint64_t first);

/// A sparse matrix in device memory, also with the 32-bit row pointers that cuSPARSE takes.
template <class T>
struct DeviceSparse {
  cuda::Memory pointers, short_pointers, indices, values;
  cuda::DeviceParts parts;
  SparseFacts facts;
  SparsePattern pattern;
  std::unique_ptr<cuda::Kept> kept = std::make_unique<cuda::Kept>();
  [[nodiscard]] CsrView<T, Space::device> view() const noexcept;
};
template <class T>
[[nodiscard]] DeviceSparse<T> make_sparse(const Context& ctx, SparsePattern pattern, const SparseFacts& facts);

/// As check.hpp has it for host memory, to which it copies. Waits for it.
template <class T>
void gather(const Context& ctx, std::span<T> to, DeviceStrided<const T> a, std::span<const index_t> rows);

/// A number that equals another only where all bits of the two matrices do. Waits for it.
template <class T>
[[nodiscard]] std::uint64_t hash_of(const Context& ctx, DeviceStrided<const T> a);

/// As check.hpp has it for host memory. Waits for it.
template <class T>
[[nodiscard]] std::vector<InnerSum> inner_sums(const Context& ctx, DeviceStrided<const T> a, DeviceStrided<const T> b,
                                               std::span<const std::array<index_t, 2>> entries);

}  // namespace ts::bench
