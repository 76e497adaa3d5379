#include "tallskinny/gemm/library/plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::inline v0::cuda {

namespace {

/// Shares of a device's rates that cuBLAS reaches, fitted to tests/bench/results/libraries-*.txt. It computes whole
/// tiles of scalars, and a result that is small both ways as if it were wider.
struct LibraryCostModel {
  double memory = 0.93, memory_of_rows = 0.98, memory_of_half = 0.9;  ///< sums over rows, X S, 16-bit numbers
  double arithmetic = 0.8, arithmetic_of_small = 0.7, arithmetic_of_half = 1.1;
  double arithmetic_of_rows = 0.85, terms = 50;  ///< X S: less of it where sums have few terms
  index_t tile = 64, narrow_tile = 32, least_side = 128, small = 128 * 128;
  index_t line = 32;  ///< bytes; rows that are no multiple take longer
  double off_line = 1.35, off_16 = 1.65, off_16_of_half = 2.5, columns_of_half = 1.7;
  double sums_of_slab = 0.05;    ///< bytes of a slab's sums, written and read, of its rows at most
  index_t longest_slab = 65536;  ///< rows that float32 adds up
};
constexpr LibraryCostModel library_cost;

/// Bytes that lines of both operands are a multiple of, as far as that counts.
index_t unit_of(const Problem& product) {
  const index_t parts = parts_of(product.type) * scalar_bytes(product.type);
  return std::gcd(std::gcd(product.p, product.q) * parts, library_cost.line);
}

/// A product that the library is asked for at once: bytes as for us, flops of whole tiles, float32 without TF32.
double seconds_of(const Problem& product, const DeviceInfo& device) {
  constexpr const LibraryCostModel& m = library_cost;
  const bool rows = product.operation == Operation::tsmm || product.operation == Operation::tsm2r;
  const int scalar = scalar_bytes(product.type);
  const index_t parts = parts_of(product.type), p = product.p * parts, q = product.q * parts;
  const auto in_tiles = [](index_t scalars, index_t tile) { return ceil_div(scalars, tile) * tile; };
  const index_t least = std::min(p, q), narrow = least <= m.tile && scalar != 4 ? m.narrow_tile : m.tile;
  index_t area = std::max(m.least_side, in_tiles(std::max(p, q), m.tile)) * in_tiles(least, narrow);
  double read = m.memory, share = scalar == 4 || area <= m.small ? m.arithmetic_of_small : m.arithmetic;
  if (rows) {
    const auto terms = static_cast<double>(product.p);
    area = p * in_tiles(q, product.q <= m.tile ? m.narrow_tile * parts : m.least_side);
    read = m.memory_of_rows, share = m.arithmetic_of_rows * terms / (terms + m.terms);
  }
  const index_t unit = unit_of(product);
  double slow_lines = unit == m.line ? 1 : unit == 16 ? m.off_line : m.off_16, rate = device.float32_flops;
  if (scalar == 8) rate = std::max(device.float64_flops, device.float64_tensor_flops);
  if (scalar == 2) rate = device.half_tensor_flops, read = m.memory_of_half, share = m.arithmetic_of_half;
  if (scalar == 2 && unit < 16) slow_lines = m.off_16_of_half;
  const double memory = least_times(product, device).memory_seconds / read * slow_lines,
               arithmetic = 2.0 * static_cast<double>(product.n) * static_cast<double>(area) / rate / share *
                            (scalar == 2 || (scalar == 8 && !rows) ? slow_lines : 1);
  return std::pow(std::pow(memory, 4) + std::pow(arithmetic, 4), 0.25);
}

/// Rows of slabs that all multiprocessors have as many of: float32 two each, 16-bit numbers one. Fewer where a slab's
/// sums would have many bytes beside its rows.
int slab_rows_of(const Problem& block, int multiprocessors) {
  const auto bytes = [](index_t numbers, DType type) {
    return static_cast<double>(numbers * static_cast<index_t>(size_of(type)));
  };
  const double sums = 2 * bytes(block.p * block.q, result_type_of(block.type));
  const double least = sums / bytes(block.p + block.q, block.type) / library_cost.sums_of_slab;
  index_t slabs = scalar_bytes(block.type) == 4 ? 2 * multiprocessors : multiprocessors;
  while (slabs > 1 && static_cast<double>(block.n) < least * static_cast<double>(slabs)) slabs /= 2;
  slabs *= ceil_div(ceil_div(block.n, slabs), library_cost.longest_slab);
  return static_cast<int>(ceil_div(ceil_div(block.n, slabs), 64) * 64);
}

Candidate candidate_of(const ProductPolicy& policy, const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool gram = pr.operation == Operation::gram;
  const index_t width = policy.panel > 0 ? policy.panel : pr.q;
  double seconds = gram ? 0 : seconds_of(pr, device);
  for (index_t i = 0; gram && i < pr.p; i += width)
    for (index_t j = i; j < pr.p; j += width) {
      Problem block = pr;
      if (i != j) block.operation = Operation::tsmttsm;
      block.p = std::min(width, pr.p - i), block.q = std::min(width, pr.p - j);
      seconds += seconds_of(block, device);
    }
  if (scalar_bytes(pr.type) == 2 && problem.first.layout == Layout::col_major) seconds *= library_cost.columns_of_half;
  Candidate candidate{plan_of("cublas", policy), seconds + (policy.slab_rows > 0 ? 3 : 1) * device.launch_seconds};
  candidate.kernel.grid = 0;  // no kernel of ours
  return candidate;
}

}  // namespace

