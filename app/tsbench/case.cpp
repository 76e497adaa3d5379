#include "tallskinny/app/tsbench/case.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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
  if (pr.operation != Operation::spmm) p.first = form(in, pr.n, pr.p);
  if (pr.operation == Operation::tsmttsm || pr.operation == Operation::inner_and_gram) p.second = form(in, pr.n, pr.q);
  if (pr.operation == Operation::gram) p.second = p.first;
  if (pr.operation == Operation::tsm2r || pr.operation == Operation::spmm) p.second = form(in, pr.p, pr.q);
  if (tall_result(pr.operation)) p.out = form(out, pr.n, out_width(pr));
  p.sparse = c.sparse;
  return p;
}

}  // namespace

bool exists(Operation op, DType type, Shape s) {
  const bool half = type == DType::float16 || type == DType::bfloat16;
  switch (op) {
    case Operation::tsmm_in_place: return !half && s.q <= s.p;
    case Operation::inner_and_gram:
    case Operation::project_out: return !half;
    case Operation::trsm: return !half && s.p == s.q;
    case Operation::gram:
    case Operation::column_norms:
    case Operation::tsm2r:
    case Operation::spmm: return s.p == s.q;  // one width only
    default: return true;
  }
}

bool in_place(Operation op) noexcept {
  return op == Operation::trsm || op == Operation::tsmm_in_place || op == Operation::project_out;
}

bool tall_result(Operation op) noexcept {
  return in_place(op) || op == Operation::tsmm || op == Operation::tsm2r || op == Operation::spmm;
}

index_t out_width(const Problem& p) noexcept {
  return p.operation == Operation::trsm || p.operation == Operation::tsmm_in_place ? p.p : p.q;
}

Problem problem_of(Operation op, DType type, index_t p, index_t q, std::int64_t bytes, Pattern pattern) {
  Problem problem{op, type, 1 << 20, p, q};
  if (op == Operation::tsm2r) {  // D is square
    problem.n = problem.p =
        static_cast<index_t>(std::sqrt(static_cast<double>(bytes) / static_cast<double>(size_of(type))));
    return problem;
  }
  if (op == Operation::spmm) {
    const auto per_row = SparsePattern::entries_a_row(pattern) * static_cast<double>(size_of(type) + 4) + 8 +
                         2.0 * static_cast<double>(q) * static_cast<double>(std::max<std::size_t>(size_of(type), 4));
    const auto matrix = SparsePattern::of_rows(pattern, static_cast<double>(bytes) / per_row);
    problem.n = problem.p = matrix.rows;
    problem.nonzeros = matrix.entries();
    return problem;
  }
  const double per_row = cost_of(problem).bytes() / static_cast<double>(problem.n);
  problem.n = static_cast<index_t>(static_cast<double>(bytes) / per_row) / 16 * 16;
  return problem;
}

std::string Case::form() const {
  if (pattern != Pattern::stencil) return std::string(name_of(pattern));
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
                 line = static_cast<double>(by_rows ? columns : rows) * s, space = static_cast<double>(gap) * s;
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
  cuda::GpuProblem problem =
      by_type(c.problem.type, [&]<class T>(std::type_identity<T>) { return gpu_problem_of<T>(c); });
  problem.determinism = determinism;
  return problem;
}

std::vector<cuda::GpuPlan> plans_of(const Case& c, const cuda::DeviceInfo& device, Determinism determinism) {
  const cuda::GpuProblem problem = gpu_problem_of(c, determinism);
  if (cuda::ranked_candidates(problem, device).empty() && !cuda::library_choice(problem, device)) return {};
  return {cuda::make_plan(problem, device, {.family = {}, .libraries = true})};
}

}  // namespace ts::bench
