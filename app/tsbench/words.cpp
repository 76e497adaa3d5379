#include "tallskinny/app/tsbench/words.hpp"

#include "tallskinny/app/common/options.hpp"

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
                                          (nearest.empty() ? "" : " (did you mean " + nearest + "?)") +
                                          ": there are " + listed);
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

std::vector<std::pair<std::string, Simd>> simd_words() {
  std::vector<std::pair<std::string, Simd>> words;
  for (const Simd level : {Simd::best, Simd::sse2, Simd::avx2, Simd::avx512})
    words.emplace_back(std::string(name_of(level)), level);
  return words;
}

}  // namespace ts::bench
