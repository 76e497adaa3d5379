// A basis that must be larger than asked for.
#pragma once

#include <string>

#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::solvers {

/// Tells ctx.log of a basis of `taken` columns where `asked` (0: none) were asked for, and that is less.
inline void tell_raised_basis(const Context& ctx, index_t asked, index_t taken) {
  if (ctx.log && asked > 0 && taken > asked)
    ctx.log("`max_basis` is raised from " + std::to_string(asked) + " to " + std::to_string(taken) +
            ", the least that restarts need with this `nev` and `block_size`");
}

}  // namespace ts::inline v0::solvers
