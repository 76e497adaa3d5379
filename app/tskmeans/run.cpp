#include "tallskinny/app/tskmeans/run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/stopwatch.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tskmeans/checkpoint.hpp"
#include "tallskinny/app/tskmeans/input.hpp"
#include "tallskinny/app/tskmeans/iteration_log.hpp"
#include "tallskinny/app/tskmeans/pictures.hpp"
#include "tallskinny/app/tskmeans/plan.hpp"
#include "tallskinny/app/tskmeans/report.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

namespace ts::tskmeans {

namespace {

using solvers::KMeansProgress;
using solvers::KMeansStop;

/// The points that --rows leaves of what the file describes.
io::Description as_read(io::Description points, const io::ReadOptions& read) {
  const index_t end = read.row_end < 0 ? points.rows : std::min(points.rows, read.row_end);
  const index_t rows = std::max<index_t>(0, end - read.row_begin);
  if (points.rows > 0 && rows < points.rows) {
    const double share = static_cast<double>(rows) / static_cast<double>(points.rows);
    for (std::uint64_t* bytes : {&points.bytes, &points.peak_bytes})
      *bytes = static_cast<std::uint64_t>(static_cast<double>(*bytes) * share);
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
    start.centers = read_centers(o.predict, cols, o.read);
    start.k = start.centers.rows();
    return start;
  }
  if (!o.clusters.empty()) start.k = o.clusters.back();  // the most there will be
  if (init_of(o.init)) return start;
  const io::Location where = io::parse_location(o.init);
  if (!std::filesystem::exists(where.file))
    throw Error(Errc::invalid_argument, "--init " + o.init +
                                            ": expected k-means++, k-means||, afk-mc2, random or a file "
                                            "with centres, and there is no such file");
  start.centers = read_centers(o.init, cols, o.read);
  if (o.clusters.size() > 1)
    throw Error(Errc::invalid_argument,
                "--init " + o.init + " holds centres for one number of clusters, but --n-clusters asks for several");
  if (!o.clusters.empty() && start.k != start.centers.rows())
    throw Error(Errc::invalid_argument, "--init " + o.init + " holds " + std::to_string(start.centers.rows()) +
                                            " centres, but --n-clusters asks for " + std::to_string(start.k));
  start.k = start.centers.rows();
  return start;
}

bool show_progress(app::Console& console, const ProgramOptions& o, const KMeansProgress& p) {
  std::string run = p.runs > 1 ? "start " + std::to_string(p.run + 1) + " of " + std::to_string(p.runs) + ", " : "";
  if (o.clusters.size() > 1) run = app::grouped(p.clusters) + " clusters, " + run;
  if (p.iteration == 0)
    console.progress(-1, run + "first centres: " + app::grouped(p.chosen) + " of " + app::grouped(p.clusters));
  else
    console.progress(
        o.clusters.size() > 1 ? -1 : (p.run + static_cast<double>(p.iteration) / o.kmeans.max_iter) / p.runs,
        run + "iteration " + std::to_string(p.iteration) + ", " + app::grouped(p.changed) + " labels changed");
  return !app::stop_requested();
}

/// The points of a run, where the plan puts them.
class Points {
 public:
  Points(const io::Description& described, const io::ReadOptions& read, const Placement& place,
         const cuda::Stream& stream) {
    if (place.in_host) {
      file_ = io::read_matrix(described.where, read);
      here_ = std::make_unique<solvers::RowsInMemory>(rows_of(*file_));
    }
    if (place.in_host && !stream) return;
    const solvers::RowOrigin origin =
        place.in_host ? solvers::RowOrigin::memory(rows_of(*file_)) : origin_of(described.where, read);
    if (!place.in_host) here_ = std::make_unique<solvers::StreamedRows>(origin, place.host_block);
    if (!stream) return;
    if (place.on_device) {
      on_device_.emplace(stream, origin, place.device_block);
      there_ = std::make_unique<solvers::RowsInMemory>(on_device_->rows());
    } else {
      there_ = std::make_unique<solvers::StreamedRows>(origin, place.device_block, stream);
    }
  }
  /// For the processor.
  [[nodiscard]] const solvers::RowSource& here() const { return *here_; }
  /// On the device if there is one, for what runs there.
  [[nodiscard]] const solvers::RowSource& to_iterate() const { return there_ ? *there_ : *here_; }
  /// All of them, if they are in host memory.
  [[nodiscard]] const io::MatrixFile* in_host() const { return file_ ? &*file_ : nullptr; }
  /// Those that pass by in blocks, if that is how they are used.
  [[nodiscard]] const solvers::StreamedRows* streamed() const {
    return dynamic_cast<const solvers::StreamedRows*>(&to_iterate());
  }

