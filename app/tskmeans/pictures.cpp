#include "tallskinny/app/tskmeans/pictures.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "tallskinny/app/common/html_page.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::tskmeans {

namespace {

constexpr index_t sample_points = 2000;
constexpr index_t most_features = 1000;  ///< of which principal components are computed

/// Rows at even distances, without their mean, and the labels they have.
struct Sample {
  Matrix<double> points;
  std::vector<std::int32_t> labels;
};

/// Of the rows of all ranks, which call it together.
Sample sample_of(const Context& ctx, const solvers::RowSource& rows, std::span<const std::int32_t> labels) {
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
        points.insert(points.end(), row.begin(), row.end());
        theirs.push_back(labels[static_cast<std::size_t>(i)]);
      }
    });
  });
  const std::vector<double> all = gather_lists<double>(ctx, points);
  Sample s{Matrix<double>::copy_of(HostView<const double>(all.data(), count, d)),
           gather_lists<std::int32_t>(ctx, theirs)};
  for (index_t j = 0; j < d; ++j) {
    double mean = 0;
    for (index_t i = 0; i < count; ++i) mean += s.points(i, j) / static_cast<double>(count);
    for (index_t i = 0; i < count; ++i) s.points(i, j) -= mean;
  }
  return s;
}

/// The two directions of largest variance: eigenvectors of the Gram matrix of the centred sample; and the
/// share of the variance that they hold.
std::vector<app::Point> principal_components(const Sample& s, double& share) {
  const index_t d = s.points.cols(), count = s.points.rows();
  const Context ctx;
  Matrix<double> gram(d, d), plane = Matrix<double>::zeros(d, 2), flat(count, 2);
  ts::gram(ctx, Op::adjoint, 1.0, s.points.cview(), 0.0, gram.view());
  const auto eigen = ortho::hermitian_eigen<double>(gram.cview());
  std::vector<index_t> order(static_cast<std::size_t>(d));
  for (index_t j = 0; j < d; ++j) order[static_cast<std::size_t>(j)] = j;
  std::sort(order.begin(), order.end(), [&](index_t a, index_t b) {
    return eigen.values[static_cast<std::size_t>(a)] > eigen.values[static_cast<std::size_t>(b)];
  });
  double all = 0, held = 0;
  for (const double v : eigen.values) all += std::max(v, 0.0);
  for (index_t q = 0; q < std::min<index_t>(2, d); ++q) {
    const index_t which = order[static_cast<std::size_t>(q)];
    held += std::max(eigen.values[static_cast<std::size_t>(which)], 0.0);
    for (index_t j = 0; j < d; ++j) plane(j, q) = eigen.vectors(j, which);
  }
  share = all > 0 ? held / all : 0;
  tsmm(ctx, Op::none, 1.0, s.points.cview(), plane.cview(), 0.0, flat.view());
  std::vector<app::Point> points;
  points.reserve(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) points.push_back({flat(i, 0), flat(i, 1)});
  return points;
}

void add_inertia(app::HtmlPage& page, const Outcome& out) {
  struct Curve {
    std::string name;
    std::vector<app::Point> points;
  };
  std::map<std::pair<index_t, int>, Curve> curves;
  for (const solvers::KMeansProgress& p : out.iterations) {
    Curve& curve = curves[{p.clusters, p.run}];
    curve.name = app::grouped(p.clusters) + " clusters" + (p.runs > 1 ? ", start " + std::to_string(p.run + 1) : "");
    curve.points.push_back({static_cast<double>(p.iteration), p.inertia});
  }
  if (curves.empty()) return;
  app::Chart chart("", {"iteration"}, {"inertia"});
  std::vector<std::pair<std::string, std::string>> legend;
  for (const auto& [key, curve] : curves) {
    legend.emplace_back(app::series_style(legend.size()), curve.name);
    chart.line(curve.points, legend.back().first).dots(curve.points, legend.back().first);
  }
  page.heading("Inertia by iteration");
  if (legend.size() > 1 && legend.size() <= app::series_styles) page.legend(legend);
  page.chart(chart);
}

void add_sizes(app::HtmlPage& page, const std::vector<std::int64_t>& sizes) {
  app::Chart chart("", {"cluster"}, {"points"});
  for (std::size_t m = 0; m < sizes.size(); ++m) {
    const auto at = static_cast<double>(m);
    chart.box({at - 0.4, 0}, {at + 0.4, static_cast<double>(sizes[m])}, app::series_style(m));
  }
  page.heading("Sizes of the clusters").chart(chart);
}

void add_components(app::HtmlPage& page, const Sample& sample) {
  double share = 0;
  const auto points = principal_components(sample, share);
  std::array<std::vector<app::Point>, app::series_styles> of_style;
  for (std::size_t i = 0; i < points.size(); ++i)
    of_style[static_cast<std::size_t>(sample.labels[i]) % of_style.size()].push_back(points[i]);
  app::Chart chart("", {"first component"}, {"second component"}, {760, 440});
  for (std::size_t c = 0; c < of_style.size(); ++c) chart.dots(std::move(of_style[c]), app::series_style(c) + " soft");
  page.heading("Two principal components");
  page.paragraph(app::grouped(std::ssize(points)) + " points in the colours of their clusters; the plane holds " +
                 app::short_number(100 * share, 3) + " % of their variance.");
  page.chart(chart);
}

void add_choices(app::HtmlPage& page, const ProgramOptions& o, const Outcome& out) {
  std::vector<app::Point> elbow, silhouette;
  std::vector<std::vector<std::string>> rows;
  for (const Outcome::Choice& c : out.choices) {
    const auto k = static_cast<double>(c.clusters);
    elbow.push_back({k, c.inertia});
    silhouette.push_back({k, c.measures.simplified_silhouette});
    rows.push_back({app::grouped(c.clusters), app::short_number(c.inertia, 8),
                    app::short_number(c.measures.simplified_silhouette, 4),
                    app::short_number(c.measures.davies_bouldin, 4),
                    app::short_number(c.measures.calinski_harabasz, 5)});
  }
  page.heading("How many clusters");
  page.paragraph(app::grouped(std::ssize(out.found.sizes)) + " clusters were chosen by " + name_of(o.choose) + ".");
  page.chart(app::Chart("", {"clusters"}, {"inertia"}).line(elbow, "c0").dots(elbow, "c0"));
  page.chart(app::Chart("", {"clusters"}, {"simplified silhouette"}).line(silhouette, "c0").dots(silhouette, "c0"));
  page.table({"clusters", "inertia", "simplified silhouette", "Davies-Bouldin", "Calinski-Harabasz"}, rows);
}

}  // namespace

void write_pictures(const ProgramOptions& o, const Outcome& out, const Context& ctx, const solvers::RowSource& rows) {
  const solvers::KMeansResult& r = out.found;
  const bool shows_points = rows.cols() <= most_features;
  const Sample sample = shows_points ? sample_of(ctx, rows, r.labels) : Sample{};
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
  if (out.measures) {
    facts.emplace_back("simplified silhouette", app::short_number(out.measures->simplified_silhouette, 4));
    facts.emplace_back("Davies-Bouldin", app::short_number(out.measures->davies_bouldin, 4));
    facts.emplace_back("Calinski-Harabasz", app::short_number(out.measures->calinski_harabasz, 5));
  }
  page.facts(facts);
  if (!out.choices.empty()) add_choices(page, o, out);
  add_inertia(page, out);
  add_sizes(page, r.sizes);
  if (shows_points) add_components(page, sample);
  page.write(o.report);
}

}  // namespace ts::tskmeans
