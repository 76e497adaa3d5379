#include "tallskinny/app/tsbench/words.hpp"

#include <algorithm>
#include <cctype>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::bench {

namespace {

template <class Found, class All>
auto named(const char* what, const std::string& name, Found&& found, const All& all) {
  if (const auto value = found(name)) return *value;
  std::string listed;
  std::vector<std::string> names;
  for (const auto& each : all) {
    names.emplace_back(name_of(each));
    listed += (listed.empty() ? "" : ", ") + names.back();
  }
  const std::string nearest = app::nearest_name(name, names);
  throw Error(Errc::invalid_argument, "no " + std::string(what) + " is called '" + name + "'" +
                                          (nearest.empty() ? "" : " (did you mean " + nearest + "?)") + ": there are " +
                                          listed);
}

}  // namespace

Operation parse_operation(const std::string& name) {
  return named(
      "operation", name, [](const std::string& n) { return operation_named(n); }, every_operation);
}

DType parse_dtype(const std::string& name) {
  return named(
      "element type", name, [](const std::string& n) { return dtype_named(n); }, every_dtype);
}

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool parse_bytes(std::string_view text, std::int64_t& out) {
  const auto unit_begin = std::find_if(text.begin(), text.end(), [](char c) { return std::isalpha(c) && c != 'e'; });
  const std::string_view number = text.substr(0, static_cast<std::size_t>(unit_begin - text.begin()));
  const std::string_view unit = text.substr(number.size());
  double factor = 1;
  const std::pair<std::string_view, double> units[] = {
      {"", 1},     {"B", 1},       {"kB", 1e3},       {"MB", 1e6},
      {"GB", 1e9}, {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}};
  const auto* known = std::find_if(std::begin(units), std::end(units), [&](const auto& u) { return u.first == unit; });
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

std::vector<std::pair<std::string, Simd>> simd_words() {
  std::vector<std::pair<std::string, Simd>> words;
  for (const Simd level : {Simd::best, Simd::sse2, Simd::avx2, Simd::avx512})
    words.emplace_back(std::string(name_of(level)), level);
  return words;
}

}  // namespace ts::bench
