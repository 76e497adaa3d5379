#include "tallskinny/app/tssolve/html_report.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/page_parts.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::app::tssolve {

namespace {

template <class T>
void add_spectrum(HtmlPage& page, const solvers::EigenResult<T>& result) {
  page.heading("Spectrum");
  if (result.values.empty()) {
    page.paragraph("No eigenvalues.");
    return;
  }
  const auto most = *std::max_element(result.multiplicities.begin(), result.multiplicities.end());
  const double top = static_cast<double>(most) + 1;
  Chart chart("eigenvalues found, and about where the next one lies", {"eigenvalue"}, {"copies found", false, 0, top});
  if (std::isfinite(result.next_value))
    chart.line({{result.next_value, 0}, {result.next_value, top}}, "faint thin")
        .dots({{result.next_value, 0.5}}, "faint", format("next eigenvalue, about %.6g", result.next_value));
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const double value = result.values[i], copies = static_cast<double>(result.multiplicities[i]);
    chart.line({{value, 0}, {value, copies}}, "good")
        .dots({{value, copies}}, result.converged_pairs[i] ? "good" : "bad",
              format("%.16g, %lld found", value, static_cast<long long>(result.multiplicities[i])));
  }
  page.chart(chart);
  if (std::isfinite(result.gap))
    page.paragraph(format("Gap to the next eigenvalue, about %.6g: %.3g.", result.next_value, result.gap));
}

template <class T>
Facts facts_of(const solvers::EigenResult<T>& result, const Settings& settings, const RunFacts& facts) {
  Facts rows;
  const auto add = [&rows](const char* name, const std::string& value) { rows.emplace_back(name, value); };
  add("matrix", grouped(facts.input.rows) + " x " + grouped(facts.input.cols) + ", " + grouped(facts.input.nonzeros) +
                    " entries, " + facts.input.convention);
  add("asked for", settings.interval ? "all eigenvalues in " + interval_text(*settings.interval)
                                     : grouped(settings.eigen.nev) + " eigenvalues, " + name_of(settings.eigen.which));
  if (settings.sigma) add("near", format("%.16g", *settings.sigma));
  add("tolerance", format("%.3g, ", settings.eigen.tol) + name_of(settings.eigen.convergence));
  add_course(rows, result, facts, facts.block_size, facts.max_basis);
  add("loss of orthogonality", format("%.2g", result.orthogonality_loss));
  add_run(rows, result.norm, settings, facts);
  return rows;
}

}  // namespace

template <class T>
void write_html_report(const solvers::EigenResult<T>& result, const Settings& settings, const RunFacts& facts) {
  HtmlPage page("tssolve: " + facts.input.where.text());
  page.paragraph(result.reason + ".");
  add_convergence(page, result.history);
  add_spectrum(page, result);
  std::vector<double> magnitudes;
  for (const double v : result.values) magnitudes.push_back(std::abs(v));
  add_residuals(page, {result.residual_norms, magnitudes, result.converged_pairs, result.norm}, settings);
  add_time(page, result.seconds, facts.elapsed_seconds);
  page.heading("Plan").facts(facts_of(result, settings, facts));
  std::vector<std::vector<std::string>> pairs;
  for (std::size_t i = 0; i < result.values.size(); ++i)
    pairs.push_back({std::to_string(i) + (result.converged_pairs[i] ? "" : " (not converged)"),
                     format("%.16g", result.values[i]), format("%.2e", result.error_bounds[i]),
                     format("%.2e", result.residual_norms[i]), std::to_string(result.multiplicities[i])});
  page.heading("Pairs").table({"index", facts.quantity, "error bound", "residual", "copies"}, pairs);
  page.paragraph(version_text("tssolve")).write(settings.report);
}

template void write_html_report(const solvers::EigenResult<double>&, const Settings&, const RunFacts&);
template void write_html_report(const solvers::EigenResult<std::complex<double>>&, const Settings&, const RunFacts&);

}  // namespace ts::app::tssolve
