#include "tallskinny/solvers/setup/where.hpp"

#include <algorithm>

namespace ts::inline v0::solvers {

namespace {

/// Block steps of a search for eigenvalues, and passes of k-means, where nothing better is known.
constexpr double typical_steps = 60;
constexpr index_t typical_passes = 30;
/// Passes over half a basis in a block step: read to project and to subtract, twice each.
constexpr double passes_of_a_step = 4;

/// The driver's start and the loading of kernels; a bus of 16 lanes.
constexpr double start_seconds = 0.5, sent_per_second = 1e10;

/// Cost of comparing and keeping a score, beside its products, in columns: on a Xeon groups of 8 centroids take
/// 7.2 ns a row of 16 columns, 12.0 of 64 and 18.2 of 128.
constexpr double columns_of_choosing = 60;

}  // namespace

ProcessorInfo with_threads(const ProcessorInfo& whole, int threads) noexcept {
  ProcessorInfo part = whole;
  const double share = std::min(1.0, static_cast<double>(threads) / whole.threads);
  part.threads = std::min(threads, whole.threads);
  part.read_bytes_per_second *= share, part.copy_bytes_per_second *= share, part.cache_bytes_per_second *= share;
  part.float64_flops *= share, part.float32_flops *= share;
  return part;
}

double seconds_on(const ProcessorInfo& processor, const RunWork& work) noexcept {
  return std::max(work.bytes / processor.read_bytes_per_second,
                  work.flops / (work.narrow ? processor.float32_flops : processor.float64_flops));
}

double seconds_on(const cuda::DeviceInfo& device, const RunWork& work) noexcept {
  const double there = std::max(work.bytes / device.read_bytes_per_second,
                                work.flops / (work.narrow ? device.float32_flops : device.float64_flops));
  return start_seconds + work.sent / sent_per_second + there;
}

bool pays_libraries(const cuda::DeviceInfo& device, const RunWork& work) noexcept {
  constexpr double of_a_run = 3;  // seconds, of which a library may take a tenth to load and gain about that
  return seconds_on(device, work) > of_a_run;
}

RunWork work_of_search(const EigenPlan& plan, index_t rows, std::size_t element_bytes,
                       std::uint64_t matrix_bytes) noexcept {
  const double matrix = static_cast<double>(matrix_bytes),
               line = static_cast<double>(rows) * static_cast<double>(element_bytes);
  const double half_a_basis = 0.5 * static_cast<double>(plan.max_basis) * line;
  const double block = static_cast<double>(plan.block_size);
  RunWork work;
  work.bytes = typical_steps * (matrix + passes_of_a_step * half_a_basis);
  work.flops = typical_steps * block * (2 * matrix + 4 * half_a_basis) / static_cast<double>(element_bytes);
  work.sent = work.resident = matrix;
  return work;
}

RunWork work_of_decomposition(DenseTask task, index_t rows, index_t cols, std::size_t element_bytes) noexcept {
  const auto longer = static_cast<double>(std::max(rows, cols)), shorter = static_cast<double>(std::min(rows, cols));
  if (std::min(rows, cols) < whole_on_device) return {};
  // Golub and Van Loan, Matrix Computations, 4th edition, sections 7.5, 8.3 and 8.6: multiply-adds count 2.
  const double square = longer * shorter, cube = square * shorter, of_complex = element_bytes == 16 ? 4 : 1;
  RunWork work;
  work.flops = of_complex * (task == DenseTask::hermitian ? 9 * cube
                             : task == DenseTask::general ? 25 * cube
                                                          : 6 * cube + 20 * shorter * shorter * shorter);
  work.bytes = static_cast<double>(element_bytes) * cube * (task == DenseTask::hermitian ? 1.0 / 3 : 2.0 / 3);
  work.sent = static_cast<double>(element_bytes) * square;
  work.resident = 4 * work.sent;
  return work;
}

RunWork work_of_kmeans(index_t n, index_t d, index_t k, std::size_t element_bytes, index_t most_passes) noexcept {
  const double passes = static_cast<double>(std::min(typical_passes, most_passes));
  const double elements = static_cast<double>(n) * static_cast<double>(d);
  RunWork work;
  work.sent = elements * static_cast<double>(element_bytes);  // what does not fit passes through in blocks
  work.bytes = passes * work.sent;
  work.flops =
      passes * 2 * static_cast<double>(n) * (static_cast<double>(d) + columns_of_choosing) * static_cast<double>(k);
  work.narrow = element_bytes < 8;
  return work;
}

}  // namespace ts::inline v0::solvers
