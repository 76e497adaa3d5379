// Commands of tsbench, one file each, and values of their options.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/tsbench/case.hpp"
#include "tallskinny/gemm/plan/plan.hpp"

namespace ts::bench {

/// tsbench plan OP TYPE n m k
int plan_command(app::Arguments arguments);
/// tsbench engine
int engine_command(app::Arguments arguments);
/// tsbench gpu
int gpu_command(app::Arguments arguments);
/// tsbench probe
int probe_command(app::Arguments arguments);
/// tsbench tune
int tune_command(app::Arguments arguments);
/// tsbench pack
int pack_command(app::Arguments arguments);
/// tsbench kernel OP TYPE n m k
int kernel_command(app::Arguments arguments);

/// @throws Error(invalid_argument) that lists the names there are.
[[nodiscard]] Operation parse_operation(const std::string& name);
[[nodiscard]] DType parse_dtype(const std::string& name);

/// The parts between commas, without empty ones.
[[nodiscard]] std::vector<std::string> split_list(const std::string& list);
/// Comma-separated names; all there are for an empty list.
[[nodiscard]] std::vector<Operation> parse_operations(const std::string& list);
[[nodiscard]] std::vector<DType> parse_dtypes(const std::string& list);

/// "256MiB", "1GB", "1e8".
[[nodiscard]] bool parse_bytes(std::string_view text, std::int64_t& out);

/// "8" for both widths, "1-8" for each of these, "16x4" for p x q, comma-separated. @throws
/// Error(invalid_argument).
[[nodiscard]] std::vector<Shape> parse_widths(const std::string& list);

[[nodiscard]] std::vector<std::pair<std::string, Simd>> simd_words();

}  // namespace ts::bench
