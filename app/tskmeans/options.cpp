#include "tallskinny/app/tskmeans/options.hpp"

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::tskmeans {

using solvers::KMeansInit;
using solvers::KMeansMetric;
using solvers::KMeansStop;
using solvers::KMeansTolerance;

namespace {

const app::About about{
    .name = "tskmeans",
    .summary = "k-means of the points in a file: exact labels, the same result for any number of threads.",
    .usage = "FEATURES[:/OBJECT] -k N [options]",
    .examples = {{"Ten clusters of a feature matrix", "tskmeans features.h5 -k 10 --output clusters.h5"},
                 {"The best of five starts, by direction, as JSON",
                  "tskmeans a.h5ad:/obsm/X_pca -k 20 --metric cosine --n-init 5 --json"},
                 {"Labels of new points by centres found before",
                  "tskmeans new.h5 --predict clusters.h5 --output labels.h5"}},
    .notes =
        "FEATURES has one row for each point, dense or sparse, in HDF5 (many layouts), .npy, .csv, .arff or "
        "Matrix Market.\n\n"
        "FILE.h5 of --output holds labels, cluster_centers, inertia, n_iter and cluster_sizes.\n\n"
        "Exit status: 0 converged, 1 failure, 2 wrong usage, 3 not converged within --max-iter (the result "
        "is "
        "written), 4 unusable input, 5 no such device, 128+n stopped by signal n (the result so far is "
        "written)."};

void check(const ProgramOptions& o, const app::Options& options) {
  if (!o.predict.empty())
    for (const char* name : {"n-clusters", "init", "n-init", "max-iter", "tol", "tol-mode", "seed"})
      if (options.given(name))
        throw Error(Errc::invalid_argument, std::string("--") + name +
                                                " has no meaning with --predict, which "
                                                "only assigns points to the centres of a file");
}

}  // namespace

bool ProgramOptions::parse(app::Arguments arguments) {
  app::Options options(about);
  options.positional("FEATURES", features, "a file, or FILE.h5:/OBJECT for one object in it");
  const auto file = [](std::string& target) {
    return [&target](std::string_view text) { return app::parse_value(text, target) && !target.empty(); };
  };
  options.group("Clustering")
      .value("n-clusters,k", "N", clusters, "number of clusters; default 8, or the rows of --init FILE",
             app::at_least<index_t>(1))
      .custom("init", "k-means++|k-means|||random|FILE", init,
              "first centres: greedy k-means++, k-means||, distinct random points, or the rows of "
              "FILE[:/OBJECT]",
              "k-means++, k-means||, random or a file", file(init))
      .value("n-init", "N", kmeans.n_init, "starts; the one of least inertia is kept", app::at_least(1))
      .value("max-iter", "N", kmeans.max_iter, "iterations of each start at most", app::at_least(1))
      .value("tol", "X", kmeans.tol, "converged when the centres move less; 0: only when nothing changes",
             app::at_least(0.0))
      .choice("tol-mode", kmeans.tolerance,
              "squared movement of all centres against tol times the mean variance of the features (as "
              "scikit-learn does), against tol itself, or not at all: only unchanged labels count",
              {{"relative", KMeansTolerance::relative},
               {"absolute", KMeansTolerance::absolute},
               {"labels", KMeansTolerance::labels}})
      .choice("metric", kmeans.metric,
              "cosine divides every point by its norm and keeps centres on the sphere",
              {{"euclidean", KMeansMetric::euclidean}, {"cosine", KMeansMetric::cosine}})
      .choice("bounds", kmeans.bounds,
              "skip points whose label is proved by bounds on distances, wherever that pays, or never; the "
              "labels are the same",
              {{"auto", true}, {"off", false}})
      .custom("weights", "FILE[:/OBJECT]", {}, "one weight for each point", "a file", file(weights))
      .custom("predict", "FILE[:/OBJECT]", {}, "do not cluster: label points by the centres in FILE",
              "a file", file(predict))
      .flag("verify", verify, "compare every label with all distances in float64 afterwards");
  app::add_seed_option(options, common);
  app::add_read_options(options.group("Reading"), read);
  app::add_rows_option(options, read);
  app::add_output_options(options.group("Output"), common,
                          "write labels, cluster_centers, inertia, n_iter and cluster_sizes");
  app::add_report_options(options, common);
  app::add_machine_options(options.group("Machine"), common);
  if (!options.parse(arguments)) return false;
  metric_given = options.given("metric");
  kmeans.seed = common.seed;
  check(*this, options);
  return true;
}

std::optional<KMeansInit> init_of(const std::string& word) {
  if (word == "k-means++") return KMeansInit::plus_plus;
  if (word == "k-means||") return KMeansInit::parallel;
  if (word == "random") return KMeansInit::random;
  return std::nullopt;
}

std::string name_of(KMeansMetric metric) {
  return metric == KMeansMetric::cosine ? "cosine" : "euclidean";
}

std::string name_of(KMeansTolerance tolerance) {
  switch (tolerance) {
    case KMeansTolerance::relative:
      return "relative";
    case KMeansTolerance::absolute:
      return "absolute";
    case KMeansTolerance::labels:
      break;
  }
  return "labels";
}

std::string name_of(KMeansStop stop) {
  switch (stop) {
    case KMeansStop::labels_unchanged:
      return "labels unchanged";
    case KMeansStop::tolerance:
      return "tolerance reached";
    case KMeansStop::max_iterations:
      return "iteration limit";
    case KMeansStop::interrupted:
      break;
  }
  return "interrupted";
}

}  // namespace ts::tskmeans
