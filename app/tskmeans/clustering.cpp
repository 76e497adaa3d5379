#include "tallskinny/app/tskmeans/clustering.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tskmeans/iteration_log.hpp"
#include "tallskinny/app/tskmeans/outputs.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/agreed.hpp"

namespace ts::tskmeans {

namespace {

using solvers::KMeansAlgorithm;
using solvers::KMeansProgress;
using solvers::KMeansStop;

/// The most iterations that a start may take; 0: there is no bound.
index_t most_iterations(const solvers::KMeansOptions& o, index_t rows) {
  switch (o.algorithm) {
    case KMeansAlgorithm::two_level: return o.refine;
    case KMeansAlgorithm::bisecting: return 0;
    case KMeansAlgorithm::mini_batch: return o.max_iter * ((rows + o.batch - 1) / o.batch);
    default: return o.max_iter;
  }
}

/// The text of the meter. @param several numbers of clusters, one after the other
std::string text_of(const KMeansProgress& p, KMeansAlgorithm algorithm, bool several, index_t most, app::Pace& pace) {
  std::string text = several ? app::grouped(p.clusters) + " clusters, " : "";
  if (p.runs > 1) text += "start " + std::to_string(p.run + 1) + " of " + std::to_string(p.runs) + ", ";
  if (p.iteration == 0) return text + "first centres: " + app::grouped(p.chosen) + " of " + app::grouped(p.clusters);
  text += pace.text(p.iteration, most);
  if (algorithm == KMeansAlgorithm::bisecting)
    return text + ", " + app::grouped(p.chosen) + " of " + app::grouped(p.clusters) + " clusters";
  if (algorithm == KMeansAlgorithm::mini_batch) return text;
  return text + ", " + app::grouped(p.changed) + " labels changed";
}

bool better(Choose by, const solvers::KMeansMeasures& a, const solvers::KMeansMeasures& b) {
  const auto order = [by](const solvers::KMeansMeasures& m) {
    const double value = named(m)[static_cast<std::size_t>(by)].value;
    if (std::isnan(value)) return -std::numeric_limits<double>::infinity();
    return by == Choose::davies_bouldin ? -value : value;
  };
  return order(a) > order(b);
}

/// Limits of a pass over the points, for the log; the processors of all ranks together.
PassLimit limit_of_passes(const Job& job, std::uint64_t bytes) {
  const auto& [o, ctx, points] = std::tie(job.o, job.ctx, job.points);
  PassLimit limit;
  limit.bytes = static_cast<double>(bytes);
  if (o.log.empty()) return limit;
  if (const solvers::StreamedRows* streamed = points->streamed()) {
    limit.streamed = streamed;
  } else if (ctx.stream) {
    const cuda::DeviceInfo& device = ctx.stream.device();
    limit.bytes_per_second = device.read_bytes_per_second;
    const solvers::RowSource& rows = points->to_iterate();
    limit.seconds_per_cluster =
        2 * static_cast<double>(rows.rows()) * static_cast<double>(rows.cols()) / device.half_tensor_flops;
  } else {
    limit.bytes_per_second = read_roof(rows_of(*points.in_host()), ctx.thread_count());
  }
  const std::vector<double> of_ranks = gather_lists<double>(ctx, std::span(&limit.bytes_per_second, 1));
  limit.bytes_per_second = std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0);
  return limit;
}

/// Measures the results of several numbers of clusters, and returns the place of the best. 0 for a single result.
std::size_t best_of(const Job& job, std::span<const solvers::KMeansResult> found, std::span<const index_t> counts,
                    Outcome& out) {
  std::size_t best = 0;
  if (counts.size() < 2) return best;
  for (std::size_t q = 0; q < found.size(); ++q) {
    job.console.progress("measuring " + app::grouped(counts[q]) + " clusters");
    const auto measures = solvers::measure(job.ctx, job.points->here(), found[q].centers.view(), found[q].labels,
                                           job.o.kmeans.metric, job.weights);
    out.choices.push_back({counts[q], found[q].inertia, found[q].n_iter, found[q].converged(), measures});
    if (better(job.o.choose, measures, out.choices[best].measures)) best = q;
  }
  return best;
}

/// Options of the solver, without the functions that store and show its states.
solvers::KMeansOptions options_of(const Job& job, const std::string& where) {
  const index_t k = job.start.k, n = all_rows(job.ctx, job.points->here().rows());
  solvers::KMeansOptions options = job.o.kmeans;
  options.clusters = k;
  options.init = init_of(job.o.init).value_or(solvers::KMeansInit::given);
  options.centers = job.start.centers.view();
  options.weights = job.weights;
  if (k > n)
    throw Error(Errc::invalid_argument, "--n-clusters " + std::to_string(k) + " is larger than the number of points (" +
                                            std::to_string(n) + ") in " + where);
  return options;
}

void cluster(const Job& job, Outcome& out) {
  const ProgramOptions& o = job.o;
  const Start& start = job.start;
  app::CheckpointFile& checkpoint = job.checkpoint;
  app::Console& console = job.console;
  const solvers::RowSource& rows = job.points->here();
  solvers::KMeansOptions options = options_of(job, out.points.where.text());
  std::optional<RunKey> key;
  solvers::KMeansState state;
  if (checkpoint.asked_for()) key = key_of(job.ctx, o, start.k, start.centers.cview(), rows, job.weights);
  if (const app::CheckpointFile& from = job.resume ? *job.resume : checkpoint; from.resumes()) {
    state = read_state(from, job.ctx, *key, start.k, rows.rows(), rows.cols(), std::max(1, o.kmeans.n_init));
    options.resume = &state;
    out.resumed = true;
    console.note("resuming from " + from.name());
  }
  PassLimit limit = limit_of_passes(job, out.points.bytes);
  if (const index_t n = all_rows(job.ctx, rows.rows()); takes_sample(options, n, start.k)) {
    const double share = static_cast<double>(options.sample * start.k) / static_cast<double>(n);
    limit = {.bytes = limit.bytes * share};  // in memory, which may be of several types
  }
  std::optional<IterationLog> log;
  solvers::agreed(job.ctx, [&] {
    log.emplace(job.ctx.communicator->rank() == 0 ? o.log : "", limit, options.resume,
                [&console](const std::string& line) { console.warn(line); });
  });
  const std::vector<index_t> counts = o.clusters.empty() ? std::vector{start.k} : o.clusters;
  const index_t most = most_iterations(o.kmeans, all_rows(job.ctx, rows.rows()));
  app::Pace pace;
  bool ends = false;  // as on_progress has said it: a signal may come between the two
  options.on_progress = [&](const KMeansProgress& p) {
    log->add(p);
    console.progress(text_of(p, o.kmeans.algorithm, counts.size() > 1, most, pace));
    ends = app::stop_requested();
    return !ends;
  };
  if (key)
    options.on_state = [&](const auto& make) {
      const double asked = ends || checkpoint.due() ? 1 : 0;  // by whichever rank
      if (max_of_ranks(job.ctx, asked) > 0) keep_state(checkpoint, job.ctx, *key, make());
    };
  std::vector<solvers::KMeansResult> found =
      solvers::kmeans_of_each(job.ctx, job.points->to_iterate(), options, counts);
  const bool interrupted = std::any_of(
      found.begin(), found.end(), [](const solvers::KMeansResult& r) { return r.stop == KMeansStop::interrupted; });
  out.found = std::move(found[best_of(job, found, counts, out)]);
  if (interrupted) out.found.stop = KMeansStop::interrupted;
  out.iterations = log->all();
}

/// Labels for `centers`, and what follows from them; other members of what was found stay.
void label_by(const Job& job, Matrix<double> centers, Outcome& out) {
  solvers::KMeansResult& r = out.found;
  auto predicted = solvers::predict(job.ctx, job.points->to_iterate(), centers.view(), job.o.kmeans.metric, job.weights,
                                    job.o.kmeans.precision);
  r.labels = std::move(predicted.labels);
  r.inertia = predicted.inertia;
  r.sizes = std::move(predicted.sizes);
  r.rescored += predicted.rescored;
  r.zero_rows = predicted.zero_rows;
  r.centers = std::move(centers);
  r.distinct = std::count_if(r.sizes.begin(), r.sizes.end(), [](index_t size) { return size > 0; });
}

/// Rounds the centres to the type that files will hold, and assigns all labels anew.
void round_found(const Job& job, Outcome& out) {
  job.console.progress("labels for centres in " + std::string(ts::name_of(job.o.centers_type)));
  Matrix<double> centers = std::move(out.found.centers);
  round_centers(centers, job.o.centers_type);
  label_by(job, std::move(centers), out);
}

void find_and_measure(const Job& job, Outcome& out) {
  const ProgramOptions& o = job.o;
  const solvers::RowSource& rows = job.points->here();
  const bool rounded = o.centers_type != DType::float64;
  if (out.predicted) {
    const app::EndsOnSignal there_is_no_part_of_it;
    out.found.stop = KMeansStop::labels_unchanged;
    label_by(job, Matrix<double>::copy_of(job.start.centers.cview()), out);
  } else {
    cluster(job, out);
    if (rounded) round_found(job, out);
  }
  if (o.verify || o.verify_sample > 0) {
    job.console.progress("comparing labels with all distances");
    const index_t all = all_rows(job.ctx, rows.rows());
    out.verified = o.verify_sample > 0 ? std::min(o.verify_sample, all) : all;
    out.violations = solvers::verify(job.ctx, job.points->to_iterate(), out.found.centers.view(), out.found.labels,
                                     o.kmeans.metric, o.verify_sample);
  }
  for (const Outcome::Choice& c : out.choices)
    if (c.clusters == std::ssize(out.found.sizes) && !rounded) out.measures = c.measures;
  if ((o.measures || !out.choices.empty()) && !out.measures)
    out.measures =
        solvers::measure(job.ctx, rows, out.found.centers.view(), out.found.labels, o.kmeans.metric, job.weights);
  if (o.transform)
    out.distances =
        solvers::transform(job.ctx, rows_of(*job.points.in_host()), out.found.centers.view(), o.kmeans.metric);
}

}  // namespace

