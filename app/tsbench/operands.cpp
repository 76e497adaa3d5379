#include "tallskinny/app/tsbench/operands.hpp"

#include <algorithm>

#include "tallskinny/app/tsbench/values.hpp"

namespace ts::bench {

OperandBytes operand_bytes(const Case& c) {
  const Problem& p = c.problem;
  const std::size_t in = size_of(p.type), result = std::max<std::size_t>(in, 4);
  const bool sparse = p.operation == Operation::spmm, large = p.operation == Operation::tsm2r;
  const bool two = p.operation == Operation::tsmttsm || p.operation == Operation::inner_and_gram;
  OperandBytes bytes;
  bytes.x = c.tall_bytes(sparse ? p.p : p.n, sparse ? p.q : p.p, in);
  if (two || large) bytes.y = c.tall_bytes(large ? p.p : p.n, p.q, in);
  if (tall_result(p.operation)) bytes.out = c.tall_bytes(p.n, out_width(p), result);
  if (!sparse && !large) bytes.small = static_cast<std::size_t>(std::max(p.p, p.q) * std::max(p.p, p.q)) * result;
  return bytes;
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

}  // namespace ts::bench
