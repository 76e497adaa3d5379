#include "tallskinny/app/tsbench/operands.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/app/tsbench/sparse_pattern.hpp"
#include "tallskinny/app/tsbench/values.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/gemm/runtime/processors.hpp"

namespace ts::bench {

namespace {

template <class T>
void fill(Matrix<T>& m, std::uint64_t seed) {
  const index_t count = m.rows() * m.cols();
  parallel_for(default_threads(), count,
               [&](index_t i) { m.data()[i] = value_at<T>(seed + static_cast<std::uint64_t>(i)); });
}

}  // namespace

bool in_place(Operation op) noexcept {
  return op == Operation::trsm || op == Operation::tsmm_in_place || op == Operation::project_out;
}

bool tall_result(Operation op) noexcept {
  return in_place(op) || op == Operation::tsmm || op == Operation::tsm2r || op == Operation::spmm;
}

index_t out_width(const Problem& p) noexcept {
  return p.operation == Operation::trsm || p.operation == Operation::tsmm_in_place ? p.p : p.q;
}

template <class R>
void fill_small(Matrix<R>& m, const Problem& problem) {
  if (problem.operation == Operation::tsm2r || problem.operation == Operation::spmm) return;  // has none
  const index_t rows = problem.p, cols = problem.operation == Operation::trsm ? problem.p : problem.q;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) {
      const R value = value_at<R>(static_cast<std::uint64_t>(i * cols + j));
      R& entry = m.data()[i * cols + j];
      if (problem.operation == Operation::project_out)
        entry = value * static_cast<real_t<R>>(1e-3);
      else if (problem.operation == Operation::trsm || problem.operation == Operation::tsmm_in_place)
        entry = i == j ? R{1} : i < j ? value * static_cast<real_t<R>>(1e-3) : R{};
      else
        entry = value;
    }
}
#define TS_INSTANTIATE(T) template void fill_small<T>(Matrix<T>&, const Problem&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

Problem problem_of(Operation op, DType type, index_t p, index_t q, std::int64_t bytes, Pattern pattern) {
  Problem problem{op, type, 1 << 20, p, q};
  if (op == Operation::tsm2r) {  // D is square
    problem.n = problem.p =
        static_cast<index_t>(std::sqrt(static_cast<double>(bytes) / static_cast<double>(size_of(type))));
    return problem;
  }
  if (op == Operation::spmm) {
    const auto per_row =
        SparsePattern::entries_a_row(pattern) * static_cast<double>(size_of(type) + 4) + 8 +
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

template <class T>
Pool<T>::Pool(std::int64_t bytes, index_t width)
    : bytes_(bytes),
      x_(bytes / static_cast<index_t>(sizeof(T)) + 1024, 1),
      y_(bytes / static_cast<index_t>(sizeof(T)) + 1024, 1),
      out_(bytes / static_cast<index_t>(sizeof(R)) + 1024, 1),
      small_(width, width),
      result_(width, width),
      gram_(width, width) {
  fill(x_, first_key.x);
  fill(y_, first_key.y);
  fill(out_, first_key.out);
}

template <class T>
void Pool<T>::refill(const Operands<T>& o) {
  if (!in_place(o.problem.operation)) return;
  const Problem& p = o.problem;
  const index_t count = p.n * (p.operation == Operation::project_out ? p.q : p.p);
  parallel_for(default_threads(), count,
               [&](index_t i) { o.out[i] = value_at<R>(first_key.out + static_cast<std::uint64_t>(i)); });
}

template <class T>
void Pool<T>::build_sparse(index_t rows) {
  if (sparse_.rows == rows) return;
  const SparsePattern stencil{Pattern::stencil, rows};
  sparse_ = {};
  sparse_.rows = sparse_.cols = rows;
  const auto entries = static_cast<std::size_t>(stencil.entries());
  sparse_.pointers.reserve(static_cast<std::size_t>(rows) + 1);
  sparse_.indices.reserve(entries);
  sparse_.values.reserve(entries);
  for (index_t i = 0; i < rows; ++i) {
    stencil.row(i, [this](index_t column) {
      sparse_.indices.push_back(static_cast<std::int32_t>(column));
      sparse_.values.push_back(value_at<T>(sparse_.indices.size()));
    });
    sparse_.pointers.push_back(static_cast<index_t>(sparse_.indices.size()));
  }
}

template <class T>
Operands<T> Pool<T>::operands(const Problem& problem) {
  fill_small(small_, problem);
  Operands<T> o{problem, x_.data(), y_.data(), out_.data(), small_.data(), result_.data(), gram_.data(), {}};
  if (problem.operation == Operation::spmm) {
    build_sparse(problem.n);
    o.sparse = sparse_.view();
  }
  refill(o);
  return o;
}

template <class T>
std::span<const double> Pool<T>::roof_source() const {
  return {reinterpret_cast<const double*>(x_.data()), static_cast<std::size_t>(bytes_ / 8) / 4096 * 4096};
}
template <class T>
std::span<double> Pool<T>::roof_target() {
  return {reinterpret_cast<double*>(out_.data()), roof_source().size()};
}

#define TS_INSTANTIATE(T) template class Pool<T>;
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
