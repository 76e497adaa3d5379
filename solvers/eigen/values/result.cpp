#include "tallskinny/solvers/eigen/values/result.hpp"

#include <algorithm>

namespace ts::solvers {

std::string_view name_of(StopReason stop) noexcept {
  switch (stop) {
    case StopReason::converged:
      return "converged";
    case StopReason::max_iterations:
      return "max_iterations";
    case StopReason::interrupted:
      return "interrupted";
    case StopReason::not_verified:
      return "not_verified";
    case StopReason::rounding:
      return "rounding";
  }
  return "?";
}

std::string_view name_of(Verification how) noexcept {
  switch (how) {
    case Verification::none:
      return "none";
    case Verification::all_computed:
      return "all_computed";
    case Verification::inertia:
      return "inertia";
    case Verification::start_block:
      return "start_block";
    case Verification::random_block:
      return "random_block";
    case Verification::normal:
      return "normal";
  }
  return "?";
}

StopReason stop_of(Stage stage, bool verifying) noexcept {
  switch (stage) {
    case Stage::reached:
    case Stage::entered:
      return StopReason::converged;
    case Stage::interrupted:
      return StopReason::interrupted;
    case Stage::stagnated:
      return StopReason::rounding;
    case Stage::budget:
      break;
  }
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

void note(HistoryEntry look, double fraction, const EigenOptions& options, index_t max_iterations,
          index_t wanted, std::vector<HistoryEntry>& history) {
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
