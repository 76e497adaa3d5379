#include "tallskinny/gemm/norms/column_norms.hpp"

#include <algorithm>

#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/norms/detail.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"

namespace ts::inline v0::detail {

template <class T>
void column_norms(const Context& ctx, Strided<const T> x, std::span<real_t<T>> norms) {
  const UseHostMemory use(ctx.host_memory);
  if (static_cast<index_t>(norms.size()) != x.cols) [[unlikely]]
    throw Error(Errc::invalid_argument, "column_norms: norms has room for " + std::to_string(norms.size()) +
                                            " values but X has " + std::to_string(x.cols) + " columns");
  if (x.cols == 0) return;
  if (x.rows == 0 && !distributed(ctx)) {
    std::fill(norms.begin(), norms.end(), real_t<T>{});
    return;
  }
  const Profile::Piece piece(ctx, {Operation::column_norms, dtype_of<T>, x.rows, x.cols, x.cols});
  if (ctx.implementation == Implementation::reference && !distributed(ctx)) return reference::column_norms<T>(x, norms);
  fast::column_norms<T>(ctx, x, norms);
}

#define TS_INSTANTIATE(T) template void column_norms<T>(const Context&, Strided<const T>, std::span<real_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
