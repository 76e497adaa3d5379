#include <algorithm>
#include <cmath>
#include <optional>

#include "tallskinny/app/common/html_page.hpp"
#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"

namespace ts::app::tssolve {

using solvers::EigenResult;
using solvers::GeneralResult;

namespace {

/// Lines with more points than pixels are thinned.
constexpr std::size_t most_points = 600;
/// Residuals of zero are drawn here.
constexpr double smallest_ratio = 1e-12;

/// Names and values of the table on top of a page.
using Facts = std::vector<std::pair<std::string, std::string>>;
using Table = std::vector<std::vector<std::string>>;

/// The residual of each wanted pair over the operator applications.
void add_convergence(HtmlPage& page, const std::vector<solvers::HistoryEntry>& history) {
  std::size_t pairs = 0;
  double last = 1;
  for (const auto& entry : history) {
    pairs = std::max(pairs, entry.ratios.size());
    last = std::max(last, static_cast<double>(entry.operator_applications));
  }
  page.heading("Convergence");
  if (pairs == 0) {
    page.paragraph("All eigenvalues were computed at once; there is no iteration to show.");
    return;
  }
  Axis applications = counts("operator applications");
  applications.low = 0, applications.high = last;
  Chart chart("each wanted pair", applications, {"residual / tolerance", true});
  const std::size_t stride = history.size() / most_points + 1;
  for (std::size_t i = 0; i < pairs; ++i) {
    std::vector<Point> points;
    for (std::size_t h = 0; h < history.size(); ++h)
      if (history[h].ratios.size() > i && (h % stride == 0 || h + 1 == history.size()))
        points.push_back(
            {static_cast<double>(history[h].operator_applications), std::max(history[h].ratios[i], smallest_ratio)});
    chart.line(std::move(points), "c0 soft");
  }
  page.chart(chart.line({{0, 1}, {last, 1}}, "bad thin"));
}

/// Which value has copies that were perhaps cut off: the nearest to what lies outside of the set.
template <class T>
std::optional<std::size_t> cut_off_at(const EigenResult<T>& result) {
  if (result.cut_off == 0) return std::nullopt;
  std::size_t last = result.values.size() - 1;
  for (std::size_t i = 0; i < result.values.size(); ++i)
    if (std::abs(result.values[i] - result.next_value) < std::abs(result.values[last] - result.next_value)) last = i;
  return last;
}

template <class T>
std::string cut_off_text(const EigenResult<T>& result, std::size_t end) {
  return format("%.10g may have more copies than the ", result.values[end]) + grouped(result.multiplicities[end]) +
         " found: the number asked for cuts them off";
}

template <class T>
Chart spectrum_of(const EigenResult<T>& result, const Settings&) {
  const auto most = *std::max_element(result.multiplicities.begin(), result.multiplicities.end());
  const double top = static_cast<double>(most) + 1;
  Axis copies_found = counts("copies found");
  copies_found.low = 0, copies_found.high = top;
  Chart chart("values found, and about where the next one lies", {"value"}, copies_found);
  if (std::isfinite(result.next_value))
    chart.line({{result.next_value, 0}, {result.next_value, top}}, "faint thin")
        .dots({{result.next_value, 0.5}}, "faint", format("next eigenvalue, about %.6g", result.next_value));
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const double value = result.values[i], copies = static_cast<double>(result.multiplicities[i]);
    chart.line({{value, 0}, {value, copies}}, "good")
        .dots({{value, copies}}, result.converged_pairs[i] ? "good" : "bad",
              format("%.16g, %lld found", value, static_cast<long long>(result.multiplicities[i])));
  }
  if (const auto end = cut_off_at(result)) {
    const double value = result.values[*end], copies = static_cast<double>(result.multiplicities[*end]);
    chart.line({{value, copies}, {value, top}}, "c1 thin")
        .diamond({value, copies}, "c1", grouped(result.multiplicities[*end]) + " or more", cut_off_text(result, *end));
  }
  return chart;
}

/// The eigenvalues found in the complex plane, with the target and the first one outside.
Chart spectrum_of(const GeneralResult& r, const Settings& settings) {
  Chart chart("eigenvalues found, in the complex plane", {"real part"}, {"imaginary part"});
  const auto dot = [&chart](std::complex<double> z, const char* style, const std::string& tooltip) {
    chart.dots({{z.real(), z.imag()}}, style, tooltip);
  };
  dot(r.next_value, "faint", "next eigenvalue, about " + complex_text(r.next_value));
  for (std::size_t i = 0; i < r.values.size(); ++i)
    dot(r.values[i], r.converged_pairs[i] ? "good" : "bad",
        complex_text(r.values[i]) + format(", condition %.2g", r.conditions[i]));
  if (settings.sigma) {
    const std::complex<double> target(*settings.sigma, settings.sigma_imaginary);
    dot(target, "c1", "the target " + complex_text(target));
  }
  return chart;
}

/// Pair by pair.
template <class Result>
void add_residuals(HtmlPage& page, const Result& result, const Settings& settings) {
  Chart chart("what each pair was found to be off by", counts("pair"), {"residual / tolerance", true});
  const auto accept = solvers::acceptance_of(settings.eigen, result.norm, result.vectors.rows());
  for (std::size_t i = 0; i < result.residual_norms.size(); ++i) {
    const double ratio = result.residual_norms[i] / accept.bound(std::abs(result.values[i]));
    const double drawn = std::isfinite(ratio) ? std::clamp(ratio, smallest_ratio, 1 / smallest_ratio) : 1;
    chart.dots({{static_cast<double>(i), drawn}}, result.converged_pairs[i] ? "good" : "bad",
               format("pair %zu: %.3g", i, result.residual_norms[i]));
  }
  const double last = std::max(1.0, static_cast<double>(result.residual_norms.size()) - 1);
  page.heading("Residuals").chart(chart.line({{0, 1}, {last, 1}}, "bad thin"));
}

/// Where the time went.
void add_time(HtmlPage& page, const solvers::KrylovSeconds& s, double elapsed) {
  const double rest = std::max(0.0, elapsed - s.applying - s.orthogonalising - s.restarting - s.small);
  const struct {
    const char* what;
    double seconds;
  } parts[] = {{"operator", s.applying},
               {"orthogonalisation", s.orthogonalising},
               {"restarts", s.restarting},
               {"projected problem", s.small},
               {"factorisation, residuals, files", rest}};
  const double total = std::max(elapsed, s.applying + s.orthogonalising + s.restarting + s.small);
  Chart bar("", {"per cent of the time", false, 0, 100}, {.names = {""}}, {760, 90});
  std::vector<std::pair<std::string, std::string>> legend;
  Table rows;
  double before = 0;
  for (const auto& [what, seconds] : parts) {
    const double percent = total > 0 ? 100 * seconds / total : 0;
    legend.emplace_back(series_style(rows.size()), what);
    bar.box({before, -0.4}, {before + percent, 0.4}, legend.back().first);
    rows.push_back({what, human_seconds(seconds), format("%.0f %%", percent)});
    before += percent;
  }
  page.heading("Time").legend(legend).chart(bar).table({"part", "time", "share"}, rows);
}

std::string asked_for(const Settings& settings) {
  const std::string count = grouped(settings.eigen.nev) + " eigenvalues, ";
  if (settings.general && settings.sigma)
    return count + "nearest to " + complex_text({*settings.sigma, settings.sigma_imaginary});
  if (settings.general) return count + name_of(settings.part);
  if (settings.interval) return "all eigenvalues in " + interval_text(*settings.interval);
  return count + name_of(settings.eigen.which);
}

template <class Result>
Facts facts_of(const Result& result, const Settings& settings, const RunFacts& facts) {
  Facts rows;
  const auto add = [&rows](const char* name, const std::string& value) { rows.emplace_back(name, value); };
  add("matrix", grouped(facts.input.rows) + " x " + grouped(facts.input.cols) + ", " + grouped(facts.input.nonzeros) +
                    " entries, " + facts.input.convention);
  add("asked for", asked_for(settings));
  if (settings.sigma && !settings.general) add("near", format("%.16g", *settings.sigma));
  add("tolerance", format("%.3g, ", settings.eigen.tol) + name_of(settings.eigen.convergence));
  add("method", facts.method);
  if constexpr (std::is_same_v<Result, GeneralResult>)
    add("block size, basis", grouped(result.block_size) + ", " + grouped(result.max_basis));
  else
    add("block size, basis", grouped(facts.block_size) + ", " + grouped(facts.max_basis));
  add("block steps, restarts", grouped(result.iterations) + ", " + grouped(result.restarts));
  add("operator applications", grouped(result.operator_applications) + ", of them " +
                                   grouped(result.verification_applications) + " for verification");
  add("complete",
      std::string(result.verified ? "yes, by " : "not shown; ") + std::string(solvers::name_of(result.verification)));
  if constexpr (!std::is_same_v<Result, GeneralResult>)
    add("loss of orthogonality", format("%.2g", result.orthogonality_loss));
  add("norm of the matrix", format("at least %.6g", result.norm));
  add("device, threads, seed",
      facts.device + ", " + std::to_string(facts.threads) + ", " + std::to_string(settings.common.seed));
  add("time", human_seconds(facts.elapsed_seconds));
  if (!facts.note.empty()) add("note", facts.note);
  return rows;
}

std::string pair_name(std::size_t i, bool converged) {
  return std::to_string(i) + (converged ? "" : " (not converged)");
}

template <class T>
void add_pairs(HtmlPage& page, const EigenResult<T>& result, const RunFacts& facts) {
  Table pairs;
  for (std::size_t i = 0; i < result.values.size(); ++i)
    pairs.push_back({pair_name(i, result.converged_pairs[i]), format("%.16g", result.values[i]),
                     format("%.2e", result.error_bounds[i]), angle_text(result.vector_errors[i]),
                     format("%.2e", result.residual_norms[i]), std::to_string(result.multiplicities[i])});
  page.table({"index", facts.quantity, "error bound", "angle of the vector", "residual", "copies"}, pairs);
}

void add_pairs(HtmlPage& page, const GeneralResult& r, const RunFacts&) {
  Table pairs;
  for (std::size_t i = 0; i < r.values.size(); ++i)
    pairs.push_back({pair_name(i, r.converged_pairs[i]), complex_text(r.values[i]), format("%.2e", r.residual_norms[i]),
                     format("%.2e", r.backward_errors[i]), format("%.2e", r.conditions[i]),
                     angle_text(r.vector_errors[i])});
  page.table({"index", "eigenvalue", "residual", "backward error", "condition", "angle of the vector"}, pairs);
}

}  // namespace

