#include "tallskinny/app/tssolve/html_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/common/text_file.hpp"
#include "tallskinny/app/tssolve/svg.hpp"

namespace ts::app::tssolve {

namespace {

/// Lines with more points than pixels are thinned.
constexpr std::size_t most_points = 600;
/// Residuals of zero are drawn here.
constexpr double smallest_ratio = 1e-12;

constexpr const char* style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:800px;margin:2em auto;padding:0 1em;color:#222;"
    "background:#fff}h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}svg{width:100%;height:auto}"
    ".frame{fill:none;stroke:#999}.tick{font-size:11px;fill:#555}.label{font-size:12px;fill:#222}"
    "polyline{fill:none}.pair{stroke:#1b6ca8;stroke-width:1;opacity:.55}.limit{stroke:#b00020;stroke-"
    "dasharray:5 4}"
    ".stem{stroke:#1b6ca8}.outside{stroke:#888;stroke-dasharray:2 3}.good{fill:#1b6ca8}.bad{fill:#b00020}"
    ".next{fill:#888}table{border-collapse:collapse}td,th{padding:.1em .8em;text-align:right;"
    "border-bottom:1px solid "
    "#ddd}td:first-child,th:first-child{text-align:left}.bar{display:flex;height:1.6em}"
    ".bar div{overflow:hidden;color:#fff;font-size:12px;padding-left:4px;white-space:nowrap}";

std::string row(const std::string& name, const std::string& value) {
  return "<tr><td>" + markup_text(name) + "</td><td>" + markup_text(value) + "</td></tr>\n";
}

std::string number(double x, const char* format = "%.16g") {
  char text[60];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

/// What a residual is compared with.
double tolerance_of(const Settings& settings, double norm, double value) {
  double scale = 1;
  if (settings.eigen.convergence == solvers::Convergence::norm) scale = norm;
  if (settings.eigen.convergence == solvers::Convergence::rel) scale = std::abs(value);
  return settings.eigen.tol * scale;
}

std::string convergence_chart(const std::vector<solvers::HistoryEntry>& history) {
  std::size_t pairs = 0;
  double low = 0.1, high = 10, last = 1;
  for (const auto& entry : history) {
    pairs = std::max(pairs, entry.ratios.size());
    last = std::max(last, static_cast<double>(entry.operator_applications));
    for (const double r : entry.ratios)
      if (std::isfinite(r)) low = std::min(low, std::max(r, smallest_ratio)), high = std::max(high, r);
  }
  if (pairs == 0) return "<p>All eigenvalues were computed at once; there is no iteration to show.</p>\n";
  Chart chart({0, last, false, "operator applications"}, {low, high, true, "residual / tolerance"},
              "convergence of each wanted pair");
  const std::size_t stride = history.size() / most_points + 1;
  for (std::size_t i = 0; i < pairs; ++i) {
    Chart::Points points;
    for (std::size_t h = 0; h < history.size(); ++h)
      if (history[h].ratios.size() > i && (h % stride == 0 || h + 1 == history.size()))
        points.emplace_back(static_cast<double>(history[h].operator_applications),
                            std::max(history[h].ratios[i], smallest_ratio));
    chart.line(points, "pair");
  }
  chart.line({{0, 1}, {last, 1}}, "limit");
  return chart.svg();
}

template <class T>
std::string spectrum_chart(const solvers::EigenResult<T>& result) {
  if (result.values.empty()) return "<p>No eigenvalues.</p>\n";
  auto [low, high] = std::minmax_element(result.values.begin(), result.values.end());
  double from = *low, to = *high;
  if (std::isfinite(result.next_value))
    from = std::min(from, result.next_value), to = std::max(to, result.next_value);
  const double margin = 0.03 * (to - from);
  const auto most = *std::max_element(result.multiplicities.begin(), result.multiplicities.end());
  const double top = static_cast<double>(most) + 1;
  Chart chart({from - margin, to + margin, false, "eigenvalue"}, {0, top, false, "copies found"},
              "spectrum found");
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const double value = result.values[i], copies = static_cast<double>(result.multiplicities[i]);
    chart.line({{value, 0}, {value, copies}}, "stem");
    chart.dot(value, copies, result.converged_pairs[i] ? "good" : "bad",
              number(value) + ", " + std::to_string(result.multiplicities[i]) + " found");
  }
  if (std::isfinite(result.next_value)) {
    chart.line({{result.next_value, 0}, {result.next_value, top}}, "outside");
    chart.dot(result.next_value, 0.5, "next", "next eigenvalue, about " + number(result.next_value, "%.6g"));
  }
  return chart.svg();
}

template <class T>
std::string residual_chart(const solvers::EigenResult<T>& result, const Settings& settings) {
  double low = 0.1, high = 10;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const double tolerance = tolerance_of(settings, result.norm, result.values[i]);
    const double ratio = result.residual_norms[i] / tolerance;
    ratios.push_back(std::isfinite(ratio) ? std::clamp(ratio, smallest_ratio, 1 / smallest_ratio) : 1);
    low = std::min(low, ratios.back()), high = std::max(high, ratios.back());
  }
  const double last = std::max(1.0, static_cast<double>(ratios.size()) - 1);
  Chart chart({0, last, false, "pair"}, {low, high, true, "residual / tolerance"},
              "residuals against the tolerance");
  for (std::size_t i = 0; i < ratios.size(); ++i)
    chart.dot(static_cast<double>(i), ratios[i], result.converged_pairs[i] ? "good" : "bad",
              "pair " + std::to_string(i) + ": " + number(result.residual_norms[i], "%.3g"));
  chart.line({{0, 1}, {last, 1}}, "limit");
  return chart.svg();
}

std::string time_bar(const solvers::KrylovSeconds& s, double elapsed) {
  const double rest = std::max(0.0, elapsed - s.applying - s.orthogonalising - s.restarting - s.small);
  const struct {
    const char *what, *colour;
    double seconds;
  } parts[] = {{"operator", "#1b6ca8", s.applying},
               {"orthogonalisation", "#3a8f5c", s.orthogonalising},
               {"restarts", "#b5762a", s.restarting},
               {"projected problem", "#7a4fa0", s.small},
               {"factorisation, residuals, files", "#777777", rest}};
  const double total = s.applying + s.orthogonalising + s.restarting + s.small + rest;
  std::string bar = "<div class=\"bar\">", table = "<table>\n";
  for (const auto& part : parts) {
    const double percent = total > 0 ? 100 * part.seconds / total : 0;
    bar.append("<div style=\"width:")
        .append(number(percent, "%.2f"))
        .append("%;background:")
        .append(part.colour);
    bar.append("\" title=\"")
        .append(part.what)
        .append("\">")
        .append(percent > 12 ? part.what : "")
        .append("</div>");
    table += "<tr><td>" + std::string(part.what) + "</td><td>" + human_seconds(part.seconds) + "</td><td>" +
             number(percent, "%.0f") + " %</td></tr>\n";
  }
  return bar + "</div>\n" + table + "</table>\n";
}

}  // namespace

