#include "tallskinny/app/tsbench/gpu/case.hpp"

#include <algorithm>
#include <array>

namespace ts::bench {

namespace {

template <class T>
cuda::GpuProblem gpu_problem_of(const Case& c) {
  const Problem& pr = c.problem;
  const auto form = [&]<class E>(E* base, index_t rows, index_t columns) {
    return cuda::form_of(c.tall(base, rows, columns));
  };
  // Of addresses their alignment alone counts.
  alignas(256) static std::array<T, 256> in_memory;
  alignas(256) static std::array<result_t<T>, 256> out_memory;
  T* const in = in_memory.data();
  result_t<T>* const out = out_memory.data();
  const bool inner = pr.operation == Operation::tsmttsm || pr.operation == Operation::gram;
  cuda::GpuProblem p;
  p.problem = pr;
  p.op = inner ? Op::adjoint : Op::none;
  p.first = form(in, pr.n, pr.p);
  if (pr.operation == Operation::tsmttsm || pr.operation == Operation::inner_and_gram)
    p.second = form(in, pr.n, pr.q);
  if (pr.operation == Operation::gram) p.second = p.first;
  if (pr.operation == Operation::tsm2r) p.second = form(in, pr.p, pr.q);
  if (tall_result(pr.operation)) p.out = form(out, pr.n, out_width(pr));
  return p;
}

}  // namespace

std::string Case::form() const {
  if (pattern != Pattern::stencil) return pattern == Pattern::band ? "band" : "random";
  std::string text = layout == Layout::row_major ? "rows" : "columns";
  if (gap > 0) text += " +" + std::to_string(gap);
  if (offset > 0) text += " @" + std::to_string(offset);
  return text;
}

double Case::sector_bytes() const {
  constexpr double sector = 32;
  const auto moved = [&](index_t rows, index_t columns, std::size_t element, bool written) {
    const bool by_rows = layout == Layout::row_major;
    const auto s = static_cast<double>(element);
    const double lines = static_cast<double>(by_rows ? rows : columns),
                 line = static_cast<double>(by_rows ? columns : rows) * s,
                 space = static_cast<double>(gap) * s;
    const double touched = std::min(line + space, line + sector - s);
    const double partial = std::min({touched, space + sector - s, 2 * (sector - s)});
    return lines * (touched + (written && gap > 0 ? partial : 0));
  };
  const std::size_t in = size_of(problem.type), out = std::max<std::size_t>(in, 4);
  double bytes = 0;
  const bool replaced = problem.operation == Operation::trsm || problem.operation == Operation::tsmm_in_place;
  bytes += moved(problem.n, problem.p, replaced ? out : in, false);
  if (problem.operation == Operation::tsmttsm) bytes += moved(problem.n, problem.q, in, false);
  if (tall_result(problem.operation)) bytes += moved(problem.n, out_width(problem), out, !replaced);
  return bytes;
}

std::size_t Case::tall_bytes(index_t rows, index_t columns, std::size_t element) const noexcept {
  const bool by_rows = layout == Layout::row_major;
  const index_t lines = by_rows ? rows : columns, length = (by_rows ? columns : rows) + gap;
  return (static_cast<std::size_t>(lines * length + offset) * element + 511) / 256 * 256;
}

cuda::GpuProblem gpu_problem_of(const Case& c, Determinism determinism) {
  cuda::GpuProblem problem;
#define TS_CASE(T) \
  if (c.problem.type == dtype_of<T>) problem = gpu_problem_of<T>(c);
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
  problem.determinism = determinism;
  return problem;
}

std::vector<cuda::GpuPlan> plans_of(const Case& c, const cuda::DeviceInfo& device, Determinism determinism) {
  const cuda::GpuProblem problem = gpu_problem_of(c, determinism);
  if (cuda::ranked_candidates(problem, device).empty()) return {};
  return {cuda::make_plan(problem, device)};
}

}  // namespace ts::bench
