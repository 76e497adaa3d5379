// What the pages of all solvers show.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tallskinny/app/common/html_page.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/app/tssolve/settings.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"

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

/// Names and values of the table on top of a page.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// How `result`, of symmetric or of general matrices, was found.
template <class Result>
void add_course(Facts& rows, const Result& result, const RunFacts& facts, index_t block_size, index_t max_basis) {
  rows.emplace_back("method", facts.method);
  rows.emplace_back("block size, basis", grouped(block_size) + ", " + grouped(max_basis));
  rows.emplace_back("block steps, restarts", grouped(result.iterations) + ", " + grouped(result.restarts));
  rows.emplace_back("operator applications", grouped(result.operator_applications) + ", of them " +
                                                 grouped(result.verification_applications) + " for verification");
  rows.emplace_back("complete", std::string(result.verified ? "yes, by " : "not shown; ") +
                                    std::string(solvers::name_of(result.verification)));
}

/// What belongs to the run, whatever it found.
void add_run(Facts& rows, double norm, const Settings& settings, const RunFacts& facts);

/// Where the time went.
void add_time(HtmlPage& page, const solvers::KrylovSeconds& seconds, double elapsed);

}  // namespace ts::app::tssolve
