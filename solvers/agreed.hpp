// Runs work on all ranks of a Context, or fails on all.
#pragma once

#include <functional>

#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::solvers {

/// Calls work(), in which this rank speaks to no other one. Where it throws an Error on some ranks, all of them throw
/// that of the lowest of these, code and sentence: nobody waits for a rank that has given up.
void agreed(const Context& ctx, const std::function<void()>& work);

}  // namespace ts::inline v0::solvers
