// The table and the JSON of tsbench gpu.
#pragma once

#include <iosfwd>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/tsbench/gpu/measure.hpp"

namespace ts::bench {

void print_gpu_roofs(std::ostream& out, const cuda::DeviceInfo& roofs);
void print_gpu_header(std::ostream& out);
void print_gpu_row(std::ostream& out, const GpuMeasured& m);
[[nodiscard]] app::JsonObject json_of(const GpuMeasured& m);
/// The device, the date, the commit and the libraries: what a figure means nothing without.
[[nodiscard]] app::JsonObject json_of_gpu_run(const cuda::DeviceInfo& roofs, std::int64_t bytes);

}  // namespace ts::bench
