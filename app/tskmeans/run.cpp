#include "tallskinny/app/tskmeans/run.hpp"

#include <algorithm>
#include <future>
#include <tuple>

#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tskmeans/clustering.hpp"
#include "tallskinny/app/tskmeans/outputs.hpp"
#include "tallskinny/app/tskmeans/plan.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/io/labelled_table.hpp"
#include "tallskinny/solvers/agreed.hpp"

namespace ts::tskmeans {

namespace {

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

/// Rows over ranks, or the machine for rank 0. Returns what this one reads of the rows that `read` leaves.
io::ReadOptions distribute(const app::Ranks& ranks, const app::RanksPlan& who, const io::ReadOptions& read,
                           const io::Description& points, Context& ctx) {
  if (!who.together) ranks.work_alone(), ctx = alone(ctx);
  if (ctx.communicator->size() == 1) return read;
  ranks.work_together();
  if (read.row_end > points.rows) return read;  // which reading refuses
  ctx.slabs = RowSlabs::of_pieces(as_read(points, read).rows, ranks.size(), chunk_rows);
  io::ReadOptions here = read;
  here.row_begin = read.row_begin + ctx.slabs.begin(ranks.rank());
  here.row_end = read.row_begin + ctx.slabs.begin(ranks.rank() + 1);
  return here;
}

/// A checkpoint that is resumed from is kept up to date, and so may be named twice; another that is there is
/// not replaced.
void check_paths(const ProgramOptions& o) {
  const std::string& kept = o.checkpoint.file;
  const bool another = !o.resume.empty() && o.resume != kept;
  app::check_output_paths({{"--output", o.common.output},
                           {"--centers-out", o.centers_out, true},
                           {"--labels-out", o.labels_out, true},
                           {"--checkpoint", kept},
                           {"--report", o.report},
                           {"--log", o.log}},
                          {o.features, o.weights, o.predict, o.init, another ? o.resume : ""});
  if (!o.resume.empty() && !std::filesystem::exists(o.resume))
    throw Error(Errc::bad_input, "--resume " + o.resume + ": there is no such file; to start a run, give --checkpoint");
  if (another && std::filesystem::exists(kept))
    throw Error(Errc::invalid_argument, "--checkpoint " + kept +
                                            " exists already, and would be replaced by the state of --resume " +
                                            o.resume + ": remove it, or name another");
}

solvers::MachineMemory memory_of(const Context& ctx) {
  solvers::MachineMemory machine{static_cast<bool>(ctx.stream), app::available_memory()};
  if (ctx.stream) {
    // Left for the driver, kernels and other programs.
    constexpr std::uint64_t left_free = std::uint64_t{256} << 20;
    const std::uint64_t unused = cuda::free_memory(ctx.stream);
    machine.device_bytes = unused > 2 * left_free ? unused - left_free : unused / 2;
  }
  return machine;
}

/// Fills in the description of the points, once they are read or their reader is at their beginning.
void describe_points(const Job& job, const io::Description& described, Outcome& out) {
  const auto& points = job.points;
  const solvers::RowSource& rows = points->here();
  out.points = points.in_host() != nullptr ? points.in_host()->description : described;
  out.points.rows = all_rows(job.ctx, rows.rows()), out.points.cols = rows.cols(), out.points.type = rows.type();
}

/// Files and the result on standard output. Ranks call it together, and the first of them speaks.
void report(const Job& job, const Stopwatch& watch, Outcome& out) {
  const auto& [o, checkpoint, console] = std::tie(job.o, job.checkpoint, job.console);
  for (const std::string& note : out.found.notes) console.warn(note);
  if (o.writes_files())
    for (const std::string& file : write_files(o, out, job.ctx)) console.note("wrote " + file);
  if (!o.report.empty()) {
    write_pictures(o, out, job.ctx, job.points->here());
    console.note("wrote " + o.report + ": a page with charts");
  }
  if (!o.log.empty() && !out.predicted) console.note("wrote " + o.log + ": a line for every iteration");
  if (out.found.converged() && o.resume.empty()) {  // what --resume names is an input, too
    if (job.ctx.communicator->rank() == 0) checkpoint.remove();
  } else if (checkpoint.kept() && !out.found.converged()) {
    console.note("run the same command again to resume from " + checkpoint.name());
  }
  out.elapsed_seconds = watch.seconds();
  if (job.ctx.communicator->rank() > 0) return;
  if (o.common.json)
    print_json(o, out);
  else if (!o.prints_table())
    print_summary(o, out);
}

/// Adds the times of points that were read in blocks: seconds of rank 0, bytes of all ranks.
void add_times(const Job& job, bool in_host, Outcome& out) {
  solvers::PassTimes times;
  const solvers::StreamedRows* streamed = job.points->streamed();
  if (streamed != nullptr) times = streamed->times();
  job.ctx.communicator->add({&times.bytes, 1});
  if (streamed != nullptr) out.stream = {streamed->block_rows(), in_host, times};
}

/// Number of passes over all points that the iterations cost at most; those over a sample count in proportion.
index_t most_passes(const ProgramOptions& o, index_t n, index_t k) {
  if (!o.predict.empty()) return 1;
  constexpr index_t before = 3;  // of two levels, and for all labels
  const bool two_level = o.kmeans.algorithm == solvers::KMeansAlgorithm::two_level;
  const index_t passes = two_level ? o.kmeans.refine + before : o.kmeans.max_iter;
  if (!solvers::takes_sample(o.kmeans, n, k)) return passes;
  return before + passes * o.kmeans.sample / (n / k);
}

void prepare(const ProgramOptions& o, const io::Description& described, const Start& start, const Context& ctx) {
  solvers::KMeansOptions options = o.kmeans;
  options.init = init_of(o.init).value_or(solvers::KMeansInit::given);
  const std::vector<double> some_weights(1);
  if (!o.weights.empty()) options.weights = some_weights;
  solvers::prepare_kmeans(ctx, described.type, described.rows, described.cols, start.k, options);
}

int exit_status(const ProgramOptions& o, const Outcome& out, app::Console& console) {
  if (out.violations > 0 && o.kmeans.precision == solvers::KMeansPrecision::exact) {
    console.warn(std::to_string(out.violations) + " labels are not the nearest centre: please report this");
    return app::exit_failure;
  }
  if (out.found.stop == solvers::KMeansStop::interrupted) return app::stop_exit_code();
  if (!out.found.converged()) {
    console.warn("not converged after " + std::to_string(out.found.n_iter) +
                 " iterations: labels and centres belong together; increase --max-iter to improve them");
    return app::exit_not_converged;
  }
  return app::exit_ok;
}

}  // namespace

int run(ProgramOptions o, const app::Ranks& ranks) {
  const Stopwatch watch;
  app::Console console("tskmeans", o.common.quiet, ranks.first());
  Outcome out;
  out.predicted = !o.predict.empty();
  app::Device device = app::resolve_device(o.common.device, ranks.rank_on_machine());
  Context ctx;
  ctx.log = [&](std::string_view line) { console.note(std::string(line)); };
  ctx.communicator = ranks.communicator();

  const io::Location where = io::parse_location(o.features);
  app::CheckpointFile checkpoint("tskmeans", 2, o.checkpoint, console);
  std::optional<app::CheckpointFile> resume;
  std::optional<app::EndsOnSignal> reading(std::in_place);
  io::Description in_file;
  std::optional<io::Location> labels;  // beside the points
  solvers::agreed(ctx, [&] {           // before one of them writes a file
    check_paths(o);
    take_metric_of_model(o);
    labels = io::labels_beside(where, o.read);
    if (!o.resume.empty() && o.resume != o.checkpoint.file)
      resume.emplace("tskmeans", 2, app::CheckpointOptions{.file = o.resume}, console);
    in_file = io::describe(where, o.read);
  });
  const io::Description described = as_read(in_file, o.read);
  expect_points(described);
  const app::RanksPlan who = who_works(o, described, ranks.size());
  if (!ranks.works(who)) return app::exit_ok;
  const io::ReadOptions read = distribute(ranks, who, o.read, in_file, ctx);
  const io::Description described_here = as_read(in_file, read);
  out.threads = ctx.thread_count();
  if (ranks.size() > 1) {
    out.ranks = ranks.size(), out.ranks_work = who.text();
    console.note(app::grouped(out.ranks) + " ranks, " + out.ranks_work);
  }
  const Start start = start_of(o, described.cols);
  if (o.common.device == "auto" && o.kmeans.algorithm != solvers::KMeansAlgorithm::balanced &&
      ctx.communicator->size() == 1)
    device = app::faster_device(solvers::work_of_kmeans(described.rows, described.cols, start.k,
                                                        static_cast<std::size_t>(size_of(described.type)),
                                                        most_passes(o, described.rows, start.k)),
                                ctx.thread_count(), console);
  out.device = app::device_text(device);
  if (device.kind == app::Device::Kind::cuda) {
    ctx.stream = cuda::Stream(device.index);
    if (who.together) ctx.communicator = ranks.on_devices(device.index, [&](const auto& line) { console.note(line); });
  }
  const solvers::MachineMemory machine = memory_of(ctx);
  solvers::Placement place;
  solvers::agreed(ctx, [&] { place = place_points(o, described_here, start.k, machine); });
  if (o.common.dry_run) {
    if (ranks.first()) print_plan(o, described, described_here, start.k, machine);
    return app::exit_ok;
  }
  if (described.note.find("angular") != std::string::npos && !o.metric_given)
    console.warn(where.text() + " is meant to be compared by angle: use --metric cosine");

  if (described.convention == "CSV" && !described.note.empty()) console.note(where.text() + ": " + described.note);

  console.progress("reading " + where.text());
  std::future<void> kernels;  // compiled or loaded while the file is read
  if (ctx.stream && !out.predicted)
    kernels = std::async(std::launch::async, [&] { prepare(o, described, start, ctx); });
  std::optional<Points> read_points;
  solvers::agreed(ctx, [&] { read_points.emplace(described_here, read, place, ctx.stream); });
  const Points& points = *read_points;
  if (kernels.valid()) kernels.get();
  const std::vector<double> weights =
      o.weights.empty() ? std::vector<double>() : read_weights(ctx, o.weights, points->here().rows(), o.read);
  const Job job{o, ctx, start, points, weights, checkpoint, resume, console};
  out.read_seconds = watch.seconds();
  console.restart_progress();
  reading.reset();
  describe_points(job, described, out);
  find(job, out);
  if (labels || (!o.read.table.labels.empty() && described.convention == "CSV"))
    out.known = compare_with_known(ctx, out.points, labels, read, out.found);
  add_times(job, place.in_host, out);
  report(job, watch, out);
  return exit_status(o, out, console);
}

}  // namespace ts::tskmeans
