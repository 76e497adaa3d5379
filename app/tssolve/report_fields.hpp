// Fields that the results of all solvers have in common, in order: as members of JSON or as attributes of a file.
#pragma once

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/tssolve/settings.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"

namespace ts::app::tssolve {

struct ToJson {
  static constexpr bool is_file = false;
  JsonObject& json;
  template <class Value>
  void operator()(const char* name, const Value& value) const {
    json.add(name, value);
  }
};

struct ToFile {
  static constexpr bool is_file = true;
  io::OutputFile& file;
  template <class Value>
  void operator()(const char* name, const Value& value) const {
    if constexpr (std::is_same_v<Value, bool> || std::is_unsigned_v<Value>)
      file.attribute("/", name, static_cast<std::int64_t>(value));
    else
      file.attribute("/", name, value);
  }
};

/// Is a set taken that converged, although nothing shows that it is complete?
template <class Result>
[[nodiscard]] bool takes_unproven(const Result& result, const Settings& settings) {
  return settings.accept_unproven && result.converged && !result.verified &&
         result.stop != solvers::StopReason::interrupted;
}

/// How far the search came, and whether its set is complete.
template <class Add, class Result>
void add_outcome(const Add& add, const Result& result, const Settings& settings) {
  add("converged", result.converged);
  add("converged_count", result.converged_count);
  add("verified", result.verified);
  add("accepted_unproven", takes_unproven(result, settings));
  add("verification", solvers::name_of(result.verification));
  if constexpr (!Add::is_file) add("verification_rounds", result.verification_rounds);
  add("stop", solvers::name_of(result.stop));
  add("reason", result.reason);
}

/// How many ranks there were, which of several worked, and what another order of rows makes them send.
template <class Add, class Facts>
void add_ranks(const Add& add, const Facts& facts) {
  add("ranks", facts.ranks);
  if (facts.ranks > 1) add("ranks_work", facts.ranks_work);
  if (facts.reordering.empty()) return;
  add("reordering", facts.reordering), add("reordered", facts.reordered);
  if (facts.sent) add("sent_bytes_file_order", facts.sent->now), add("sent_bytes_new_order", facts.sent->then);
}

/// Adds the work of the search: iterations, restarts, products.
template <class Add, class Result>
void add_work(const Add& add, const Result& result) {
  add("iterations", result.iterations);
  add("restarts", result.restarts);
  add("operator_applications", result.operator_applications);
  add("verification_applications", result.verification_applications);
}

}  // namespace ts::app::tssolve
