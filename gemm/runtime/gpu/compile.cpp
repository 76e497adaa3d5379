#include "tallskinny/gemm/runtime/gpu/compile.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/runtime/gpu/disk_cache.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_pack.hpp"
#include "tallskinny/gemm/runtime/gpu/nvrtc.hpp"
#include "tallskinny/gemm/runtime/gpu/sha256.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::inline v0::cuda {

namespace {

const Nvrtc& nvrtc() {
  const Nvrtc& n = find_nvrtc();
  if (!n.missing.empty()) throw Error(Errc::no_device, "no kernel can be compiled: " + n.missing);
  return n;
}

void expect_known_arch(const std::string& arch) {
  const Nvrtc& n = nvrtc();
  int count = 0;
  std::vector<int> known;
  if (n.arch_count(&count) != NVRTC_SUCCESS) return;
  known.resize(static_cast<std::size_t>(count));
  if (n.archs(known.data()) != NVRTC_SUCCESS) return;
  for (const int a : known)
    if (arch == "sm_" + std::to_string(a) || arch == "sm_" + std::to_string(a) + "a") return;
  throw Error(Errc::no_device, "CUDA's run-time compiler " + compiler_version() + " does not know the architecture " +
                                   arch + ": install the one of a CUDA release that does");
}

/// The number before `unit` in the first line that has `unit` in it; 0 if there is none.
int number_before(std::string_view log, std::string_view unit) {
  const std::size_t end = log.find(unit);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') --begin;
  int number = 0;
  std::from_chars(log.data() + begin, log.data() + end, number);
  return number;
}

/// What the assembler says under --ptxas-options=-v.
Attributes read_log(std::string_view log) {
  return {number_before(log, " registers"), number_before(log, " bytes smem"), number_before(log, " bytes stack frame"),
          number_before(log, " bytes spill stores"), number_before(log, " bytes spill loads")};
}

struct Result {
  std::string log, cubin;
};

class Program {
 public:
  explicit Program(const CompileJob& job) {
    const std::string main = program_of(job), name = job.family + ".cu";
    std::vector<const char*> texts, names;
    for (const SourceFiles files : {SourceFiles{sources}, job.beside})
      if (files != nullptr)
        for (const Source& s : files()) texts.push_back(s.text.data()), names.push_back(s.name.data());
    expect(nvrtc().create(&program_, main.c_str(), name.c_str(), static_cast<int>(texts.size()), texts.data(),
                          names.data()));
  }
  ~Program() { nvrtc().destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] Result compile(const CompileJob& job) const {
    const std::vector<std::string> options = options_of(job);
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const std::string& o : options) pointers.push_back(o.c_str());
    const nvrtcResult code = nvrtc().compile(program_, static_cast<int>(pointers.size()), pointers.data());
    Result result;
    std::size_t size = 0;
    expect(nvrtc().log_size(program_, &size));
    result.log.resize(size);
    expect(nvrtc().log(program_, result.log.data()));
    if (code != NVRTC_SUCCESS)
      throw Error(Errc::device_failure, "the kernel " + job.family + " could not be compiled for " + job.arch + ": " +
                                            nvrtc().error_text(code) + "\n" + result.log);
    expect(nvrtc().cubin_size(program_, &size));
    result.cubin.resize(size);
    expect(nvrtc().cubin(program_, result.cubin.data()));
    return result;
  }

 private:
  static void expect(nvrtcResult code) {
    if (code != NVRTC_SUCCESS)
      throw Error(Errc::device_failure, std::string("CUDA's run-time compiler failed: ") + nvrtc().error_text(code));
  }
  nvrtcProgram program_ = nullptr;
};

std::string hash_of(std::span<const Source> files) {
  std::string text;
  for (const Source& s : files) {
    text.append(s.name).append("\n");
    text.append(s.digest.empty() ? sha256(s.text) : s.digest).append("\n");
  }
  return sha256(text);
}

