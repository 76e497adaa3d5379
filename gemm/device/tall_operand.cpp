#include "tallskinny/gemm/device/tall_operand.hpp"

#include <algorithm>
#include <numeric>

namespace ts::inline v0::cuda {
namespace {

/// The largest power of two up to 16 that divides all of them.
int common_unit(index_t a, index_t b, index_t c) {
  return static_cast<int>(std::gcd(std::gcd(index_t{16}, a), std::gcd(b, c)));
}

}  // namespace

TallOperand tall_operand_of(const Form& form, DType type, index_t rows, index_t columns) noexcept {
  const bool row_major = form.layout == Layout::row_major;
  const index_t line = row_major ? columns : rows, lines = 256 / static_cast<index_t>(size_of(type));
  const bool far_apart = !form.contiguous && form.gap == 0;
  const index_t ld = far_apart ? (2 * line / lines + 1) * lines : line + form.gap;
  const auto address = static_cast<unsigned>(form.alignment % 256);
  return row_major ? TallOperand{ld, 1, address} : TallOperand{1, ld, address};
}

BlockLimits limits_of(const DeviceInfo& device, Determinism level) noexcept {
  if (level == Determinism::gpu_to_gpu) return {132, 163 * 1024, true, false};
  // Seen on an H200, which brings 35e9 bytes a second and multiprocessor; not on an H100, which brings 24e9.
  constexpr double much = 30e9;
  constexpr double copied = 11.54, float64 = 256, tf32 = 1220, half = 2440;  // by an H100, as fitted and as counted
  const double cycles = device.multiprocessors * device.clock;
  return {device.multiprocessors,
          device.shared_bytes_per_block,
          device.features().bulk_copies,
          device.features().warpgroups,
          1,
          device.read_bytes_per_second > much * device.multiprocessors,
          device.copy_bytes_per_second / cycles / copied,
          float64 * cycles / std::max(device.float64_flops, device.float64_tensor_flops),
          tf32 * cycles / device.tf32_tensor_flops,
          half * cycles / device.half_tensor_flops};
}

BlockLimits part_limits_of(const DeviceInfo& device, const GpuProblem& problem, index_t panels) noexcept {
  BlockLimits limits = limits_of(device, problem.determinism);
  if (problem.parts == 0 || problem.determinism == Determinism::run_to_run) return limits;
  // 24 parts of 11 blocks are two for each of 132 multiprocessors. More where a block would have more than 16
  // MB: they take some microseconds each to start and to end, and several ranks need work for all their
  // multiprocessors.
  const Problem& pr = problem.problem;
  const double bytes =
      static_cast<double>(pr.n) * static_cast<double>((pr.p + pr.q) * static_cast<index_t>(size_of(pr.type)));
  index_t blocks = 11 * panels;
  for (int i = 0; i < 4 && bytes > 16e6 * static_cast<double>(blocks); ++i) blocks *= 2;
  limits.multiprocessors = static_cast<int>(blocks);
  limits.residents = 2;
  return limits;
}

TallLayout layout_of(DType type, index_t columns, const TallOperand& operand) noexcept {
  TallLayout s;
  s.scalar = scalar_bytes(type), s.parts = parts_of(type);
  s.width = s.pitch = static_cast<int>(columns) * s.parts;
  s.address = operand.address;
  const index_t bytes = s.width * s.scalar, element = s.scalar * s.parts;
  const bool run = columns == 1 && operand.row_stride == 1;  // a contiguous vector
  if ((operand.column_stride == 1 && operand.row_stride >= columns) || run) {
    const index_t ld = run ? 1 : operand.row_stride, gap = (ld - columns) * element;
    if (gap < 32 || gap <= bytes / 8) {  // reading the gap costs little
      s.mode = TallMode::flat, s.pitch = static_cast<int>(ld) * s.parts, s.shift = operand.address % 128 != 0;
      s.unit = common_unit(operand.address, 16, 16);
    } else {
      s.mode = TallMode::by_rows, s.unit = common_unit(operand.address, ld * element, bytes);
    }
  } else {
    s.mode = TallMode::by_columns, s.unit = common_unit(operand.address, operand.column_stride * element, 16);
  }
  return s;
}

int register_cap(int warps) noexcept { return std::min(255, 16384 / 32 / ((warps + 3) / 4) / 8 * 8); }

int registers_left(int warps, int givers, int kept) noexcept {
  const int all = (warps + givers) * (2048 / (warps + givers) / 8 * 8);
  return std::min(240, (all - givers * kept) / warps / 8 * 8);
}

}  // namespace ts::inline v0::cuda
