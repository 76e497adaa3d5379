// Which cases a benchmark measures, as its options name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/app/tsbench/words.hpp"

namespace ts::bench {

struct Shape {
  index_t p, q;
};

/// "256MiB", "1GB", "1e8".
[[nodiscard]] bool parse_bytes(std::string_view text, std::int64_t& out);

/// "8" for both widths, "1-8" for each of these, "16x4" for p x q, comma-separated. @throws
/// Error(invalid_argument).
[[nodiscard]] std::vector<Shape> parse_widths(const std::string& list);

/// The values of comma-separated names; all there are for an empty list.
template <class T, class Parse>
std::vector<T> parse_names(const std::string& list, Parse&& parse, const auto& all) {
  std::vector<T> chosen;
  for (const std::string& name : split_list(list)) chosen.push_back(parse(name));
  if (chosen.empty()) chosen.assign(std::begin(all), std::end(all));
  return chosen;
}

/// Whether there is such an operation for such a type and shape.
[[nodiscard]] bool exists(Operation op, DType type, Shape s);

}  // namespace ts::bench