/// Everything that the machine code depends on, but for the compiler.
std::string key_of(const CompileJob& job) {
  static const std::string all_sources = hash_of(sources());
  std::string key = all_sources + "\n" + program_of(job);
  if (job.beside != nullptr) key += "\n" + hash_of(job.beside());
  for (const std::string& option : options_of(job)) key += "\n" + option;
  return key;
}

const DiskCache& disk_cache() {
  static const DiskCache cache(default_cache_folder());
  return cache;
}
const KernelPack& kernel_pack() {
  static const KernelPack pack(default_pack_file());
  return pack;
}

/// An entry of the cache or the pack: the length of the log, the log, the machine code.
std::string pack(const Result& r) { return std::to_string(r.log.size()) + "\n" + r.log + r.cubin; }
bool unpack(const std::string& entry, Result& r) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), length);
  const auto begin = static_cast<std::size_t>(end - entry.data()) + 1;
  if (error != std::errc() || begin + length > entry.size()) return false;
  r.log = entry.substr(begin, length), r.cubin = entry.substr(begin + length);
  return true;
}

}  // namespace

std::string why_no_compiler() { return find_nvrtc().missing; }

std::string compiler_version() { return std::to_string(nvrtc().major) + "." + std::to_string(nvrtc().minor); }

std::vector<std::string> options_of(const CompileJob& job) {
  std::vector<std::string> options = {"--gpu-architecture=" + job.arch, "--std=c++20", "--no-source-include",
                                      "--device-as-default-execution-space", "--ptxas-options=-v"};
  if (const char* more = std::getenv("TALLSKINNY_NVRTC_OPTIONS"); more != nullptr) {
    std::istringstream words(more);
    for (std::string word; words >> word;) options.push_back(word);
  }
  return options;
}

namespace {

Compiled compiled_of(Result result, KernelOrigin origin) {
  Compiled compiled;
  compiled.attributes = read_log(result.log), compiled.origin = origin;
  compiled.log = std::move(result.log), compiled.cubin = std::move(result.cubin);
  return compiled;
}

Compiled compile_anew(const CompileJob& job, const std::string& cache_key) {
  expect_known_arch(job.arch);
  const Result result = Program(job).compile(job);
  disk_cache().store(cache_key, pack(result));
  return compiled_of(result, KernelOrigin::compiler);
}

}  // namespace

std::optional<Compiled> find_in(const KernelPack& packed, const CompileJob& job) {
  Result result;
  const auto entry = packed.find(key_of(job));
  if (!entry || !unpack(*entry, result)) return std::nullopt;
  return compiled_of(std::move(result), KernelOrigin::pack);
}

Compiled compile(const CompileJob& job) {
  const Stopwatch watch;
  // The pack comes first, whatever compiler there is: the same kernels in every run, and no compiler is loaded.
  std::optional<Compiled> compiled = find_in(kernel_pack(), job);
  if (!compiled) {
    const std::string key = key_of(job) + "\ncompiler " + compiler_version();
    Result result;
    if (const auto entry = disk_cache().find(key); entry && unpack(*entry, result))
      compiled = compiled_of(std::move(result), KernelOrigin::cache);
    else
      compiled = compile_anew(job, key);
  }
  compiled->seconds = watch.seconds();
  return std::move(*compiled);
}

void write_kernel_pack(const std::filesystem::path& file, std::span<const CompileJob> jobs, int threads) {
  const std::vector<Compiled> compiled = compile_all(jobs, threads);
  std::map<std::string, std::string> contents;
  for (std::size_t i = 0; i < jobs.size(); ++i) contents[key_of(jobs[i])] = pack({compiled[i].log, compiled[i].cubin});
  write_pack(file, compiler_version(), contents);
}

std::vector<Compiled> compile_all(std::span<const CompileJob> jobs, int threads) {
  std::vector<Compiled> results(jobs.size());
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) try {
        results[i] = compile(jobs[i]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        return;
      }
  };
  const auto available = static_cast<std::size_t>(threads > 0 ? threads : default_threads());
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(available, jobs.size()); ++i) helpers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return results;
}

}  // namespace ts::inline v0::cuda
