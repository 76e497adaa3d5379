#include "tallskinny/app/tskmeans/outputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "tallskinny/app/common/html_page.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/kmeans/measures.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::tskmeans {

namespace {

constexpr index_t sample_points = 2000;
constexpr index_t most_features = 1000;     ///< of which principal components are computed
constexpr std::size_t most_named = 50;      ///< centres that are drawn, with their numbers
constexpr std::size_t most_described = 64;  ///< clusters in the table
constexpr std::ptrdiff_t most_telling = 3;  ///< features of each
constexpr double least_telling = 0.1;       ///< standard deviations, which tell nothing

/// Rows at even distances, without their mean, and the labels they have.
struct Sample {
  Matrix<double> points;
  std::vector<double> mean;
  std::vector<std::int32_t> labels;
};

/// Divides a row by its norm, unless that is 0.
void normalise(std::vector<double>& row) {
  double squares = 0;
  for (const double x : row) squares += x * x;
  if (squares > 0)
    for (double& x : row) x /= std::sqrt(squares);
}

/// A sample of the rows of all ranks, or of their directions for the cosine metric. All ranks call it together.
Sample sample_of(const Context& ctx, const solvers::RowSource& rows, std::span<const std::int32_t> labels,
                 solvers::KMeansMetric metric) {
  const index_t n = all_rows(ctx, rows.rows()), d = rows.cols(), count = std::min(n, sample_points);
  const index_t first_here = first_row(ctx);
  std::vector<double> points, row(static_cast<std::size_t>(d));
  std::vector<std::int32_t> theirs;
  index_t taken = 0;
  solvers::agreed(ctx, [&] {
    rows.for_each_block([&](index_t first, const Rows& block) {
      for (; taken < count; ++taken) {
        const index_t i = -first_here + static_cast<index_t>(static_cast<double>(taken) * static_cast<double>(n) /
                                                             static_cast<double>(count));
        if (i < first) continue;
        if (i >= first + block.rows()) break;
        block.load(i - first, row.data());
        if (metric == solvers::KMeansMetric::cosine) normalise(row);
        points.insert(points.end(), row.begin(), row.end());
        theirs.push_back(labels[static_cast<std::size_t>(i)]);
      }
    });
  });
  const std::vector<double> all = gather_lists<double>(ctx, points);
  Sample s{Matrix<double>::copy_of(HostView<const double>(all.data(), count, d)),
           std::vector<double>(static_cast<std::size_t>(d)), gather_lists<std::int32_t>(ctx, theirs)};
  for (index_t j = 0; j < d; ++j) {
    double& mean = s.mean[static_cast<std::size_t>(j)];
    for (index_t i = 0; i < count; ++i) mean += s.points(i, j) / static_cast<double>(count);
    for (index_t i = 0; i < count; ++i) s.points(i, j) -= mean;
  }
  return s;
}

/// The two directions of largest variance (d x 2): eigenvectors of the Gram matrix of the centred sample; and the
/// share of the variance that they hold.
struct Plane {
  Matrix<double> directions;
  double share = 0;
};
Plane principal_components(const Sample& s) {
  const index_t d = s.points.cols();
  const Context ctx;
  Matrix<double> gram(d, d);
  Plane plane{Matrix<double>::zeros(d, 2)};
  ts::gram(ctx, Op::adjoint, 1.0, s.points.cview(), 0.0, gram.view());
  const auto eigen = ortho::hermitian_eigen<double>(gram.cview());  // ascending
  double all = 0, held = 0;
  for (const double v : eigen.values) all += std::max(v, 0.0);
  for (index_t q = 0; q < std::min<index_t>(2, d); ++q) {
    const index_t which = d - 1 - q;
    held += std::max(eigen.values[static_cast<std::size_t>(which)], 0.0);
    for (index_t j = 0; j < d; ++j) plane.directions(j, q) = eigen.vectors(j, which);
  }
  plane.share = all > 0 ? held / all : 0;
  return plane;
}

/// Positions of points without the mean in the plane.
std::vector<app::Point> in_plane(const Plane& plane, HostView<const double> points) {
  Matrix<double> flat(points.rows(), 2);
  tsmm({}, Op::none, 1.0, points, plane.directions.cview(), 0.0, flat.view());
  std::vector<app::Point> found;
  found.reserve(static_cast<std::size_t>(points.rows()));
  for (index_t i = 0; i < points.rows(); ++i) found.push_back({flat(i, 0), flat(i, 1)});
  return found;
}

/// Each number of clusters has a chart: their inertias differ by more than what iterations change.
void add_inertia(app::HtmlPage& page, const Outcome& out) {
  using Starts = std::map<int, std::vector<app::Point>>;
  std::map<index_t, Starts> of_counts;
  std::size_t starts = 0;
  for (const solvers::KMeansProgress& p : out.iterations) {
    of_counts[p.clusters][p.run].push_back({static_cast<double>(p.iteration), p.inertia});
    starts = std::max(starts, of_counts[p.clusters].size());
  }
  if (of_counts.empty()) return;
  const bool several = of_counts.size() > 1;
  std::vector<app::Chart> charts;
  for (const auto& [clusters, curves] : of_counts) {
    charts.emplace_back(several ? app::grouped(clusters) + " clusters" : "", app::counts("iteration"),
                        app::Axis{"inertia"}, several ? app::Chart::panel : app::Chart::wide);
    std::size_t which = 0;
    for (const auto& [run, points] : curves) {
      const std::string style = app::series_style(which++);
      charts.back().line(points, style).dots(points, style);
    }
  }
  page.heading("Inertia by iteration");
  std::vector<std::pair<std::string, std::string>> legend;
  for (std::size_t run = 0; run < starts; ++run)
    legend.emplace_back(app::series_style(run), "start " + std::to_string(run + 1));
  if (legend.size() > 1 && legend.size() <= app::series_styles) page.legend(legend);
  if (several)
    page.panels(charts);
  else
    page.chart(charts.front());
}

void add_sizes(app::HtmlPage& page, const std::vector<std::int64_t>& sizes) {
  app::Chart chart("", app::counts("cluster"), app::counts("points"));
  for (std::size_t m = 0; m < sizes.size(); ++m) {
    const auto at = static_cast<double>(m);
    chart.box({at - 0.4, 0}, {at + 0.4, static_cast<double>(sizes[m])}, app::series_style(m));
  }
  page.heading("Sizes of the clusters").chart(chart);
}

std::string points_text(std::int64_t count) { return app::grouped(count) + (count == 1 ? " point" : " points"); }

void add_components(app::HtmlPage& page, const Sample& sample, const solvers::KMeansResult& r,
                    solvers::KMeansMetric metric) {
  const Plane plane = principal_components(sample);
  const auto points = in_plane(plane, sample.points.cview());
  std::array<std::vector<app::Point>, app::series_styles> of_style;
  for (std::size_t i = 0; i < points.size(); ++i)
    of_style[static_cast<std::size_t>(sample.labels[i]) % of_style.size()].push_back(points[i]);
  app::Chart chart("", {"first component"}, {"second component"}, {760, 440});
  for (std::size_t c = 0; c < of_style.size(); ++c) chart.dots(std::move(of_style[c]), app::series_style(c) + " soft");
  auto centers = Matrix<double>::copy_of(r.centers.cview());
  for (index_t m = 0; m < centers.rows(); ++m)
    for (index_t j = 0; j < centers.cols(); ++j) centers(m, j) -= sample.mean[static_cast<std::size_t>(j)];
  const auto where = in_plane(plane, centers.cview());
  std::vector<std::pair<std::string, std::string>> legend;
  for (std::size_t m = 0; m < where.size(); ++m) {
    const std::string name = "cluster " + app::grouped(static_cast<std::int64_t>(m));
    if (where.size() <= most_named)
      chart.diamond(where[m], app::series_style(m), std::to_string(m),
                    "centre of " + name + ", " + points_text(r.sizes[m]));
    if (where.size() <= app::series_styles) legend.emplace_back(app::series_style(m) + " dot", name);
  }
  page.heading("Two principal components");
  std::string words = app::grouped(std::ssize(points)) + " points in the colours of their clusters; the plane holds " +
                      app::short_number(100 * plane.share, 3) + " % of their variance.";
  if (metric == solvers::KMeansMetric::cosine) words += " Points are drawn by their directions.";
  if (where.size() <= most_named) words += " Diamonds with numbers are the centres.";
  if (where.size() > app::series_styles) words += " Every tenth cluster has the same colour.";
  page.paragraph(words);
  if (!legend.empty()) page.legend(legend);
  page.chart(chart);
}

/// The features in which a cluster differs most from all points, in that order. `names`: of all features, or none.
std::string features_text(const Matrix<double>& deviations, index_t cluster, const std::vector<std::string>& names) {
  std::vector<index_t> features(static_cast<std::size_t>(deviations.cols()));
  std::iota(features.begin(), features.end(), index_t{0});
  const auto shown = features.begin() + std::min(most_telling, std::ssize(features));
  std::partial_sort(features.begin(), shown, features.end(), [&](index_t a, index_t b) {
    return std::abs(deviations(cluster, a)) > std::abs(deviations(cluster, b));
  });
  std::string text;
  for (auto j = features.begin(); j != shown && std::abs(deviations(cluster, *j)) >= least_telling; ++j)
    text += (text.empty() ? "" : ", ") + (names.empty() ? std::to_string(*j) : names[static_cast<std::size_t>(*j)]) +
            ": " + format("%+.2f", deviations(cluster, *j));
  return text.empty() ? "none" : text;
}

void add_traits(app::HtmlPage& page, const ProgramOptions& o, const Outcome& out,
                const solvers::ClusterTraits& traits) {
  const solvers::KMeansResult& r = out.found;
  const bool named = std::ssize(out.points.column_names) == out.points.cols;
  const std::vector<std::string> names = named ? out.points.column_names : std::vector<std::string>();
  std::vector<std::size_t> clusters(r.sizes.size());
  std::iota(clusters.begin(), clusters.end(), std::size_t{0});
  const bool all = clusters.size() <= most_described;
  if (!all) {  // the largest
    std::nth_element(clusters.begin(), clusters.begin() + most_described, clusters.end(),
                     [&r](std::size_t a, std::size_t b) { return r.sizes[a] > r.sizes[b]; });
    clusters.resize(most_described);
    std::sort(clusters.begin(), clusters.end());
  }
  const double points = static_cast<double>(std::accumulate(r.sizes.begin(), r.sizes.end(), std::int64_t{0}));
  std::vector<std::vector<std::string>> rows;
  rows.reserve(clusters.size());
  for (const std::size_t m : clusters) {
    std::string nearest;
    for (const index_t row : traits.nearest[m])
      nearest += (nearest.empty() ? "" : ", ") + std::to_string(o.read.row_begin + row);
    rows.push_back({std::to_string(m), app::grouped(r.sizes[m]),
                    app::short_number(100 * static_cast<double>(r.sizes[m]) / points, 3) + " %",
                    r.sizes[m] == 0 ? "" : features_text(traits.deviations, static_cast<index_t>(m), names), nearest});
  }
  page.heading("Clusters in detail");
  page.paragraph((all ? "" : "The " + std::to_string(most_described) + " largest clusters. ") +
                 std::string("Features are those whose mean differs most from that of all points, in units of the "
                             "standard deviation of all points. Rows are the members nearest to the centre") +
                 (named ? ", counted from 0 as in the file." : ". Both are counted from 0 as in the file.") +
                 (o.kmeans.metric == solvers::KMeansMetric::cosine ? " Points count by their directions." : ""));
  page.table({"cluster", "points", "share", "features", "rows"}, rows, app::HtmlPage::Cells::words);
}

void add_choices(app::HtmlPage& page, const ProgramOptions& o, const Outcome& out) {
  std::vector<app::Point> elbow, silhouette;
  std::vector<std::vector<std::string>> rows;
  for (const Outcome::Choice& c : out.choices) {
    const auto k = static_cast<double>(c.clusters);
    elbow.push_back({k, c.inertia});
    silhouette.push_back({k, c.measures.simplified_silhouette});
    rows.push_back({app::grouped(c.clusters), app::short_number(c.inertia, 8)});
    for (const NamedMeasure& each : named(c.measures)) rows.back().push_back(each.text());
  }
  page.heading("How many clusters");
  page.paragraph(app::grouped(std::ssize(out.found.sizes)) + " clusters were chosen by " + name_of(o.choose) + ".");
  page.chart(app::Chart("", app::counts("clusters"), {"inertia"}).line(elbow, "c0").dots(elbow, "c0"));
  page.chart(
      app::Chart("", app::counts("clusters"), {"simplified silhouette"}).line(silhouette, "c0").dots(silhouette, "c0"));
  page.table({"clusters", "inertia", "simplified silhouette", "Davies-Bouldin", "Calinski-Harabasz"}, rows);
}

}  // namespace

