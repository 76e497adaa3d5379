#include "tallskinny/app/tskmeans/report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <utility>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/app/common/text.hpp"

namespace ts::tskmeans {

namespace {

constexpr std::size_t sizes_shown = 24;  ///< more clusters than this are summed up in one line

void print_sizes(const std::vector<index_t>& sizes) {
  if (sizes.size() > sizes_shown) {
    std::vector<index_t> sorted = sizes;
    std::sort(sorted.begin(), sorted.end());
    std::cout << "cluster sizes from " << app::grouped(sorted.front()) << " to " << app::grouped(sorted.back())
              << ", median " << app::grouped(sorted[sorted.size() / 2]) << '\n';
    return;
  }
  constexpr int bar = 40;
  const auto all = static_cast<double>(std::max(index_t{1}, std::accumulate(sizes.begin(), sizes.end(), index_t{0}))),
             largest = static_cast<double>(std::max(index_t{1}, *std::max_element(sizes.begin(), sizes.end())));
  std::cout << "cluster       points   share\n";
  for (std::size_t m = 0; m < sizes.size(); ++m) {
    const auto size = static_cast<double>(sizes[m]);
    std::cout << std::setw(7) << m << std::setw(13) << app::grouped(sizes[m]) << std::setw(7) << std::fixed
              << std::setprecision(1) << 100 * size / all << " %  "
              << std::string(static_cast<std::size_t>(std::lround(bar * size / largest)), '#') << '\n';
  }
}

void add_measures(app::JsonObject& json, const solvers::KMeansMeasures& m) {
  for (const NamedMeasure& each : named(m)) json.add(each.key, each.value);
}

/// Iterations one after the other with the same filter and scorer.
std::vector<app::JsonObject> passes_of(const std::vector<solvers::KMeansProgress>& iterations) {
  std::vector<app::JsonObject> passes;
  for (std::size_t begin = 0, end = 0; begin < iterations.size(); begin = end) {
    const solvers::KMeansProgress& first = iterations[begin];
    while (end < iterations.size() && iterations[end].filter == first.filter && iterations[end].scorer == first.scorer)
      ++end;
    passes.emplace_back();
    passes.back().add("iterations", static_cast<std::int64_t>(end - begin));
    passes.back().add("filter", name_of(first.filter)).add("scorer", first.scorer);
  }
  return passes;
}

}  // namespace

std::string NamedMeasure::text() const { return app::short_number(value, digits); }

void print_json(const ProgramOptions& o, const Outcome& out) {
  const solvers::KMeansResult& r = out.found;
  app::JsonObject json = app::JsonObject::of_schema("tskmeans");
  json.add("mode", out.predicted ? "predict" : "cluster").add("inertia", r.inertia);
  if (out.predicted) {
    json.add_null("n_iter").add_null("converged");  // there is no iteration
  } else {
    json.add("n_iter", r.n_iter).add("converged", r.converged()).add("stop", name_of(r.stop));
    json.add("relocated", r.relocated).add("passes", passes_of(out.iterations));
  }
  json.add("cluster_sizes", r.sizes);
  json.add("elapsed_seconds", out.elapsed_seconds).add("read_seconds", out.read_seconds);
  if (!out.predicted) json.add("seeding_seconds", r.seeding_seconds);
  json.add("n_clusters", std::ssize(r.sizes)).add("distinct_clusters", r.distinct);
  json.add("rescored", r.rescored);
  if (!out.predicted) json.add("skipped", r.skipped);
  if (out.violations >= 0) {
    json.add("verified", out.violations == 0).add("violations", out.violations);
    json.add("points_verified", out.verified);
  }
  json.add("precision", name_of(o.kmeans.precision));
  if (out.found.sampled > 0) json.add("points_sampled", r.sampled);
  if (out.measures) add_measures(json, *out.measures);
  if (!out.choices.empty()) {
    std::vector<app::JsonObject> choices;
    for (const Outcome::Choice& c : out.choices) {
      app::JsonObject& one = choices.emplace_back();
      one.add("n_clusters", c.clusters).add("inertia", c.inertia).add("n_iter", c.n_iter);
      one.add("converged", c.converged);
      add_measures(one, c.measures);
    }
    json.add("choices", choices).add("chosen_by", name_of(o.choose));
  }
  if (out.stream.block_rows > 0) {
    const solvers::PassTimes& t = out.stream.times;
    app::JsonObject stream;
    stream.add("from", out.stream.from_host ? "memory" : "file");
    stream.add("block_rows", out.stream.block_rows).add("passes", t.passes);
    stream.add("bytes_read", t.bytes).add("pass_seconds", t.all);
    stream.add("reading_seconds", t.reading).add("sending_seconds", t.sending);
    stream.add("using_seconds", t.using_them).add("share_of_slowest", t.share_of_slowest());
    json.add("streamed", stream);
  }
  json.add("metric", name_of(o.kmeans.metric));
  if (o.kmeans.metric == solvers::KMeansMetric::cosine) json.add("zero_rows", r.zero_rows);
  if (!out.predicted) {
    json.add("algorithm", name_of(o.kmeans.algorithm)).add("resumed", out.resumed);
    json.add("init", o.init).add("n_init", o.kmeans.n_init).add("best_run", r.run);
    json.add("max_iter", o.kmeans.max_iter).add("tol", o.kmeans.tol).add("tol_mode", name_of(o.kmeans.tolerance));
    json.add("seed", o.common.seed);
  }
  json.add("input", out.points.where.text()).add("rows", out.points.rows).add("cols", out.points.cols);
  json.add("type", ts::name_of(out.points.type)).add("sparse", out.points.sparse);
  app::add_missing(json, o.read, out.points);
  if (out.known) json.add("known_labels", out.known->labels).add("adjusted_rand_index", out.known->rand_index);
  json.add("device", out.device).add("threads", out.threads).add("ranks", out.ranks);
  if (out.ranks > 1) json.add("ranks_work", out.ranks_work);
  for (const auto& [name, file] : {std::pair("output", o.common.output), std::pair("centers_out", o.centers_out),
                                   std::pair("labels_out", o.labels_out)})
    if (!file.empty()) json.add(name, file);
  json.add("centers_type", ts::name_of(o.centers_type));
  json.add("notes", r.notes);
  std::cout << json.text() << '\n';
}

void print_summary(const ProgramOptions& o, const Outcome& out) {
  const solvers::KMeansResult& r = out.found;
  std::cout << out.points.where.text() << ": " << app::grouped(out.points.rows) << " points x "
            << app::grouped(out.points.cols) << " features (" << ts::name_of(out.points.type)
            << (out.points.sparse ? ", sparse" : "") << ")";
  if (const std::string axes = app::axes_text(out.points); !axes.empty()) std::cout << ": " << axes;
  std::cout << '\n';
  if (const std::string missing = app::missing_text(out.points); !missing.empty()) std::cout << missing << '\n';
  std::cout << std::ssize(r.sizes) << " clusters, inertia " << app::short_number(r.inertia, 10);
  if (!out.predicted) {
    std::cout << ", " << r.n_iter << (r.n_iter == 1 ? " iteration (" : " iterations (") << name_of(r.stop) << ')';
    if (r.relocated > 0)
      std::cout << ", " << r.relocated << " empty cluster" << (r.relocated == 1 ? "" : "s") << " relocated";
  }
  std::cout << ", " << app::human_seconds(out.elapsed_seconds) << '\n';
  if (r.sampled > 0)
    std::cout << "centres by a sample of " << app::grouped(r.sampled) << " points, labels of all points are exact\n";
  if (out.ranks > 1) std::cout << app::grouped(out.ranks) << " ranks, " << out.ranks_work << '\n';
  print_sizes(r.sizes);
  if (out.measures) {
    const char* before = "";
    for (const NamedMeasure& each : named(*out.measures))
      std::cout << std::exchange(before, ", ") << each.name << ' ' << each.text();
    std::cout << '\n';
  }
  if (!out.choices.empty())
    std::cout << "clusters       inertia  simplified silhouette  Davies-Bouldin  Calinski-Harabasz\n";
  for (const Outcome::Choice& c : out.choices) {
    std::cout << std::setw(8) << c.clusters << std::setw(14) << app::short_number(c.inertia, 8);
    for (const NamedMeasure& each : named(c.measures))
      std::cout << std::setw(2 + static_cast<int>(std::string_view(each.name).size())) << each.text();
    std::cout << (c.clusters == std::ssize(r.sizes) ? "  <- " + name_of(o.choose) : "") << '\n';
  }
  if (out.known)
    std::cout << "adjusted Rand index " << app::short_number(out.known->rand_index, 4) << " with the "
              << app::grouped(out.known->labels) << " labels of column " << o.read.table.labels << '\n';
  if (out.stream.block_rows > 0) {
    const solvers::PassTimes& t = out.stream.times;
    const auto rate = [&t](double seconds) {
      return app::human_bytes(static_cast<std::uint64_t>(static_cast<double>(t.bytes) / std::max(1e-9, seconds))) +
             "/s";
    };
    std::cout << (out.stream.from_host ? "sent" : "read") << " in blocks of " << app::grouped(out.stream.block_rows)
              << " points: " << app::human_bytes(t.bytes) << " in " << t.passes << " passes, " << rate(t.all)
              << " (reading " << rate(t.reading);
    if (t.sending > 0) std::cout << ", sending " << rate(t.sending);
    std::cout << ", using " << rate(t.using_them) << "; the slowest was busy "
              << std::lround(100 * t.share_of_slowest()) << " % of the time)\n";
  }
  if (out.violations == 0 && out.verified == out.points.rows)
    std::cout << "verified: every label is the nearest centre\n";
  else if (out.violations == 0)
    std::cout << "verified: the labels of " << app::grouped(out.verified)
              << " points drawn at random are the nearest centres\n";
  else if (out.violations > 0)
    std::cout << app::grouped(out.violations) << " of " << app::grouped(out.verified)
              << " labels are not the nearest centre\n";
}

}  // namespace ts::tskmeans
