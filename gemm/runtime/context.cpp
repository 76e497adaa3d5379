#include "tallskinny/gemm/runtime/context.hpp"

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::inline v0 {

int Context::thread_count() const noexcept { return threads > 0 ? threads : default_threads(); }

namespace {

/// Null for one rank.
const RowSlabs* slabs_of(const Context& ctx) {
  const int ranks = ctx.communicator->size();
  if (ranks == 1) return nullptr;
  expects(ctx.slabs.slabs() == ranks, "Context::slabs must say which rows each of its ranks has");
  return &ctx.slabs;
}

}  // namespace

index_t all_rows(const Context& ctx, index_t here) {
  const RowSlabs* slabs = slabs_of(ctx);
  return slabs != nullptr ? slabs->rows() : here;
}

index_t first_row(const Context& ctx) {
  const RowSlabs* slabs = slabs_of(ctx);
  return slabs != nullptr ? slabs->begin(ctx.communicator->rank()) : 0;
}

}  // namespace ts::inline v0
