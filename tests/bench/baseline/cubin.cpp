#include "tallskinny/tests/bench/baseline/cubin.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/bench/baseline/results.hpp"

namespace ts::baseline {

namespace {

/// The number of type T at this place.
template <class T>
std::uint64_t number_at(std::string_view file, std::uint64_t at) {
  T x{};
  if (at > file.size() || file.size() - at < sizeof x)
    throw Error(Errc::bad_input, "a compiled kernel ends before its last section");
  std::memcpy(&x, file.data() + at, sizeof x);
  return x;
}

/// The header of a section, as far as it is needed.
struct Section {
  std::uint64_t name, offset, size;
  Section(std::string_view file, std::uint64_t at)
      : name(number_at<std::uint32_t>(file, at)),
        offset(number_at<std::uint64_t>(file, at + 24)),
        size(number_at<std::uint64_t>(file, at + 32)) {}
};

}  // namespace

MachineCode machine_code(const std::string& cubin) {
  if (cubin.size() < 64 || cubin.compare(0, 5, "\177ELF\2") != 0)
    throw Error(Errc::bad_input, "a compiled kernel is no ELF file of 64 bits");
  const std::uint64_t headers = number_at<std::uint64_t>(cubin, 40), header_bytes = number_at<std::uint16_t>(cubin, 58),
                      count = number_at<std::uint16_t>(cubin, 60), of_names = number_at<std::uint16_t>(cubin, 62);
  const Section names(cubin, headers + of_names * header_bytes);
  MachineCode code;
  std::vector<std::string> digests;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Section s(cubin, headers + i * header_bytes);
    if (cubin.compare(names.offset + s.name, 5, ".text") != 0) continue;
    Hash hash;
    hash.text(std::string_view(cubin).substr(s.offset, s.size));
    digests.push_back(hash.digits());
    code.instructions += s.size / 16;
  }
  // Functions are in the order of their names, which do not count.
  std::sort(digests.begin(), digests.end());
  if (digests.empty()) throw Error(Errc::bad_input, "a compiled kernel has no machine code");
  code.digest = digests.front();
  if (digests.size() > 1) {
    Hash all;
    for (const std::string& digest : digests) all.text(digest);
    code.digest = all.digits();
  }
  return code;
}

}  // namespace ts::baseline
