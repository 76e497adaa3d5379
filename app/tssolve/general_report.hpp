// The result of --general as a table, as JSON, as a file and as a page.
#pragma once

#include <string>

#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"

namespace ts::app::tssolve {

void print_table(std::ostream& out, const solvers::GeneralResult& result, const RunFacts& facts);
void print_json(std::ostream& out, const solvers::GeneralResult& result, const Settings& settings,
                const RunFacts& facts);
/// Writes settings.common.output. @throws Error(io_failure)
std::string write_file(const solvers::GeneralResult& result, const Settings& settings, const RunFacts& facts);
/// Writes settings.report, like write_html_report. @throws Error(io_failure)
void write_html_report(const solvers::GeneralResult& result, const Settings& settings, const RunFacts& facts);

}  // namespace ts::app::tssolve
