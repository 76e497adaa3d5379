#include "tallskinny/app/tskmeans/options.hpp"

#include <algorithm>
#include <limits>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::tskmeans {

using solvers::KMeansAlgorithm;
using solvers::KMeansInit;
using solvers::KMeansMetric;
using solvers::KMeansPrecision;
using solvers::KMeansStop;
using solvers::KMeansTolerance;

namespace {

/// Values and how users write and read them.
template <class E>
using Words = std::vector<std::pair<std::string, E>>;

const Words<Choose> choices = {{"simplified-silhouette", Choose::simplified_silhouette},
                               {"davies-bouldin", Choose::davies_bouldin},
                               {"calinski-harabasz", Choose::calinski_harabasz}};
const Words<KMeansAlgorithm> algorithms = {{"lloyd", KMeansAlgorithm::lloyd},
                                           {"mini-batch", KMeansAlgorithm::mini_batch},
                                           {"bisecting", KMeansAlgorithm::bisecting},
                                           {"balanced", KMeansAlgorithm::balanced},
                                           {"two-level", KMeansAlgorithm::two_level}};
const Words<KMeansTolerance> tolerances = {{"relative", KMeansTolerance::relative},
                                           {"absolute", KMeansTolerance::absolute},
                                           {"labels", KMeansTolerance::labels},
                                           {"changed", KMeansTolerance::changed}};
const Words<KMeansMetric> metrics = {{"euclidean", KMeansMetric::euclidean}, {"cosine", KMeansMetric::cosine}};
const Words<solvers::KMeansFilter> filters = {{"auto", solvers::KMeansFilter::automatic},
                                              {"none", solvers::KMeansFilter::none},
                                              {"bounds", solvers::KMeansFilter::bounds},
                                              {"projection", solvers::KMeansFilter::projection}};
const Words<KMeansPrecision> precisions = {{"exact", KMeansPrecision::exact}, {"fast", KMeansPrecision::fast}};
const Words<KMeansInit> inits = {
    {"k-means++", KMeansInit::plus_plus}, {"k-means||", KMeansInit::parallel}, {"random", KMeansInit::random}};
const Words<KMeansStop> stops = {{"labels unchanged", KMeansStop::labels_unchanged},
                                 {"tolerance reached", KMeansStop::tolerance},
                                 {"iteration limit", KMeansStop::max_iterations},
                                 {"interrupted", KMeansStop::interrupted},
                                 {"refined", KMeansStop::refined}};

template <class E>
std::string word_of(const Words<E>& words, E value) {
  return std::find_if(words.begin(), words.end(), [value](const auto& word) { return word.second == value; })->first;
}

template <class E>
std::optional<E> value_of(const Words<E>& words, const std::string& word) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& known) { return known.first == word; });
  return found == words.end() ? std::nullopt : std::optional(found->second);
}

const app::About about{
    .name = "tskmeans",
    .summary = "k-means of the points in a file: exact labels, the same result for any number of threads.",
    .usage = "FEATURES[:/OBJECT] -k N [options]",
    .examples = {{"Ten clusters of a feature matrix", "tskmeans features.h5 -k 10 --output clusters.h5"},
                 {"The best of five starts, with cosine distances, as JSON",
                  "tskmeans a.h5ad:/obsm/X_pca -k 20 --metric cosine --n-init 5 --json"},
                 {"The best number of clusters by the simplified silhouette, with pictures",
                  "tskmeans features.h5 -k 4:32:4 --report clusters.html"},
                 {"Columns of a table without incomplete rows, labels to a pipe",
                  "tskmeans people.csv -k 5 --columns age,height --missing drop --labels-out -"},
                 {"A long run: if it is stopped, the same command resumes it",
                  "tskmeans big.h5 -k 1000 --memory 8G --checkpoint state.h5 --log steps.jsonl"},
                 {"Labels of new points by centres found before",
                  "tskmeans new.h5 --predict clusters.h5 --output labels.h5"}},
    .notes =
        "FEATURES has one row for each point, dense or sparse, in HDF5 (many layouts), .npy, .csv, .arff, Matrix "
        "Market, MATLAB's .mat or PETSc's binary format.\n\n"
        "FILE.h5 of --output holds labels, cluster_centers, inertia, n_iter and cluster_sizes.\n\n"
        "Exit status: 0 converged, 1 failure, 2 wrong usage, 3 not converged within --max-iter (the result is "
        "written), 4 unusable input, 5 no such device, 128+n stopped by signal n (the result so far is written)."};

