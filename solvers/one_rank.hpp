// Refuses a Context of several ranks, for solvers that are not distributed yet.
#pragma once

#include <string>
#include <string_view>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::solvers {

/// @throws Error(invalid_argument) where the context has several ranks, as which `solver` would take one
/// rank's rows for the whole matrix.
inline void expects_one_rank(const Context& ctx, std::string_view solver, Place where = Place::current()) {
  if (ctx.communicator->size() == 1) return;
  throw Error(Errc::invalid_argument,
              std::string(solver) + " works on one rank, and Context::communicator has " +
                  std::to_string(ctx.communicator->size()) + ": give each rank a Context of its own",
              where);
}

}  // namespace ts::inline v0::solvers
