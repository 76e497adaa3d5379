// Memory that a read takes, memory that is free, and the error when it does not fit.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::inline v0::io {

/// Bytes that zlib expands one byte to, at most.
inline constexpr index_t best_deflate = 1032;

/// The product of non-negative factors, 2^64 - 1 if it is larger.
[[nodiscard]] std::uint64_t product(std::initializer_list<index_t> factors) noexcept;
/// The sum, 2^64 - 1 if it is larger.
[[nodiscard]] std::uint64_t sum(std::initializer_list<std::uint64_t> terms) noexcept;

/// Bytes that this process can still get: the least of what the kernel calls available, of what its
/// control group leaves and of its address space limit.
[[nodiscard]] std::uint64_t available_memory();
/// Declares that `processes` processes, this one among them, share this machine: each has its part of the free memory.
void share_memory(int processes) noexcept;

/// Bytes that the control groups of a process leave it, the tightest on the way to the root, in versions 1
/// and 2; 2^64 - 1 without a limit.
[[nodiscard]] std::uint64_t control_group_free(const ControlGroups& groups);

/// @throws Error(out_of_memory) when `bytes` exceed `limit` (0: available_memory()).
void require_memory(std::uint64_t bytes, std::uint64_t limit, const std::string& name);

/// "3.2 GB"
[[nodiscard]] std::string readable_bytes(std::uint64_t bytes);

}  // namespace ts::inline v0::io
