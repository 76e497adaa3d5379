// Options that name operations, element types and vector levels.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/gemm/plan/plan.hpp"

namespace ts::bench {

/// @throws Error(invalid_argument) that lists the names there are.
[[nodiscard]] Operation parse_operation(const std::string& name);
[[nodiscard]] DType parse_dtype(const std::string& name);

/// The parts between commas, without empty ones.
[[nodiscard]] std::vector<std::string> split_list(const std::string& list);

[[nodiscard]] std::vector<std::pair<std::string, Simd>> simd_words();

}  // namespace ts::bench