Start start_of(const ProgramOptions& o, index_t cols) {
  Start start;
  if (!o.predict.empty()) {
    start.centers = read_centers(o.predict, cols, o.read);
    round_centers(start.centers, o.centers_type);
    start.k = start.centers.rows();
    return start;
  }
  if (!o.clusters.empty()) start.k = o.clusters.back();  // the most there will be
  if (init_of(o.init)) return start;
  const io::Location where = io::parse_location(o.init);
  if (!std::filesystem::exists(where.file))
    throw Error(Errc::invalid_argument, "--init " + o.init +
                                            ": expected k-means++, k-means||, random or a file "
                                            "with centres, and there is no such file");
  if (o.kmeans.algorithm == solvers::KMeansAlgorithm::bisecting ||
      o.kmeans.algorithm == solvers::KMeansAlgorithm::two_level)
    throw Error(Errc::invalid_argument, "--init " + o.init + ": --algorithm " + name_of(o.kmeans.algorithm) +
                                            " chooses its first centres itself: give k-means++, k-means|| or random");
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

void find(const Job& job, Outcome& out) {
  try {
    find_and_measure(job, out);
  } catch (const solvers::KMeansRangeError& error) {
    using Of = solvers::KMeansRangeError::Of;
    const ProgramOptions& o = job.o;
    const std::string& centers = o.predict.empty() ? o.init : o.predict;
    throw Error(error.code(), (error.of() == Of::points    ? out.points.where.text()
                               : error.of() == Of::weights ? o.weights
                                                           : centers) +
                                  ": " + error.what());
  }
}

}  // namespace ts::tskmeans
