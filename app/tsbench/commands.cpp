#include "tallskinny/app/tsbench/commands.hpp"

#include <algorithm>
#include <optional>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::bench {

namespace {

template <class E, class All>
E named(const char* what, const std::string& name, std::optional<E> found, const All& all) {
  if (found) return *found;
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

template <class E, class All>
std::vector<E> list_of(const std::string& list, E (*parse)(const std::string&), const All& all) {
  std::vector<E> chosen;
  for (const std::string& name : split_list(list)) chosen.push_back(parse(name));
  if (chosen.empty()) chosen.assign(std::begin(all), std::end(all));
  return chosen;
}

}  // namespace

Operation parse_operation(const std::string& name) {
  return named("operation", name, operation_named(name), every_operation);
}
DType parse_dtype(const std::string& name) { return named("element type", name, dtype_named(name), every_dtype); }
std::vector<Operation> parse_operations(const std::string& list) {
  return list_of(list, parse_operation, every_operation);
}
std::vector<DType> parse_dtypes(const std::string& list) { return list_of(list, parse_dtype, every_dtype); }

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
  constexpr std::pair<std::string_view, double> units[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}};
  const auto* const unit =
      std::find_if(std::begin(units), std::end(units), [&](const auto& u) { return text.ends_with(u.first); });
  double value = 0;
  if (!app::parse_value(text.substr(0, text.size() - unit->first.size()), value)) return false;
  value *= unit->second;
  if (!(value >= 1 << 20 && value <= 1e12)) return false;
  out = static_cast<std::int64_t>(value);
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
