// --report: one self-contained page with pictures of a run.
#pragma once

#include "tallskinny/app/tssolve/report.hpp"

namespace ts::app::tssolve {

/// Convergence, spectrum, residuals and times as charts, then the plan and the pairs as tables, to
/// settings.report. @throws Error(io_failure)
template <class T>
void write_html_report(const solvers::EigenResult<T>& result, const Settings& settings, const RunFacts& facts);

}  // namespace ts::app::tssolve
