#include "tallskinny/solvers/eigen/values/result.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ts::inline v0::solvers {

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

namespace {

/// Of the decades between the tolerance and the largest residual so far, how many these have fallen.
double fraction_fallen(const std::vector<double>& ratios, double worst, const std::vector<HistoryEntry>& history) {
  if (!std::isfinite(worst)) worst = 1;
  for (const HistoryEntry& look : history)
    if (std::isfinite(look.worst)) worst = std::max(worst, look.worst);
  double fraction = 0;
  for (const double ratio : ratios) {
    const double share = ratio <= 1 ? 1 : 1 - std::log(ratio) / std::log(worst);
    fraction += (share > 0 ? std::min(share, 1.0) : 0) / static_cast<double>(ratios.size());
  }
  return fraction;
}

}  // namespace

index_t note_look(const KrylovWork& done, std::vector<double> ratios, bool verifying, const EigenOptions& options,
                  index_t max_iterations, index_t wanted, std::vector<HistoryEntry>& history) {
  double worst = 0;
  for (const double ratio : ratios) worst = std::max(worst, ratio);
  const auto prefix = std::find_if(ratios.begin(), ratios.end(), [](double ratio) { return !(ratio <= 1); });
  const index_t converged = verifying ? wanted : prefix - ratios.begin();
  const double fraction = options.progress ? fraction_fallen(ratios, worst, history) : 0;
  note({done.steps, done.applications, converged, worst, verifying, std::move(ratios)}, fraction, options,
       max_iterations, wanted, history);
  return converged;
}

}  // namespace ts::inline v0::solvers
