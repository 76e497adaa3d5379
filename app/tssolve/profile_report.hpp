// --profile: where the time went, and how near each kind of work came to what the machine can do.
#pragma once

#include <iosfwd>
#include <memory>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"

namespace ts::app::tssolve {

/// A profile for work with this Context, whose roofs are measured now: those of the GPU, if it has one.
[[nodiscard]] std::shared_ptr<Profile> begin_profile(const Context& ctx);

/// A table with a line for each kind of work.
/// @param elapsed seconds of the whole run.
void print_profile(std::ostream& out, Profile& profile, double elapsed);
/// The same as a member "profile".
void add_profile(JsonObject& json, Profile& profile, double elapsed);

}  // namespace ts::app::tssolve
