// --report: one self-contained page with pictures of a run.
#pragma once

#include <string>

#include "tallskinny/app/tssolve/report.hpp"

namespace ts::app::tssolve {

/// The page: HTML with inline SVG, no script and nothing from outside; well-formed XML.
template <class T>
[[nodiscard]] std::string html_report(const solvers::EigenResult<T>& result, const Settings& settings,
                                      const RunFacts& facts);

/// Writes settings.report under a temporary name beside it, then renames. @throws Error(io_failure)
template <class T>
void write_html_report(const solvers::EigenResult<T>& result, const Settings& settings,
                       const RunFacts& facts);

}  // namespace ts::app::tssolve
