#include "tallskinny/app/tssolve/page_parts.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::app::tssolve {

namespace {

/// Lines with more points than pixels are thinned.
constexpr std::size_t most_points = 600;
/// Residuals of zero are drawn here.
constexpr double smallest_ratio = 1e-12;

/// What a residual is compared with.
double tolerance_of(const Settings& settings, double norm, double magnitude) {
  double scale = 1;
  if (settings.eigen.convergence == solvers::Convergence::norm) scale = norm;
  if (settings.eigen.convergence == solvers::Convergence::rel) scale = magnitude;
  return settings.eigen.tol * scale;
}

}  // namespace

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
  Chart chart("each wanted pair", {"operator applications", false, 0, last}, {"residual / tolerance", true});
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

void add_residuals(HtmlPage& page, const Residuals& residuals, const Settings& settings) {
  Chart chart("what each pair was found to be off by", {"pair"}, {"residual / tolerance", true});
  for (std::size_t i = 0; i < residuals.norms.size(); ++i) {
    const double tolerance = tolerance_of(settings, residuals.matrix_norm, residuals.magnitudes[i]);
    const double ratio = residuals.norms[i] / tolerance;
    const double drawn = std::isfinite(ratio) ? std::clamp(ratio, smallest_ratio, 1 / smallest_ratio) : 1;
    chart.dots({{static_cast<double>(i), drawn}}, residuals.converged[i] ? "good" : "bad",
               format("pair %zu: %.3g", i, residuals.norms[i]));
  }
  const double last = std::max(1.0, static_cast<double>(residuals.norms.size()) - 1);
  page.heading("Residuals").chart(chart.line({{0, 1}, {last, 1}}, "bad thin"));
}

void add_run(Facts& rows, double norm, const Settings& settings, const RunFacts& facts) {
  rows.emplace_back("norm of the matrix", format("at least %.6g", norm));
  rows.emplace_back("device, threads, seed",
                    facts.device + ", " + std::to_string(facts.threads) + ", " + std::to_string(settings.common.seed));
  rows.emplace_back("time", human_seconds(facts.elapsed_seconds));
  if (!facts.note.empty()) rows.emplace_back("note", facts.note);
}

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
  std::vector<std::vector<std::string>> rows;
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

}  // namespace ts::app::tssolve
