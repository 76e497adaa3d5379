#include "tallskinny/gemm/core/problem.hpp"

#include <algorithm>

namespace ts::inline v0 {

namespace {
constexpr std::pair<Operation, std::string_view> names[] = {{Operation::tsmttsm, "tsmttsm"},
                                                            {Operation::gram, "gram"},
                                                            {Operation::tsmm, "tsmm"},
                                                            {Operation::tsmm_in_place, "tsmm_in_place"},
                                                            {Operation::tsm2r, "tsm2r"},
                                                            {Operation::spmm, "spmm"},
                                                            {Operation::inner_and_gram, "inner_and_gram"},
                                                            {Operation::project_out, "project_out"},
                                                            {Operation::column_norms, "column_norms"},
                                                            {Operation::trsm, "trsm"}};
}  // namespace

std::string_view name_of(Operation op) noexcept {
  return std::find_if(std::begin(names), std::end(names), [op](const auto& n) { return n.first == op; })->second;
}

std::optional<Operation> operation_named(std::string_view name) noexcept {
  const auto* found =
      std::find_if(std::begin(names), std::end(names), [name](const auto& n) { return n.second == name; });
  if (found == std::end(names)) return std::nullopt;
  return found->first;
}

std::optional<DType> dtype_named(std::string_view name) noexcept {
  for (const DType t : every_dtype)
    if (name_of(t) == name) return t;
  return std::nullopt;
}

std::string dtype_names(std::string_view last) {
  std::string names;
  for (const DType t : every_dtype)
    names.append(t == every_dtype[0] ? "" : t == std::end(every_dtype)[-1] ? last : ", ").append(name_of(t));
  return names;
}

Cost cost_of(const Problem& p) {
  expects(p.n >= 0 && p.p >= 0 && p.q >= 0 && p.nonzeros >= 0, "a problem has negative sizes");
  const bool complex = parts_of(p.type) == 2;
  const auto s = static_cast<double>(size_of(p.type));
  const auto s_out = static_cast<double>(size_of(result_type_of(p.type)));
  const auto n = static_cast<double>(p.n), a = static_cast<double>(p.p), b = static_cast<double>(p.q);
  const double product = (complex ? 8.0 : 2.0) * n * a * b;  // flops of an n x a by a x b product
  const double again = p.accumulate ? 1.0 : 0.0;             // beta != 0 reads what it writes
  // Of V^H W and W^H W, where both may be wanted.
  const double kept = ((p.wants_inner ? a : 0) + (p.wants_gram ? b : 0)) * b * s;
  const double products = (p.wants_inner ? product : 0) + (p.wants_gram ? (complex ? 4.0 : 1.0) * n * b * (b + 1) : 0);
  switch (p.operation) {
    case Operation::tsmttsm: return {n * (a + b) * s + again * a * b * s_out, a * b * s_out, product};
    case Operation::gram:
      return {n * a * s + again * a * a * s_out, a * a * s_out, (complex ? 4.0 : 1.0) * n * a * (a + 1)};
    case Operation::tsmm: return {n * a * s + a * b * s_out + again * n * b * s_out, n * b * s_out, product};
    case Operation::tsmm_in_place: return {n * a * s + a * b * s, n * b * s, product};
    case Operation::tsm2r: return {(n * a + a * b) * s + again * n * b * s_out, n * b * s_out, product};
    case Operation::spmm: {
      const auto nnz = static_cast<double>(p.nonzeros);
      return {nnz * (s + p.index_bytes) + 8 * (n + 1) + a * b * s + again * n * b * s_out, n * b * s_out,
              (complex ? 8.0 : 2.0) * nnz * b};
    }
    case Operation::inner_and_gram: return {n * ((p.wants_inner ? a : 0) + b) * s, kept, products};
    case Operation::project_out: return {n * (a + b) * s + a * b * s, n * b * s + kept, product + products};
    case Operation::column_norms: return {n * a * s, a * s_out, (complex ? 4.0 : 2.0) * n * a};
    case Operation::trsm: return {n * a * s + a * a * s / 2, n * a * s, (complex ? 4.0 : 1.0) * n * a * a};
  }
  return {};
}

}  // namespace ts::inline v0
