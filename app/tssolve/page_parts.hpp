// What the pages of all solvers show.
#pragma once

#include <vector>

#include "tallskinny/app/common/html_page.hpp"
#include "tallskinny/app/tssolve/settings.hpp"
#include "tallskinny/solvers/eigen/result.hpp"

namespace ts::app::tssolve {

/// The residual of each wanted pair over the operator applications.
void add_convergence(HtmlPage& page, const std::vector<solvers::HistoryEntry>& history);

/// Pair by pair.
struct Residuals {
  std::vector<double> norms, magnitudes;  ///< of residuals; |eigenvalue|
  std::vector<bool> converged;
  double matrix_norm = 0;
};
void add_residuals(HtmlPage& page, const Residuals& residuals, const Settings& settings);

/// Where the time went.
void add_time(HtmlPage& page, const solvers::KrylovSeconds& seconds, double elapsed);

}  // namespace ts::app::tssolve
