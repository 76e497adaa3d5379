#include "tallskinny/gemm/runtime/gpu/architectures.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0::cuda {

namespace {

/// Multiply-adds of one multiprocessor in one clock, as mma.sync reaches them: from 9.0 on, tensor units are faster
/// still with instructions of warpgroups.
struct ChipRates {
  double float64, float64_tensor, float32, tf32, half;
};

/// A device to plan and compile for where there is none.
struct TypicalDevice {
  const char* name = nullptr;  ///< none
  int multiprocessors = 0, shared_kib = 0;
  std::int64_t l2_mib = 0;
  std::uint64_t memory_gib = 0;
  double clock = 0, bus_bytes_per_second = 0;
};

struct Architecture {
  int capability;  ///< from this one on
  ChipRates rates;
  DeviceFeatures features = {};
  TypicalDevice typical = {};
  const char* suffix = "";  ///< of the name for compilers
};

constexpr Architecture table[] = {
    // Graphics chips with little float64, half of whose boards add to float32 at half of the rate.
    {120,
     {2, 2, 128, 128, 256},
     {.bulk_copies = true, .early_starts = true, .long_float64 = true, .more_registers = 4},
     {"GeForce RTX 5090 (assumed)", 170, 100, 96, 32, 2.41e9, 1.79e12}},
    {100,
     {64, 64, 128, 640, 1280},
     {.bulk_copies = true, .early_starts = true, .long_float64 = true, .more_registers = 4},
     {"B200 (assumed)", 148, 228, 126, 180, 1.96e9, 7.7e12}},
    {90,
     {64, 128, 128, 610, 1220},
     {.bulk_copies = true, .early_starts = true, .long_float64 = true, .warpgroups = true, .spare_registers = true},
     {"H100 SXM 80 GB (assumed)", 132, 228, 50, 80, 1.98e9, 3.35e12},
     "a"},
    {89, {2, 2, 128, 128, 256}, {}, {"GeForce RTX 4090 (assumed)", 128, 100, 72, 24, 2.52e9, 1.01e12}},
    {86, {2, 2, 128, 128, 256}, {}, {"GeForce RTX 3090 (assumed)", 82, 100, 6, 24, 1.70e9, 0.94e12}},
    {80, {32, 64, 64, 512, 1024}, {}, {"A100 SXM 80 GB (assumed)", 108, 164, 40, 80, 1.41e9, 2.04e12}},
    {0, {2, 2, 64, 64, 512}}};

constexpr std::pair<const char*, double DeviceInfo::*> rates[] = {
    {"read", &DeviceInfo::read_bytes_per_second},    {"copy", &DeviceInfo::copy_bytes_per_second},
    {"float64", &DeviceInfo::float64_flops},         {"float64-tensor", &DeviceInfo::float64_tensor_flops},
    {"float32", &DeviceInfo::float32_flops},         {"tf32-tensor", &DeviceInfo::tf32_tensor_flops},
    {"half-tensor", &DeviceInfo::half_tensor_flops}, {"launch", &DeviceInfo::launch_seconds}};

constexpr int usual = 90;

constexpr double read_share = 0.94, copy_share = 0.90;  // of the bus, as streaming kernels reach them

const Architecture& architecture_of(int capability) {
  return *std::find_if(std::begin(table), std::end(table),
                       [capability](const Architecture& a) { return capability >= a.capability; });
}

std::string name_of(const Architecture& a, int capability) { return "sm_" + std::to_string(capability) + a.suffix; }

}  // namespace

void assume_rates(DeviceInfo& d, double clock, double bus_bytes_per_second) {
  const ChipRates& a = architecture_of(d.capability()).rates;
  const double per_clock = 2 * clock * d.multiprocessors;
  d.clock = clock;
  d.read_bytes_per_second = read_share * bus_bytes_per_second;
  d.copy_bytes_per_second = copy_share * bus_bytes_per_second;
  d.float64_flops = per_clock * a.float64;
  d.float64_tensor_flops = per_clock * a.float64_tensor;
  d.float32_flops = per_clock * a.float32;
  d.tf32_tensor_flops = per_clock * a.tf32;
  d.half_tensor_flops = per_clock * a.half;
}

std::string text_of_rates(const DeviceInfo& d) {
  std::ostringstream text;
  for (const auto& [name, rate] : rates) text << name << ' ' << d.*rate << '\n';
  return text.str();
}

void take_rates(DeviceInfo& d, const std::string& text) {
  constexpr double steps = 12, near = 0.125;
  std::istringstream lines(text);
  std::string word;
  double measured = 0;
  while (lines >> word >> measured)
    for (const auto& [name, rate] : rates)
      if (word == name && measured > 0 && std::fabs(measured / (d.*rate) - 1) > near)
        d.*rate = std::exp2(std::round(steps * std::log2(measured)) / steps);
}

const DeviceFeatures& DeviceInfo::features() const noexcept { return architecture_of(capability()).features; }

std::string DeviceInfo::arch() const {
  return machine.empty() ? name_of(architecture_of(capability()), capability()) : machine;
}

void plan_as(DeviceInfo& d, std::string_view capability) {
  int major = 0, minor = 0;
  const char* const end = capability.data() + capability.size();
  const auto [dot, failed] = std::from_chars(capability.data(), end, major);
  const bool read = failed == std::errc() && dot != end && *dot == '.' &&
                    std::from_chars(dot + 1, end, minor).ptr == end && major >= 8 && minor >= 0 && minor <= 9;
  if (!read)
    throw Error(Errc::invalid_argument, "TALLSKINNY_GPU is '" + std::string(capability) +
                                            "': set it to a compute capability from 8.0 on, or unset it");
  d.machine = d.arch(), d.compute_major = major, d.compute_minor = minor, d.tuned = nullptr;
  const int kib = architecture_of(d.capability()).typical.shared_kib;
  d.shared_bytes_per_block = std::min(d.shared_bytes_per_block, (kib - 1) << 10);
  d.shared_bytes_per_multiprocessor = std::min(d.shared_bytes_per_multiprocessor, kib << 10);
}

DeviceInfo assumed_device(std::string_view arch) {
  for (const Architecture& a : table) {
    const TypicalDevice& t = a.typical;
    if (t.name == nullptr || name_of(a, a.capability) != arch) continue;
    DeviceInfo d;
    d.name = t.name;
    d.compute_major = a.capability / 10, d.compute_minor = a.capability % 10;
    d.multiprocessors = t.multiprocessors;
    d.shared_bytes_per_block = (t.shared_kib - 1) << 10;
    d.shared_bytes_per_multiprocessor = t.shared_kib << 10;
    d.l2_bytes = t.l2_mib << 20;
    d.memory_bytes = t.memory_gib << 30;
    assume_rates(d, t.clock, t.bus_bytes_per_second);
    return d;
  }
  throw Error(Errc::invalid_argument, "no typical device of architecture '" + std::string(arch) +
                                          "' is known: there are " + architecture_names(" and "));
}

std::string architecture_names(std::string_view last, std::string_view between) {
  std::vector<std::string> names;
  for (const Architecture& a : table)
    if (a.typical.name != nullptr) names.insert(names.begin(), name_of(a, a.capability));
  std::string all;
  for (const std::string& name : names)
    all.append(&name == &names.front() ? "" : &name == &names.back() ? last : between).append(name);
  return all;
}

std::string usual_architecture() { return name_of(architecture_of(usual), usual); }

}  // namespace ts::inline v0::cuda
