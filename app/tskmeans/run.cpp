#include "tallskinny/app/tskmeans/run.hpp"

#include <chrono>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tskmeans/input.hpp"
#include "tallskinny/app/tskmeans/plan.hpp"
#include "tallskinny/app/tskmeans/report.hpp"

namespace ts::tskmeans {

namespace {

using Clock = std::chrono::steady_clock;
using solvers::KMeansProgress;
using solvers::KMeansStop;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The points that --rows leaves of what the file describes.
io::Description as_read(io::Description points, const io::ReadOptions& read) {
  const index_t end = read.row_end < 0 ? points.rows : std::min(points.rows, read.row_end);
  const index_t rows = std::max<index_t>(0, end - read.row_begin);
  if (points.rows > 0 && rows < points.rows) {
    const double share = static_cast<double>(rows) / static_cast<double>(points.rows);
    points.bytes = static_cast<std::uint64_t>(static_cast<double>(points.bytes) * share);
    points.nonzeros = static_cast<index_t>(static_cast<double>(points.nonzeros) * share);
    points.rows = rows;
  }
  return points;
}

/// Centres that the options take from a file, and the number of clusters that follows.
struct Start {
  Matrix<double> centers;
  index_t k = 8;
};

Start start_of(const ProgramOptions& o, index_t cols) {
  Start start;
  if (!o.predict.empty()) {
    start.centers = read_centers(o.predict, cols);
    start.k = start.centers.rows();
    return start;
  }
  if (o.clusters) start.k = *o.clusters;
  if (init_of(o.init)) return start;
  const io::Location where = io::parse_location(o.init);
  if (!std::filesystem::exists(where.file))
    throw Error(Errc::invalid_argument, "--init " + o.init +
                                            ": expected k-means++, k-means||, random or a file "
                                            "with centres, and there is no such file");
  start.centers = read_centers(o.init, cols);
  if (o.clusters && *o.clusters != start.centers.rows())
    throw Error(Errc::invalid_argument,
                "--init " + o.init + " holds " + std::to_string(start.centers.rows()) +
                    " centres, but --n-clusters asks for " + std::to_string(*o.clusters));
  start.k = start.centers.rows();
  return start;
}

bool show_progress(app::Console& console, const ProgramOptions& o, const KMeansProgress& p, index_t k) {
  const std::string run =
      p.runs > 1 ? "start " + std::to_string(p.run + 1) + " of " + std::to_string(p.runs) + ", " : "";
  if (p.iteration == 0)
    console.progress(-1, run + "first centres: " + app::grouped(p.chosen) + " of " + app::grouped(k));
  else
    console.progress((p.run + static_cast<double>(p.iteration) / o.kmeans.max_iter) / p.runs,
                     run + "iteration " + std::to_string(p.iteration) + ", " + app::grouped(p.changed) +
                         " labels changed");
  return !app::stop_requested();
}

solvers::KMeansResult cluster(const Context& ctx, const Rows& rows, const ProgramOptions& o,
                              const Start& start, std::span<const double> weights, app::Console& console) {
  solvers::KMeansOptions options = o.kmeans;
  options.clusters = start.k;
  options.init = init_of(o.init).value_or(solvers::KMeansInit::given);
  options.centers = start.centers.view();
  options.weights = weights;
  options.on_progress = [&](const KMeansProgress& p) { return show_progress(console, o, p, start.k); };
  if (start.k > rows.rows())
    throw Error(Errc::invalid_argument, "--n-clusters " + std::to_string(start.k) +
                                            " is larger than the number of points (" +
                                            std::to_string(rows.rows()) + ")");
  return solvers::kmeans(ctx, rows, options);
}

solvers::KMeansResult predict(const Context& ctx, const Rows& rows, const ProgramOptions& o,
                              const Start& start, std::span<const double> weights) {
  auto predicted = solvers::predict(ctx, rows, start.centers.view(), o.kmeans.metric, weights);
  solvers::KMeansResult r;
  r.labels = std::move(predicted.labels);
  r.inertia = predicted.inertia;
  r.sizes = std::move(predicted.sizes);
  r.rescored = predicted.rescored;
  r.zero_rows = predicted.zero_rows;
  r.centers = Matrix<double>::copy_of(start.centers.cview());
  r.stop = KMeansStop::labels_unchanged;
  for (const index_t size : r.sizes) r.distinct += size > 0 ? 1 : 0;
  return r;
}

}  // namespace

int run(const ProgramOptions& o) {
  const auto begin = Clock::now();
  app::Console console("tskmeans", o.common.quiet);
  Outcome out;
  out.predicted = !o.predict.empty();
  out.device = app::device_text(app::resolve_device(o.common.device));
  Context ctx;
  ctx.threads = o.common.threads;
  out.threads = ctx.thread_count();

  const io::Location where = io::parse_location(o.features);
  if (!o.common.output.empty()) {
    std::vector<std::filesystem::path> inputs = {where.file};
    for (const std::string& other : {o.weights, o.predict, init_of(o.init) ? std::string() : o.init})
      if (!other.empty()) inputs.push_back(io::parse_location(other).file);
    app::check_output_path("--output", o.common.output, inputs);
  }
  const io::Description described = as_read(io::describe(where, o.read), o.read);
  const Start start = start_of(o, described.cols);
  if (o.common.dry_run) {
    print_plan(o, described, start.k);
    return app::exit_ok;
  }
  expect_memory(o, described, start.k);
  if (described.note.find("angular") != std::string::npos && !o.metric_given)
    console.warn(where.text() + " is meant to be compared by angle: --metric cosine does that");

  console.progress(-1, "reading " + where.text());
  const io::MatrixFile file = io::read_matrix(where, o.read);
  const Rows rows = rows_of(file);
  const std::vector<double> weights =
      o.weights.empty() ? std::vector<double>() : read_weights(o.weights, rows.rows());
  out.points = file.description;
  out.points.rows = rows.rows(), out.points.cols = rows.cols(), out.points.type = rows.type();
  out.read_seconds = seconds_since(begin);
  console.restart_progress();

  out.found =
      out.predicted ? predict(ctx, rows, o, start, weights) : cluster(ctx, rows, o, start, weights, console);
  if (o.verify) {
    console.progress(-1, "comparing every label with all distances");
    out.violations = solvers::verify(ctx, rows, out.found.centers.view(), out.found.labels, o.kmeans.metric);
  }
  for (const std::string& note : out.found.notes) console.warn(note);
  if (!o.common.output.empty()) write_file(o, out);
  out.elapsed_seconds = seconds_since(begin);
  if (o.common.json)
    print_json(o, out);
  else
    print_summary(o, out);

  if (out.violations > 0) {
    console.warn(std::to_string(out.violations) + " labels are not the nearest centre: please report this");
    return app::exit_failure;
  }
  if (out.found.stop == KMeansStop::interrupted) return app::stop_exit_code();
  if (!out.found.converged()) {
    console.warn("not converged after " + std::to_string(out.found.n_iter) +
                 " iterations: labels and centres belong together, but more iterations (--max-iter) would "
                 "better them");
    return app::exit_not_converged;
  }
  return app::exit_ok;
}

}  // namespace ts::tskmeans