 private:
  std::optional<io::MatrixFile> file_;
  std::unique_ptr<solvers::RowSource> here_;
  std::optional<solvers::DeviceRows> on_device_;
  std::unique_ptr<solvers::RowSource> there_;
};

bool better(Choose by, const solvers::KMeansMeasures& a, const solvers::KMeansMeasures& b) {
  const auto order = [by](const solvers::KMeansMeasures& m) {
    const double value = by == Choose::simplified_silhouette ? m.simplified_silhouette
                         : by == Choose::davies_bouldin      ? -m.davies_bouldin
                                                             : m.calinski_harabasz;
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  };
  return order(a) > order(b);
}

/// What a pass over the points can reach, for the log.
PassLimit limit_of_passes(const Context& ctx, const Points& points, const ProgramOptions& o, std::uint64_t bytes) {
  PassLimit limit;
  limit.bytes = static_cast<double>(bytes);
  if (o.log.empty()) return limit;
  if (const solvers::StreamedRows* streamed = points.streamed()) {
    limit.streamed = streamed;
  } else if (ctx.stream) {
    const cuda::DeviceInfo& device = ctx.stream.device();
    limit.bytes_per_second = device.read_bytes_per_second;
    const solvers::RowSource& rows = points.to_iterate();
    limit.seconds_per_cluster =
        2 * static_cast<double>(rows.rows()) * static_cast<double>(rows.cols()) / device.half_tensor_flops;
  } else {
    limit.bytes_per_second = read_roof(rows_of(*points.in_host()), ctx.thread_count());
  }
  return limit;
}

void cluster(const Context& ctx, const Points& points, const ProgramOptions& o, const Start& start,
             std::span<const double> weights, app::CheckpointFile& checkpoint,
             const std::optional<app::CheckpointFile>& resume, app::Console& console, Outcome& out) {
  const solvers::RowSource& rows = points.here();
  solvers::KMeansOptions options = o.kmeans;
  options.clusters = start.k;
  options.init = init_of(o.init).value_or(solvers::KMeansInit::given);
  options.centers = start.centers.view();
  options.weights = weights;
  if (start.k > rows.rows())
    throw Error(Errc::invalid_argument, "--n-clusters " + std::to_string(start.k) +
                                            " is larger than the number of points (" + std::to_string(rows.rows()) +
                                            ") in " + out.points.where.text());
  std::optional<RunKey> key;
  solvers::KMeansState state;
  if (checkpoint.asked_for()) key = key_of(o, start.k, start.centers.cview(), rows, weights, ctx.thread_count());
  if (const app::CheckpointFile& from = resume ? *resume : checkpoint; from.resumes()) {
    state = read_state(from, *key, start.k, rows.rows(), rows.cols(), o.kmeans.n_init);
    options.resume = &state;
    out.resumed = true;
    console.note("going on from " + from.name());
  }
  IterationLog log(o.log, limit_of_passes(ctx, points, o, out.points.bytes), options.resume,
                   [&console](const std::string& line) { console.warn(line); });
  // With a checkpoint a run ends after an iteration whose state is kept, not between the two.
  bool kept_for_good = false;
  options.on_progress = [&](const KMeansProgress& p) {
    log.add(p);
    const bool goes_on = show_progress(console, o, p);
    return goes_on || (key && p.iteration > 0 && !kept_for_good);
  };
  if (key)
    options.on_state = [&](const auto& make) {
      kept_for_good = app::stop_requested();
      if (kept_for_good || checkpoint.due())
        checkpoint.write([&](io::OutputFile& file) { write_state(file, *key, make()); });
    };
  const std::vector<index_t> counts = o.clusters.empty() ? std::vector{start.k} : o.clusters;
  std::vector<solvers::KMeansResult> found = solvers::kmeans_of_each(ctx, points.to_iterate(), options, counts);
  std::size_t best = 0;
  if (counts.size() > 1)
    for (std::size_t q = 0; q < found.size(); ++q) {
      console.progress(-1, "measuring " + app::grouped(counts[q]) + " clusters");
      const auto measures =
          solvers::measure(ctx, rows, found[q].centers.view(), found[q].labels, o.kmeans.metric, weights);
      out.choices.push_back({counts[q], found[q].inertia, found[q].n_iter, found[q].converged(), measures});
      if (better(o.choose, measures, out.choices[best].measures)) best = q;
    }
  const bool interrupted = std::any_of(
      found.begin(), found.end(), [](const solvers::KMeansResult& r) { return r.stop == KMeansStop::interrupted; });
  out.found = std::move(found[best]);
  if (interrupted) out.found.stop = KMeansStop::interrupted;
  out.iterations = log.all();
}

solvers::KMeansResult predict(const Context& ctx, const solvers::RowSource& rows, const ProgramOptions& o,
                              const Start& start, std::span<const double> weights) {
  auto predicted = solvers::predict(ctx, rows, start.centers.view(), o.kmeans.metric, weights, o.kmeans.precision);
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

/// Calls work(), and names the file of numbers that it refuses.
template <class Work>
void naming_files(const ProgramOptions& o, const io::Location& points, const Work& work) {
  try {
    work();
  } catch (const solvers::KMeansRangeError& error) {
    using Of = solvers::KMeansRangeError::Of;
    const std::string& centers = o.predict.empty() ? o.init : o.predict;
    throw Error(error.code(), (error.of() == Of::points    ? points.text()
                               : error.of() == Of::weights ? o.weights
                                                           : centers) +
                                  ": " + error.what());
  }
}

/// A checkpoint that is resumed from is kept up to date, and so may be named twice; another that is there is
/// not replaced.
void check_paths(const ProgramOptions& o) {
  const std::string& kept = o.checkpoint.file;
  const bool another = !o.resume.empty() && o.resume != kept;
  app::check_output_paths(
      {{"--output", o.common.output}, {"--checkpoint", kept}, {"--report", o.report}, {"--log", o.log}},
      {o.features, o.weights, o.predict, o.init, another ? o.resume : ""});
  if (!o.resume.empty() && !std::filesystem::exists(o.resume))
    throw Error(Errc::bad_input, "--resume " + o.resume + ": there is no such file; to begin, give --checkpoint");
  if (another && std::filesystem::exists(kept))
    throw Error(Errc::invalid_argument, "--checkpoint " + kept +
                                            " is there already, and would be replaced by the state of --resume " +
                                            o.resume + ": remove it, or name another");
}

}  // namespace

int run(const ProgramOptions& o) {
  const app::Stopwatch watch;
  app::Console console("tskmeans", o.common.quiet);
  Outcome out;
  out.predicted = !o.predict.empty();
  const app::Device device = app::resolve_device(o.common.device);
  out.device = app::device_text(device);
  Context ctx;
  if (device.kind == app::Device::Kind::cuda) ctx.stream = cuda::Stream(device.index);
  ctx.log = [&](std::string_view line) { console.note(std::string(line)); };
  ctx.threads = o.common.threads;
  out.threads = ctx.thread_count();

  const io::Location where = io::parse_location(o.features);
  app::CheckpointFile checkpoint("tskmeans", o.checkpoint, console);
  check_paths(o);
  std::optional<app::CheckpointFile> resume;
  if (!o.resume.empty() && o.resume != o.checkpoint.file)
    resume.emplace("tskmeans", app::CheckpointOptions{.file = o.resume}, console);
  const io::Description described = as_read(io::describe(where, o.read), o.read);
  const Start start = start_of(o, described.cols);
  Machine machine{static_cast<bool>(ctx.stream), app::available_memory()};
  if (ctx.stream) {
    // What the driver, the kernels and other programs take meanwhile.
    constexpr std::uint64_t left_free = std::uint64_t{256} << 20;
    const std::uint64_t unused = cuda::free_memory(ctx.stream);
    machine.device_bytes = unused > 2 * left_free ? unused - left_free : unused / 2;
  }
  if (o.common.dry_run) {
    print_plan(o, described, start.k, machine);
    return app::exit_ok;
  }
  const Placement place = place_points(o, described, start.k, machine);
  if (described.note.find("angular") != std::string::npos && !o.metric_given)
    console.warn(where.text() + " is meant to be compared by angle: --metric cosine does that");

  if (described.convention == "CSV" && !described.note.empty()) console.note(where.text() + ": " + described.note);

  console.progress(-1, "reading " + where.text());
  std::optional<app::EndsOnSignal> reading(std::in_place);
  const Points points(described, o.read, place, ctx.stream);
  const solvers::RowSource& rows = points.here();
  const std::vector<double> weights =
      o.weights.empty() ? std::vector<double>() : read_weights(o.weights, rows.rows(), o.read);
  out.points = points.in_host() != nullptr ? points.in_host()->description : described;
  out.points.rows = rows.rows(), out.points.cols = rows.cols(), out.points.type = rows.type();
  out.read_seconds = watch.seconds();
  console.restart_progress();
  reading.reset();
  if (points.streamed() != nullptr && o.init == "k-means++" && !out.predicted &&
      solvers::seeding_sample(rows.rows(), rows.cols(), start.k) == 0)
    console.note("k-means++ reads the points " + std::string(place.in_host ? "" : "from their file ") +
                 "twice for each centre: --init 'k-means||' needs fewer passes");

  naming_files(o, out.points.where, [&] {
    if (out.predicted)
      out.found = predict(ctx, points.to_iterate(), o, start, weights);
    else
      cluster(ctx, points, o, start, weights, checkpoint, resume, console, out);
    if (o.verify || o.verify_sample > 0) {
      console.progress(-1, "comparing labels with all distances");
      out.verified = o.verify_sample > 0 ? std::min(o.verify_sample, rows.rows()) : rows.rows();
      out.violations = solvers::verify(ctx, points.to_iterate(), out.found.centers.view(), out.found.labels,
                                       o.kmeans.metric, o.verify_sample);
    }
    for (const Outcome::Choice& c : out.choices)
      if (c.clusters == std::ssize(out.found.sizes)) out.measures = c.measures;
    if (o.measures && !out.measures)
      out.measures = solvers::measure(ctx, rows, out.found.centers.view(), out.found.labels, o.kmeans.metric, weights);
    if (o.transform)
      out.distances = solvers::transform(ctx, rows_of(*points.in_host()), out.found.centers.view(), o.kmeans.metric);
  });
  if (const solvers::StreamedRows* streamed = points.streamed())
    out.stream = {streamed->block_rows(), place.in_host, streamed->times()};
  for (const std::string& note : out.found.notes) console.warn(note);
  if (!o.common.output.empty()) console.note("wrote " + write_file(o, out));
  if (!o.report.empty()) {
    write_pictures(o, out, rows);
    console.note("wrote " + o.report + ": a page with pictures");
  }
  if (!o.log.empty() && !out.predicted) console.note("wrote " + o.log + ": a line for every iteration");
  if (out.found.converged() && o.resume.empty())  // what --resume names is an input, too
    checkpoint.remove();
  else if (checkpoint.kept() && !out.found.converged())
    console.note("the same command goes on from " + checkpoint.name());
  out.elapsed_seconds = watch.seconds();
  if (o.common.json)
    print_json(o, out);
  else
    print_summary(o, out);

  if (out.violations > 0 && o.kmeans.precision == solvers::KMeansPrecision::exact) {
    console.warn(std::to_string(out.violations) + " labels are not the nearest centre: please report this");
    return app::exit_failure;
  }
  if (out.found.stop == KMeansStop::interrupted) return app::stop_exit_code();
  if (!out.found.converged()) {
    console.warn("not converged after " + std::to_string(out.found.n_iter) +
                 " iterations: labels and centres belong together, but more iterations (--max-iter) would better them");
    return app::exit_not_converged;
  }
  return app::exit_ok;
}

}  // namespace ts::tskmeans
