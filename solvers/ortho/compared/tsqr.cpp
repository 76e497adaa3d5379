// TSQR: Householder QR of row chunks, then of their triangles.
#include <algorithm>
#include <vector>

#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/solvers/ortho/compared/householder.hpp"
#include "tallskinny/solvers/ortho/compared/skeleton_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho::detail {

namespace {

/// RowChunk of chunk `c` of `count` near-equal ones.
struct RowChunk {
  index_t first, count;
};
RowChunk rows_of(index_t n, index_t count, index_t c) {
  const index_t first = n * c / count;
  return {first, n * (c + 1) / count - first};
}

/// X = Q R in place, n >= b. Chunks depend on the shape alone, and so do the bits.
template <class T>
void tree(const Context& ctx, HostView<T> x, HostView<T> r) {
  const index_t n = x.rows(), b = x.cols();
  constexpr index_t cache_bytes = index_t{128} << 10;
  const index_t rows = std::max(4 * b, cache_bytes / static_cast<index_t>(sizeof(T)) / b);
  const index_t chunks = std::max<index_t>(1, n / rows);
  std::vector<std::vector<T>> taus(at(chunks));
  std::vector<Matrix<T>> factors(at(chunks));  // contiguous copies: R and the vectors
  Matrix<T> triangles(chunks * b, b);
  parallel_pieces(ctx.thread_count(), chunks, [&](index_t c, int) {
    const auto [first, count] = rows_of(n, chunks, c);
    auto& a = factors[at(c)];
    a = Matrix<T>::copy_of(HostView<const T>(x.rows(first, count)));
    taus[at(c)] = householder_qr<T>(a.view());
    for (index_t i = 0; i < b; ++i)
      for (index_t j = 0; j < b; ++j) triangles(c * b + i, j) = j < i ? T{} : a(i, j);
  });
  if (chunks > 1) {
    tree(ctx, triangles.view(), r);
  } else {
    copy<T>(triangles.view(), r);
    set_identity(triangles.view());
  }
  parallel_pieces(ctx.thread_count(), chunks,
                  [&](index_t c, int) {  // Q of the chunk = H_0 .. H_{b-1} [Q of its triangle; 0]
                    const auto [first, count] = rows_of(n, chunks, c);
                    auto q = Matrix<T>::zeros(count, b);
                    copy<T>(triangles.cview().rows(c * b, b), q.view().rows(0, b));
                    apply_q<T>(factors[at(c)].view(), taus[at(c)], q.view());
                    copy<T>(q.view(), x.rows(first, count));
                  });
}

}  // namespace

template <class T>
Factored factorise(Tall<T>& tall, Tsqr, PlacedView<T> x, HostView<T> r) {
  if (x.rows() < x.cols()) return {};
  if (x.cols() == 0) return {0, Rung::tsqr, {}};
  tree<T>(tall.context(), x.host(), r);
  tall.count_own_pass(x, true, true);  // the triangles meet
  tall.count_own_pass(x, false, true);
  if (!all_finite(HostView<const T>(r))) return {};
  for (index_t j = 0; j < r.cols(); ++j)
    if (r(j, j) == T{}) return {};
  return {x.cols(), Rung::tsqr, {}};
}

#define TS_INSTANTIATE(T) template Factored factorise<T>(Tall<T>&, Tsqr, PlacedView<T>, HostView<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho::detail