template <class T>
std::string html_report(const solvers::EigenResult<T>& result, const Settings& settings,
                        const RunFacts& facts) {
  std::string page =
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n<title>tssolve: " +
      markup_text(facts.input.where.text()) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n";
  page +=
      "<h1>" + markup_text(facts.input.where.text()) + "</h1>\n<p>" + markup_text(result.reason) + ".</p>\n";
  page += "<h2>Convergence</h2>\n" + convergence_chart(result.history);
  page += "<h2>Spectrum</h2>\n" + spectrum_chart(result);
  if (std::isfinite(result.gap))
    page += "<p>Gap to the next eigenvalue, about " + number(result.next_value, "%.6g") + ": " +
            number(result.gap, "%.3g") + ".</p>\n";
  page += "<h2>Residuals</h2>\n" + residual_chart(result, settings);
  page += "<h2>Time</h2>\n" + time_bar(result.seconds, facts.elapsed_seconds);
  page += "<h2>Plan</h2>\n<table>\n";
  page += row("matrix", grouped(facts.input.rows) + " x " + grouped(facts.input.cols) + ", " +
                            grouped(facts.input.nonzeros) + " entries, " + facts.input.convention);
  page += row("asked for", settings.interval ? "all eigenvalues in " + interval_text(*settings.interval)
                                             : grouped(settings.eigen.nev) + " eigenvalues, " +
                                                   name_of(settings.eigen.which));
  if (settings.sigma) page += row("near", number(*settings.sigma));
  page += row("tolerance", number(settings.eigen.tol, "%.3g") + ", " + name_of(settings.eigen.convergence));
  page += row("method", facts.method);
  page += row("block size, basis", grouped(facts.block_size) + ", " + grouped(facts.max_basis));
  page += row("block steps, restarts", grouped(result.iterations) + ", " + grouped(result.restarts));
  page += row("operator applications", grouped(result.operator_applications) + ", of them " +
                                           grouped(result.verification_applications) + " for verification");
  page += row("complete", std::string(result.verified ? "yes, by " : "not shown; ") +
                              std::string(solvers::name_of(result.verification)));
  page += row("loss of orthogonality", number(result.orthogonality_loss, "%.2g"));
  page += row("norm of the matrix", "at least " + number(result.norm, "%.6g"));
  page += row("device, threads, seed", facts.device + ", " + std::to_string(facts.threads) + ", " +
                                           std::to_string(settings.common.seed));
  page += row("time", human_seconds(facts.elapsed_seconds));
  if (!facts.note.empty()) page += row("note", facts.note);
  page +=
      "</table>\n<h2>Pairs</h2>\n<table>\n<tr><th>index</th><th>eigenvalue</th><th>error bound</th>"
      "<th>residual</th><th>copies</th></tr>\n";
  for (std::size_t i = 0; i < result.values.size(); ++i)
    page += "<tr><td>" + std::to_string(i) + (result.converged_pairs[i] ? "" : " (not converged)") +
            "</td><td>" + number(result.values[i]) + "</td><td>" + number(result.error_bounds[i], "%.2e") +
            "</td><td>" + number(result.residual_norms[i], "%.2e") + "</td><td>" +
            std::to_string(result.multiplicities[i]) + "</td></tr>\n";
  page += "</table>\n<p>" + markup_text(version_text("tssolve")) + "</p>\n</body>\n</html>\n";
  return page;
}

template <class T>
void write_html_report(const solvers::EigenResult<T>& result, const Settings& settings,
                       const RunFacts& facts) {
  app::write_text_file(settings.report, html_report(result, settings, facts));
}

#define TS_INSTANTIATE(T)                                                                                \
  template std::string html_report<T>(const solvers::EigenResult<T>&, const Settings&, const RunFacts&); \
  template void write_html_report<T>(const solvers::EigenResult<T>&, const Settings&, const RunFacts&);
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts::app::tssolve