constexpr index_t most_counts = 1000;                                        ///< of clusters, in one run
constexpr index_t most_clusters = std::numeric_limits<std::int32_t>::max();  ///< that labels can number

/// "8", "8:64" or "8:64:8": both ends count.
bool parse_counts(std::string_view text, std::vector<index_t>& out) {
  index_t part[3] = {0, 0, 1};
  int parts = 0;
  while (parts < 3) {
    const auto colon = text.find(':');
    if (!app::parse_value(text.substr(0, colon), part[parts++])) return false;
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
    if (parts == 3) return false;
  }
  if (parts == 1) part[1] = part[0];
  if (part[0] < 1 || part[1] < part[0] || part[2] < 1 || std::max(part[1], part[2]) > most_clusters ||
      (part[1] - part[0]) / part[2] >= most_counts)
    return false;
  out.clear();
  for (index_t k = part[0]; k <= part[1]; k += part[2]) out.push_back(k);
  return true;
}

void check(const ProgramOptions& o, const app::Options& options) {
  const auto refuse_given = [&](std::initializer_list<const char*> names, const std::string& why) {
    for (const char* name : names)
      if (options.changed(name)) throw Error(Errc::invalid_argument, std::string("--") + name + why);
  };
  if (!o.predict.empty())
    refuse_given({"n-clusters", "init", "n-init", "max-iter", "tol", "tol-mode", "seed", "algorithm", "batch-size",
                  "filter", "choose", "checkpoint", "resume", "restart", "log", "sample", "refine"},
                 " has no meaning with --predict, which only assigns points to the centres of a file");
  if (o.clusters.size() < 2)
    refuse_given({"choose"}, " needs several numbers of clusters to choose from: -k 8:64:8");
  else
    refuse_given({"checkpoint", "resume"}, " works with one number of clusters, not a range");
  if (o.kmeans.algorithm != KMeansAlgorithm::lloyd)
    refuse_given({"checkpoint", "resume", "filter"}, " works with --algorithm lloyd only");
  if (o.kmeans.algorithm != KMeansAlgorithm::lloyd && o.kmeans.algorithm != KMeansAlgorithm::two_level)
    refuse_given({"sample"}, " works with --algorithm lloyd and two-level only");
  if (o.kmeans.algorithm != KMeansAlgorithm::two_level)
    refuse_given({"refine"}, " works with --algorithm two-level only");
  if (o.kmeans.sample > 0)
    refuse_given({"checkpoint", "resume"}, " works without --sample only: a run on a sample is short");
  if (o.kmeans.algorithm != KMeansAlgorithm::mini_batch)
    refuse_given({"batch-size"}, " works with --algorithm mini-batch only");
  else
    refuse_given({"tol", "tol-mode"},
                 " has no meaning with --algorithm mini-batch, which stops when batches no longer improve");
  if (o.kmeans.algorithm == KMeansAlgorithm::balanced) {
    refuse_given({"verify", "verify-sample"},
                 " has nothing to verify: with --algorithm balanced a label need not be the nearest centre");
    refuse_given({"centers-type"},
                 " has no meaning with --algorithm balanced: labels of rounded centres would not be balanced");
    refuse_given({"precision"},
                 " has no meaning with --algorithm balanced, with which a label need not be the nearest centre");
  }
  if (o.verify && o.verify_sample > 0)
    refuse_given({"verify-sample"}, " has no meaning with --verify, which compares all points");
  if (o.checkpoint.file.empty()) refuse_given({"every", "restart"}, " needs --checkpoint FILE");
  if (!o.resume.empty()) refuse_given({"restart"}, " starts over, but --resume continues: give one of them");
  if (o.common.device.starts_with("cuda") && o.kmeans.algorithm == KMeansAlgorithm::balanced)
    throw Error(Errc::invalid_argument, "--algorithm balanced runs on the processor only: use --device cpu");
  if (!o.writes_files())
    refuse_given({"centers-type"}, " is the type of centres in files: add --output or --centers-out");
  if (o.transform && o.common.output.empty())
    throw Error(Errc::invalid_argument, "--transform needs --output FILE.h5 for the distances");
  (void)o.prints_table();
  if (o.read.transpose) refuse_given({"labels-column"}, " names a column of the file, which --transpose makes a row");
}

