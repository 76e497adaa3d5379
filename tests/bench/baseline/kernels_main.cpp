// Prints a line for each kernel of a fixed list: how it is started, and a digest of its machine code.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/tests/bench/baseline/kernels.hpp"

namespace {

using namespace ts;
using namespace ts::baseline;

struct MachineCode {
  std::size_t instructions = 0;  ///< of 16 bytes each
  std::string digest;            ///< of the code alone, whatever functions and files are called
};

std::string digest_of(std::string_view bytes) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016zx", std::hash<std::string_view>{}(bytes));
  return digits;
}

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

/// Machine code in all .text sections of an ELF file of 64 bits.
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
    digests.push_back(digest_of(std::string_view(cubin).substr(s.offset, s.size)));
    code.instructions += s.size / 16;
  }
  // Functions are in the order of their names, which do not count.
  std::sort(digests.begin(), digests.end());
  if (digests.empty()) throw Error(Errc::bad_input, "a compiled kernel has no machine code");
  for (const std::string& digest : digests) code.digest += digest;
  if (digests.size() > 1) code.digest = digest_of(code.digest);
  return code;
}

struct Line {
  std::string name;  ///< architecture, case, and number of the kernel within it
  cuda::KernelPlan plan;
  std::string arch;
};

using Key = std::tuple<std::string, std::string, cuda::Defines>;
Key key_of(const Line& line) { return {line.arch, std::string(line.plan.family), cuda::defines_of(line.plan)}; }

/// The kernels of all cases, or of those whose name or family has `only` in it; what an operation starts twice is
/// listed once.
std::vector<Line> lines_of(const std::string& arch, const std::string& only, int& failures) {
  KernelCases cases(arch);
  add_operations(cases);
  add_kmeans(cases);
  add_planned_cases(cases);
  std::vector<Line> lines;
  for (const KernelCase& c : cases.all()) {
    if (!c.failure.empty())
      ++failures, std::fprintf(stderr, "%s %s: %s\n", arch.c_str(), c.name.c_str(), c.failure.c_str());
    std::vector<cuda::KernelPlan> seen;
    for (const cuda::KernelPlan& plan : c.kernels) {
      if (std::find(seen.begin(), seen.end(), plan) != seen.end()) continue;
      seen.push_back(plan);
      if (c.name.find(only) != std::string::npos || plan.family.find(only) != std::string_view::npos)
        lines.push_back({arch + " " + c.name + " #" + std::to_string(seen.size()), plan, arch});
    }
  }
  return lines;
}

/// Each kernel once, however many lines have it.
std::map<Key, cuda::Compiled> compiled(const std::vector<Line>& lines, int threads) {
  std::map<Key, std::size_t> numbers;
  std::vector<cuda::CompileJob> jobs;
  for (const Line& line : lines)
    if (numbers.emplace(key_of(line), jobs.size()).second) jobs.push_back(cuda::job_of(line.plan, line.arch));
  std::fprintf(stderr, "%zu lines, %zu kernels to compile\n", lines.size(), jobs.size());
  std::vector<cuda::Compiled> results = cuda::compile_all(jobs, threads);
  std::map<Key, cuda::Compiled> all;
  for (const auto& [key, number] : numbers) all.emplace(key, std::move(results[number]));
  return all;
}

void print(const Line& line, const cuda::Compiled* code) {
  std::printf("%s: family=%s grid=%u block=%u shared=%zu", line.name.c_str(), std::string(line.plan.family).c_str(),
              line.plan.grid, line.plan.block, line.plan.shared_bytes);
  if (code != nullptr) {
    const MachineCode machine = machine_code(code->cubin);
    const cuda::Attributes& a = code->attributes;
    std::printf(" registers=%d spills=%d instructions=%zu code=%s", a.registers,
                a.spill_store_bytes + a.spill_load_bytes, machine.instructions, machine.digest.c_str());
  }
  std::printf("\n");
}

int usage() {
  std::fprintf(stderr,
               "Usage: baseline_kernels [--list] [--no-cache] [--only TEXT] [--threads N] [ARCHITECTURE...]\n"
               "  --list      do not compile\n"
               "  --no-cache  compile anew what the cache of kernels has\n"
               "  --only      kernels whose family, or whose case, has TEXT in its name\n"
               "Architectures: sm_80 sm_90a sm_100 (default: all)\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  bool list = false;
  int threads = 0, failures = 0;
  std::vector<std::string> archs;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--list")
      list = true;
    else if (word == "--no-cache")
      unsetenv("XDG_CACHE_HOME"), unsetenv("HOME");  // no folder is known then
    else if (word == "--threads" && i + 1 < argc)
      threads = std::atoi(argv[++i]);
    else if (word == "--only" && i + 1 < argc)
      only = argv[++i];
    else if (word.starts_with("sm_"))
      archs.push_back(word);
    else
      return usage();
  }
  if (archs.empty()) archs = {"sm_80", "sm_90a", "sm_100"};
  try {
    if (!list) std::printf("# NVRTC %s\n", cuda::compiler_version().c_str());
    for (const std::string& arch : archs) {
      const std::vector<Line> lines = lines_of(arch, only, failures);
      std::map<Key, cuda::Compiled> code;
      if (!list) code = compiled(lines, threads);
      for (const Line& line : lines) print(line, list ? nullptr : &code.at(key_of(line)));
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return failures > 0 ? 1 : 0;
}
