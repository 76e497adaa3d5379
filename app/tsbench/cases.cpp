#include "tallskinny/app/tsbench/cases.hpp"

#include <algorithm>
#include <cctype>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::bench {

bool parse_bytes(std::string_view text, std::int64_t& out) {
  const auto unit_begin =
      std::find_if(text.begin(), text.end(), [](char c) { return std::isalpha(c) && c != 'e'; });
  const std::string_view number = text.substr(0, static_cast<std::size_t>(unit_begin - text.begin()));
  const std::string_view unit = text.substr(number.size());
  double factor = 1;
  const std::pair<std::string_view, double> units[] = {
      {"", 1},     {"B", 1},       {"kB", 1e3},       {"MB", 1e6},
      {"GB", 1e9}, {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}};
  const auto* known =
      std::find_if(std::begin(units), std::end(units), [&](const auto& u) { return u.first == unit; });
  double value = 0;
  if (known == std::end(units) || !app::parse_value(number, value)) return false;
  factor = known->second;
  if (!(value * factor >= 1 << 20 && value * factor <= 1e12)) return false;
  out = static_cast<std::int64_t>(value * factor);
  return true;
}

std::vector<Shape> parse_widths(const std::string& list) {
  std::vector<Shape> shapes;
  for (const std::string& part : split_list(list)) {
    const std::size_t dash = part.find('-'), x = part.find('x');
    const auto number = [](const std::string& text, index_t& out) {
      return app::parse_value(text, out) && out >= 1 && out <= 4096;
    };
    Shape s{};
    bool good = number(part.substr(0, std::min(dash, x)), s.p);
    if (dash != std::string::npos) {
      index_t last = 0;
      good = good && number(part.substr(dash + 1), last) && last >= s.p;
      for (index_t w = s.p; good && w <= last; ++w) shapes.push_back({w, w});
    } else {
      s.q = s.p;
      good = good && (x == std::string::npos || number(part.substr(x + 1), s.q));
      shapes.push_back(s);
    }
    if (!good)
      throw Error(Errc::invalid_argument,
                  "--widths: '" + part + "' is no width (8), range (1-8) or pair (16x4) from 1 to 4096");
  }
  return shapes;
}

bool exists(Operation op, DType type, Shape s) {
  const bool half = type == DType::float16 || type == DType::bfloat16;
  switch (op) {
    case Operation::tsmm_in_place:
      return !half && s.q <= s.p;
    case Operation::inner_and_gram:
    case Operation::project_out:
      return !half;
    case Operation::trsm:
      return !half && s.p == s.q;
    case Operation::gram:
    case Operation::column_norms:
    case Operation::tsm2r:
    case Operation::spmm:
      return s.p == s.q;  // one width only
    default:
      return true;
  }
}

}  // namespace ts::bench
