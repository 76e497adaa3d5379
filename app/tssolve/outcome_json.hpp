// What the results of all solvers tell alike, in their order.
#pragma once

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"

namespace ts::app::tssolve {

/// How far the search came, and whether its set is complete.
template <class Result>
void add_outcome(JsonObject& json, const Result& result) {
  json.add("converged", result.converged)
      .add("converged_count", result.converged_count)
      .add("verified", result.verified)
      .add("verification", solvers::name_of(result.verification))
      .add("verification_rounds", result.verification_rounds)
      .add("stop", solvers::name_of(result.stop))
      .add("reason", result.reason);
}

/// What the search took.
template <class Result>
void add_work(JsonObject& json, const Result& result) {
  json.add("iterations", result.iterations)
      .add("restarts", result.restarts)
      .add("operator_applications", result.operator_applications)
      .add("verification_applications", result.verification_applications);
}

}  // namespace ts::app::tssolve
