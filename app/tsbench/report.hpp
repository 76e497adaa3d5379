// The table and the JSON of tsbench: one list of columns for each place, one object for every result.
#pragma once

#include <iosfwd>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tsbench/measure.hpp"
#include "tallskinny/app/tsbench/summary.hpp"

namespace ts::bench {

void print_header(std::ostream& out, Space place);
void print_row(std::ostream& out, const Measured& m);
/// The rates of a GPU as measured, with its name, the date and the commit.
void print_gpu_roofs(std::ostream& out, const cuda::DeviceInfo& roofs);
[[nodiscard]] Cell cell_of(const Measured& m);
[[nodiscard]] app::JsonObject json_of(const Measured& m);

using app::utc_now;
/// What this program was built from.
[[nodiscard]] std::string_view commit();

/// The machine, the date, the commit and the compilers or libraries: what a figure means nothing without.
[[nodiscard]] app::JsonObject json_of_run(const Context& ctx, const Effort& effort, std::int64_t bytes,
                                          const Roofs& best);
[[nodiscard]] app::JsonObject json_of_gpu_run(const cuda::DeviceInfo& roofs, std::int64_t bytes);

}  // namespace ts::bench