void add_clustering(app::Options& options, ProgramOptions& o) {
  options.group("Clustering")
      .custom("n-clusters,k", "N|A:B|A:B:STEP", {},
              "number of clusters; default 8, or the rows of --init FILE. Several: A, A + STEP, ... up to B, of which "
              "--choose selects one",
              "an integer of at least 1 and at most 2147483647, or A:B or A:B:STEP with A not above B, 1000 numbers at "
              "most",
              [&o](std::string_view text) { return parse_counts(text, o.clusters); })
      .known_as({"n", "k", "clusters", "nclusters", "num-clusters", "ncentroids"})
      .choice("choose", o.choose, "measure that selects one of several numbers of clusters", choices)
      .choice("algorithm", o.kmeans.algorithm,
              "lloyd: all points in every iteration; mini-batch: a sample; bisecting: the worst cluster is split "
              "in two; balanced: sizes differ by one at most, takes 8 bytes for each point and cluster; two-level: "
              "about sqrt(k) clusters, each clustered in its share of k, then --refine iterations",
              algorithms)
      .value("batch-size", "N", o.kmeans.batch, "points in a step of mini-batch", app::at_least<index_t>(1))
      .value("refine", "N", o.kmeans.refine, "iterations of two-level over all points and centres", app::at_least(0))
      .value("sample", "N", o.kmeans.sample,
             "iterate over N random points for each cluster, then label all; 0: over all points",
             app::at_least<index_t>(0))
      .file("init", "k-means++|k-means|||random|FILE", o.init,
            "first centres: greedy k-means++, k-means||, distinct random points, or the rows of FILE[:/OBJECT]",
            "k-means++, k-means||, random or a file")
      .value("n-init", "N", o.kmeans.n_init,
             "starts; the one of least inertia is kept. 0: one start, improved by breathing k-means on small data",
             app::at_least(0))
      .known_as({"nredo", "nstart", "restarts", "replicates"})
      .value("max-iter", "N", o.kmeans.max_iter, "maximum number of iterations of each start", app::at_least(1))
      .known_as({"maxiter", "niter", "iterations", "max-iterations"})
      .value("tol", "X", o.kmeans.tol, "converged when the centres move less; 0: only when nothing changes",
             app::at_least(0.0))
      .choice("tol-mode", o.kmeans.tolerance,
              "test of convergence. relative: squared movement of all centres at most tol times the mean variance of "
              "the features, as in scikit-learn; absolute: at most tol; labels: labels are unchanged; changed: share "
              "of labels that changed at most tol, like 0.001",
              tolerances);
}

void add_labels(app::Options& options, ProgramOptions& o) {
  options
      .choice("metric", o.kmeans.metric, "cosine divides every point by its norm and keeps centres on the sphere",
              metrics)
      .choice("precision", o.kmeans.precision,
              "exact: every label is proved to be the nearest centre's; fast: labels by products in low "
              "precision, without proof",
              precisions)
      .choice("filter", o.kmeans.filter,
              "filter that skips products in iterations: the cheapest (auto), none, bounds on distances or, on a GPU, "
              "projections on a few axes; labels are the same",
              filters)
      .file("weights", "FILE[:/OBJECT]", o.weights, "one weight for each point")
      .file("predict", "FILE[:/OBJECT]", o.predict, "do not cluster: label points by the centres in FILE")
      .flag("measures", o.measures,
            "simplified silhouette, Davies-Bouldin and Calinski-Harabasz of the result; always with several "
            "numbers of clusters")
      .flag("verify", o.verify, "compare every label with all distances in float64 afterwards")
      .value("verify-sample", "N", o.verify_sample, "compare the labels of N random points in the same way; 0: none",
             app::at_least<index_t>(0));
  app::add_seed_option(options, o.common);
}

