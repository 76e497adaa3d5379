// The table and the JSON of tsbench engine.
#pragma once

#include <iosfwd>
#include <string>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/tsbench/measure.hpp"

namespace ts::bench {

void print_header(std::ostream& out);
void print_row(std::ostream& out, const Measured& m);
[[nodiscard]] std::string utc_now();
/// What this program was built from.
[[nodiscard]] std::string_view commit();
/// Operation, type and sizes.
[[nodiscard]] app::JsonObject json_of(const Problem& p);
[[nodiscard]] app::JsonObject json_of(const Measured& m);
/// The machine, the date, the commit and the compilers: what a figure means nothing without.
[[nodiscard]] app::JsonObject json_of_run(const Effort& effort, std::int64_t bytes, const Roofs& best);

}  // namespace ts::bench
