#include "tallskinny/gemm/spmm/spmm.hpp"

#include <algorithm>
#include <vector>

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/spmm/detail.hpp"

namespace ts::inline v0::detail {

namespace {

template <class T, class I>
void expect_sparse(const char* operation, const CsrView<T, Space::host, I>& a, Place where = Place::current()) {
  expect_argument(operation, a.rows >= 0 && a.cols >= 0, "A has negative rows or columns", where);
  expect_argument(operation, a.rows == 0 || a.pointers != nullptr, "A has rows but no row pointers", where);
  expect_argument(operation, a.nonzeros() >= 0 && (a.rows == 0 || a.pointers[0] == 0),
                  "A's row pointers must start at 0 and not decrease", where);
  expect_argument(operation, a.nonzeros() == 0 || (a.indices != nullptr && a.values != nullptr),
                  "A has entries but no column numbers or values", where);
}

}  // namespace

template <class T, class I>
void spmm(const Context& ctx, Op op_a, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x,
          result_t<T> beta, Strided<result_t<T>> y) {
  const UseHostMemory use(ctx.host_memory);
  expect_sparse("spmm", a);
  const index_t m = op_a == Op::none ? a.rows : a.cols, n = op_a == Op::none ? a.cols : a.rows;
  expect_shape("spmm", "X", x, n, x.cols, "as many rows as op(A) has columns");
  expect_shape("spmm", "Y", y, m, x.cols, "rows of op(A) by columns of X");
  expect_disjoint("spmm", y, "Y", x, "X");
  if (y.empty()) return;
  if (a.nonzeros() == 0 || alpha == result_t<T>{}) return scale_output(beta, y);
  Problem problem{Operation::spmm, dtype_of<T>, m, n, y.cols, beta != result_t<T>{}};
  problem.nonzeros = a.nonzeros(), problem.index_bytes = static_cast<int>(sizeof(I));
  const Profile::Piece piece(ctx, problem);
  if (ctx.implementation == Implementation::reference) return reference::spmm<T, I>(op_a, alpha, a, x, beta, y);
  fast::spmm<T, I>(ctx, op_a, alpha, a, x, beta, y);
}

namespace {

/// Y = alpha (A - shift I) X + beta Y in any layout, of some rows.
template <class T, class I>
void one_step(const Context& ctx, StepRows rows, real_t<T> alpha, const CsrView<T, Space::host, I>& a, real_t<T> shift,
              Strided<T> x, real_t<T> beta, Strided<T> y) {
  std::vector<index_t> pointers(a.pointers + rows.begin, a.pointers + rows.end + 1);
  const index_t first = pointers.front();
  for (index_t& p : pointers) p -= first;
  const CsrView<T, Space::host, I> some{rows.count(), a.cols, pointers.data(), a.indices + first, a.values + first};
  spmm<T, I>(ctx, Op::none, T{alpha}, some, x, T{beta}, y.block(rows.begin, 0, rows.count(), y.cols));
  for (index_t i = rows.begin; i < rows.end; ++i)
    for (index_t j = 0; j < y.cols; ++j) y(i, j) -= alpha * shift * x(i, j);
}

/// Of such products in one pass: A is read once, X and Y are read and, but for X of a single one, written.
Cost cost_of_steps(const Problem& product, const SpmmSteps& steps) {
  const Cost one = cost_of(product);
  const double block = static_cast<double>(product.n * product.q) * static_cast<double>(size_of(product.type));
  const Cost all = steps.count == 1 ? one
                                    : Cost{one.read_bytes + (product.accumulate ? 0 : block), one.written_bytes + block,
                                           steps.count * one.flops};
  index_t rows = 0;
  for (int k = 0; k < steps.count; ++k) rows += steps.rows_of(k).count();
  const double share = static_cast<double>(rows) / static_cast<double>(product.n * steps.count);
  return {share * all.read_bytes, share * all.written_bytes, share * all.flops};
}

}  // namespace

template <class T, class I>
void spmm_recurrence(const Context& ctx, const Recurrence& all, real_t<T> alpha, CsrView<T, Space::host, I> a,
                     real_t<T> shift, Strided<T> x, real_t<T> beta, Strided<T> y) {
  const UseHostMemory use(ctx.host_memory);
  expect_sparse("spmm_recurrence", a);
  expect_argument("spmm_recurrence", a.rows == a.cols || (a.rows < a.cols && all.count == 1),
                  "A must be square, for one step at least as wide as high");
  expect_shape("spmm_recurrence", "X", x, a.cols, x.cols, "as many rows as A has columns");
  expect_shape("spmm_recurrence", "Y", y, a.rows, x.cols, "as many rows as A, and the columns of X");
  expect_disjoint("spmm_recurrence", y, "Y", x, "X");
  for (const StepRows& rows : all.rows)
    expect_argument("spmm_recurrence", 0 <= rows.begin && rows.begin <= rows.end && rows.end <= a.rows,
                    "a step is to compute rows that A does not have");
  if (y.empty()) return;
  const auto rows_lie = [](const Strided<T>& v) { return v.col_stride == 1 || v.cols == 1; };
  const bool fast = ctx.implementation == Implementation::fast && rows_lie(x) && rows_lie(y);
  const SpmmSteps together = fast ? fast::spmm_steps<T, I>(ctx, a, x.cols) : SpmmSteps{.rows = a.rows};
  Problem problem{Operation::spmm, dtype_of<T>, a.rows, a.cols, x.cols, beta != 0};
  problem.nonzeros = a.nonzeros(), problem.index_bytes = static_cast<int>(sizeof(I));
  for (index_t done = 0, some = 0; done < all.count; done += some) {
    some = std::min<index_t>(all.count - done, together.count);
    const auto rows =
        all.rows.empty() ? all.rows : all.rows.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(some));
    const SpmmSteps steps = together.of(static_cast<int>(some), rows);
    if (fast) {
      const Profile::Piece piece(ctx, some > 1 ? "spmm, several steps" : name_of(Operation::spmm),
                                 cost_of_steps(problem, steps), dtype_of<T>);
      fast::spmm_recurrence<T, I>(ctx, steps, alpha, a, shift, x, beta, y);
    } else {
      one_step<T, I>(ctx, steps.rows_of(0), alpha, a, shift, x, beta, y);
    }
    if (some % 2 != 0) std::swap(x, y);
  }
}

template <class T, class I>
index_t steps_together(const Context& ctx, const CsrView<T, Space::host, I>& a, index_t columns) {
  return ctx.implementation == Implementation::fast ? fast::spmm_steps<T, I>(ctx, a, columns).count : 1;
}

#define TS_INSTANTIATE_INDEX(T, I)                                                                                     \
  template void spmm<T, I>(const Context&, Op, result_t<T>, CsrView<T, Space::host, I>, Strided<const T>, result_t<T>, \
                           Strided<result_t<T>>);
#define TS_INSTANTIATE(T) TS_INSTANTIATE_INDEX(T, std::int32_t) TS_INSTANTIATE_INDEX(T, std::int64_t)
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#undef TS_INSTANTIATE_INDEX

TS_FOR_EACH_RESULT_TYPE(TS_INDEXED_FUNCTION, spmm_recurrence)
TS_FOR_EACH_RESULT_TYPE(TS_INDEXED_FUNCTION, steps_together)
#undef TS_INSTANTIATE_INDEX

}  // namespace ts::inline v0::detail