void write_pictures(const ProgramOptions& o, const Outcome& out, const Context& ctx, const solvers::RowSource& rows) {
  const solvers::KMeansResult& r = out.found;
  const bool shows_points = rows.cols() <= most_features;
  const Sample sample = shows_points ? sample_of(ctx, rows, r.labels, o.kmeans.metric) : Sample{};
  const auto traits = solvers::traits_of(ctx, rows, r.centers.cview(), r.labels, o.kmeans.metric);
  if (ctx.communicator->rank() > 0) return;
  app::HtmlPage page("Clusters of " + out.points.where.text());
  std::vector<std::pair<std::string, std::string>> facts = {
      {"points", app::grouped(out.points.rows) + " with " + app::grouped(out.points.cols) + " features"},
      {"clusters", app::grouped(std::ssize(r.sizes))},
      {"inertia", app::short_number(r.inertia, 10)}};
  if (!out.predicted) {
    facts.emplace_back("algorithm", name_of(o.kmeans.algorithm));
    facts.emplace_back("iterations", std::to_string(r.n_iter) + " (" + name_of(r.stop) + ")");
  }
  if (out.measures)
    for (const NamedMeasure& each : named(*out.measures)) facts.emplace_back(each.name, each.text());
  page.facts(facts);
  if (!out.choices.empty()) add_choices(page, o, out);
  add_inertia(page, out);
  add_sizes(page, r.sizes);
  add_traits(page, o, out, traits);
  if (shows_points) add_components(page, sample, r, o.kmeans.metric);
  page.origin(o.common.command_line, app::version_text("tskmeans")).write(o.report);
}

}  // namespace ts::tskmeans