template <class Result>
void write_html_report(const Result& result, const Settings& settings, const RunFacts& facts) {
  HtmlPage page("tssolve: " + facts.input.where.text());
  page.paragraph(result.reason + ".");
  add_convergence(page, result.history);
  page.heading("Spectrum");
  if (result.values.empty())
    page.paragraph("No eigenvalues.");
  else
    page.chart(spectrum_of(result, settings));
  if constexpr (!std::is_same_v<Result, GeneralResult>) {
    if (const auto end = cut_off_at(result))
      page.paragraph("Dashed above its diamond: " + cut_off_text(result, *end) + "; a larger -k shows them.");
    if (!result.values.empty() && std::isfinite(result.gap))
      page.paragraph(format("Gap to the next eigenvalue, about %.6g: %.3g.", result.next_value, result.gap));
  }
  add_residuals(page, result, settings);
  add_time(page, result.seconds, facts.elapsed_seconds);
  page.heading("Plan").facts(facts_of(result, settings, facts));
  page.heading("Pairs");
  add_pairs(page, result, facts);
  page.origin(settings.common.command_line, version_text("tssolve")).write(settings.report);
}

template void write_html_report(const EigenResult<double>&, const Settings&, const RunFacts&);
template void write_html_report(const EigenResult<std::complex<double>>&, const Settings&, const RunFacts&);
template void write_html_report(const GeneralResult&, const Settings&, const RunFacts&);

}  // namespace ts::app::tssolve
