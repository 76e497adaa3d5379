// Choices among kernels that were measured on a device (tsbench tune), where they beat the planner's model.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tallskinny/gemm/plan/gpu_problem.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0::cuda {

/// A kernel that was measured to be faster than what the model would take.
struct TunedChoice {
  Defines defines;  ///< that the chosen candidate has, and no other
  double gain = 1;  ///< time of the model's choice over this one's, as measured
  friend bool operator==(const TunedChoice&, const TunedChoice&) = default;
};

/// What a choice is kept under: operation, type, widths and how the operands lie. Empty for what is not
/// tuned: problems too short for their kernel to matter beside its start, and the level gpu_to_gpu, whose
/// bits must not depend on the device.
[[nodiscard]] std::string tuned_key(const GpuProblem& problem);
/// Whether it has one.
[[nodiscard]] bool is_tuned(const GpuProblem& problem);

/// Choices by key. As text, a line each: the key, `gain` and the defines; lines that start with # are
/// remarks. A key may name many: "gram float64 65..2048 65..2048 *" has ranges of widths, and operands that lie in any
/// way. Keys without ranges go first, then ranges in the order of their text.
class TunedTable {
 public:
  TunedTable() = default;
  /// @throws Error(bad_input) naming the line.
  explicit TunedTable(std::string_view text);
  [[nodiscard]] std::string text() const;

  void set(const std::string& key, TunedChoice choice) {
    (key.find_first_of(".*") == std::string::npos ? choices_ : ranges_)[key] = std::move(choice);
  }
  /// nullptr where the model decides.
  [[nodiscard]] const TunedChoice* find(const GpuProblem& problem) const;
  [[nodiscard]] std::size_t size() const noexcept { return choices_.size() + ranges_.size(); }
  /// Takes over all of another table's choices.
  void merge(const TunedTable& other);

 private:
  std::map<std::string, TunedChoice, std::less<>> choices_, ranges_;
};

/// Whether a kernel has all defines of a choice.
[[nodiscard]] bool has_defines(const KernelPlan& kernel, const Defines& defines);

/// The table that ships with the library for devices whose name has what a file of plan/tuned begins with: "#
/// H100,". Empty for other devices.
[[nodiscard]] TunedTable shipped_table(const std::string& device_name);
/// A well-known device of an architecture (runtime/gpu/architectures.hpp) with its shipped table, to plan and compile
/// for without having one. @throws Error(invalid_argument) that lists the names there are.
[[nodiscard]] DeviceInfo typical_device(const std::string& arch);
/// The user's own table of a device, in the cache folder; a table that cannot be kept or read is none.
[[nodiscard]] TunedTable users_table(const std::string& device_name);
void keep_users_table(const std::string& device_name, const TunedTable& table);

}  // namespace ts::inline v0::cuda