void add_files_and_machine(app::Options& options, ProgramOptions& o) {
  add_checkpoint_options(options.group("Long runs"), o.checkpoint);
  options
      .file("resume", "FILE.h5", o.resume,
            "resume from this checkpoint, which must exist. It is updated unless --checkpoint names another file")
      .file("log", "FILE", o.log,
            "write a line of JSON for every iteration; a resumed run keeps those up to its checkpoint");
  app::add_read_options(options.group("Reading"), o.read);
  app::add_rows_option(options, o.read);
  app::add_table_options(options.group("Tables"), o.read);
  options.custom(
      "labels-column", "NAME", {},
      "column with known labels, named as in --columns; it is no feature. In arff an attribute, in .h5ad /obs/NAME. "
      "For these and csv the result reports how well the clusters agree with them (adjusted Rand index)",
      "a column", [&o](std::string_view text) { return app::parse_value(text, o.read.table.labels) && !text.empty(); });
  app::add_output_options(options.group("Output"), o.common,
                          "write labels, cluster_centers, inertia, n_iter and cluster_sizes");
  options.choice("centers-type", o.centers_type,
                 "type of the centres in files; labels, sizes and inertia are those of the stored centres",
                 {{"float64", DType::float64}, {"float32", DType::float32}, {"float16", DType::float16}});
  app::add_table_option(options, "centers-out", o.centers_out, "write the centres for NumPy, or as text");
  app::add_table_option(options, "labels-out", o.labels_out, "write the labels for NumPy (int32), or as text");
  options.flag("transform", o.transform, "write the distances of all points to all centres too (n x k)")
      .file("report", "FILE.html", o.report, "write an HTML page with charts of the result");
  app::add_report_options(options, o.common);
  app::add_machine_options(options.group("Machine"), o.common);
  app::add_memory_option(
      options, o.memory,
      "memory limit, like 500M or 4G, for the host and the GPU each; default: free memory. Points that do not fit are "
      "read from their HDF5 or .npy file, or sent to the GPU, in blocks, with the same result");
}

}  // namespace

bool ProgramOptions::parse(app::Arguments arguments) {
  app::Options options(about);
  options.positional("FEATURES", features, "a file, FILE.h5:/OBJECT for one object in it, or - for standard input");
  add_clustering(options, *this);
  add_labels(options, *this);
  add_files_and_machine(options, *this);
  if (!options.parse(arguments)) return false;
  common.command_line = options.command_line();
  metric_given = options.given("metric");
  kmeans.seed = common.seed;
  read.memory_limit = memory;
  if (checkpoint.file.empty()) checkpoint.file = resume;
  check(*this, options);
  return true;
}

bool ProgramOptions::prints_table() const { return app::takes_standard_output({centers_out, labels_out}, common.json); }

std::optional<KMeansInit> init_of(const std::string& word) { return value_of(inits, word); }
std::optional<KMeansMetric> metric_of(const std::string& word) { return value_of(metrics, word); }

std::string name_of(KMeansMetric metric) { return word_of(metrics, metric); }
std::string name_of(KMeansAlgorithm algorithm) { return word_of(algorithms, algorithm); }
std::string name_of(KMeansPrecision precision) { return word_of(precisions, precision); }
std::string name_of(Choose choose) { return word_of(choices, choose); }
std::string name_of(KMeansTolerance tolerance) { return word_of(tolerances, tolerance); }
std::string name_of(KMeansStop stop) { return word_of(stops, stop); }

}  // namespace ts::tskmeans
