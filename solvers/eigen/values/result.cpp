#include "tallskinny/solvers/eigen/values/result.hpp"

#include <algorithm>
#include <array>

namespace ts::solvers {

std::string_view name_of(StopReason stop) noexcept {
  constexpr std::array<std::string_view, 5> names{"converged", "max_iterations", "interrupted", "not_verified",
                                                  "rounding"};
  return names.at(static_cast<std::size_t>(stop));
}

std::string_view name_of(Verification how) noexcept {
  constexpr std::array<std::string_view, 6> names{"none",        "all_computed", "inertia",
                                                  "start_block", "random_block", "normal"};
  return names.at(static_cast<std::size_t>(how));
}

StopReason stop_of(Stage stage, bool verifying) noexcept {
  if (stage == Stage::reached || stage == Stage::entered) return StopReason::converged;
  if (stage == Stage::interrupted) return StopReason::interrupted;
  if (stage == Stage::stagnated) return StopReason::rounding;
  return verifying ? StopReason::not_verified : StopReason::max_iterations;
}

HistoryEntry look_at(index_t iteration, index_t applications, std::vector<double> ratios) {
  HistoryEntry look{iteration, applications};
  bool prefix = true;
  for (const double ratio : ratios) {
    look.worst = std::max(look.worst, ratio);
    prefix = prefix && ratio <= 1;
    look.converged += prefix ? 1 : 0;
  }
  look.ratios = std::move(ratios);
  return look;
}

void note(HistoryEntry look, double fraction, const EigenOptions& options, index_t max_iterations, index_t wanted,
          std::vector<HistoryEntry>& history) {
  history.push_back(std::move(look));
  if (!options.progress) return;
  const HistoryEntry& now = history.back();
  Progress p;
  p.phase = now.verifying ? "verify" : "search";
  p.iteration = now.iteration, p.max_iterations = max_iterations;
  p.operator_applications = now.operator_applications;
  p.converged = now.converged, p.wanted = wanted, p.worst = now.worst, p.fraction = fraction;
  options.progress(p);
}

}  // namespace ts::solvers
