// --ranks and --machine: what a run would take on many ranks, without them.
#pragma once

#include <iosfwd>
#include <string>

#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/app/common/json.hpp"
#include "tallskinny/solvers/setup/rank_model.hpp"

namespace ts::app {

struct RanksOptions {
  index_t ranks = 0;    ///< 0: not asked for
  std::string machine;  ///< a file; empty: not asked for
  [[nodiscard]] bool asked() const noexcept { return ranks > 0; }
};

/// --ranks, --machine
void add_ranks_options(Options& options, RanksOptions& target);
/// @throws Error(invalid_argument) for one without the other, or without --dry-run.
void check_ranks_options(const RanksOptions& options, const CommonOptions& common);

/// From JSON with the keys that data/machines/README.md lists.
/// @throws Error(bad_input) naming the file, and the key that is missing, unknown or no number above zero.
[[nodiscard]] solvers::MachineModel read_machine(const std::string& file);

/// Such a file. @param source where the figures come from
[[nodiscard]] std::string machine_text(const solvers::MachineModel& machine, const std::string& source);

/// For people; or in one JSON object.
void print_prediction(std::ostream& out, const solvers::MachineModel& machine,
                      const solvers::RankPrediction& prediction);
void add_prediction(JsonObject& json, const solvers::MachineModel& machine, const solvers::RankPrediction& prediction);

}  // namespace ts::app
