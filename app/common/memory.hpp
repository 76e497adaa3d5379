// The memory that a run will take, and the memory there is.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/options.hpp"
#include "tallskinny/solvers/setup/memory.hpp"

namespace ts::app {

/// Bytes that can be allocated now: what the system calls available, within the limits set on this process.
/// 0 when the system does not say.
[[nodiscard]] std::uint64_t available_memory();

/// "500M", "4G", "4g", "4GiB": powers of 1024.
[[nodiscard]] bool parse_bytes(std::string_view text, std::uint64_t& out);
/// --memory BYTES
void add_memory_option(Options& options, std::uint64_t& target, std::string help);

using solvers::MemoryUse;

/// Prints the table with its total and the available memory.
void print_memory(std::ostream& out, const std::vector<MemoryUse>& uses, std::uint64_t available);
/// Adds the table as JSON members: `memory` (item -> bytes), `memory_bytes` and `available_memory_bytes`.
void add_memory(JsonObject& json, const std::vector<MemoryUse>& uses, std::uint64_t available);

}  // namespace ts::app