std::vector<Candidate> cublas_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool of_rows = pr.operation == Operation::gram || pr.operation == Operation::tsmttsm;
  const bool by_rows = pr.operation == Operation::tsmm || pr.operation == Operation::tsm2r;
  if ((!of_rows && !by_rows) || problem.determinism == Determinism::gpu_to_gpu || problem.parts > 0) return {};
  std::vector<Candidate> all;
  const auto add = [&](const ProductPolicy& policy) { all.push_back(candidate_of(policy, problem, device)); };
  if (by_rows) {
    if (pr.operation == Operation::tsm2r || size_of(pr.type) > 2) add({});
    return all;
  }
  const bool whole = pr.type == DType::float64 || pr.type == DType::complex128;  // may be added up by the library
  for (const int panel : {0, 64, 128, 256, 512}) {
    if (panel > 0 && (pr.operation != Operation::gram || panel >= pr.p)) continue;
    // Small blocks are slow, and so are many.
    if (panel == 64 && (pr.type != DType::complex128 || pr.p > 160)) continue;
    if (panel > 0 && panel < 512 && 6 * panel * parts_of(pr.type) < pr.p) continue;
    Problem block = pr;
    if (panel > 0) block.p = block.q = panel;
    add({whole ? 0 : slab_rows_of(block, device.multiprocessors), panel});  // the first of equal costs
    for (const int slab_rows : {8192, 32768})
      if (slab_rows < pr.n) add({slab_rows, panel});
  }
  constexpr index_t least_columns = 512;  // of 256 it takes two and a half times as long as blocks
  if (whole && pr.operation == Operation::gram && pr.p >= least_columns && problem.first.layout == Layout::row_major)
    add({0, 0, true});
  return all;
}

std::vector<Candidate> cusparse_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool by_rows = problem.second.layout == Layout::row_major && problem.out.layout == Layout::row_major;
  const bool conjugated = problem.op == Op::adjoint && parts_of(pr.type) == 2;
  constexpr index_t longest_that_repeats = 128;
  if (pr.operation != Operation::spmm || problem.determinism == Determinism::gpu_to_gpu || problem.shifted ||
      pr.accumulate || conjugated || !by_rows || problem.sparse.parts == 0 ||
      problem.sparse.longest > longest_that_repeats || (pr.index_bytes == 4 && pr.nonzeros > INT32_MAX))
    return {};
  Candidate candidate{plan_of("cusparse", SparsePolicy{}),
                      least_times(pr, device).memory_seconds + device.launch_seconds};
  candidate.kernel.grid = 0;
  return {std::move(candidate)};
}

}  // namespace ts::inline v0::cuda
