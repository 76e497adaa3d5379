#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/gemm/core/sparse_of.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/measures.hpp"
#include "tallskinny/tests/bench/baseline/results.hpp"

namespace ts::baseline {

namespace {

using solvers::KMeansAlgorithm;
using solvers::KMeansInit;
using solvers::KMeansOptions;
using solvers::KMeansResult;

void add(Hash& hash, const KMeansResult& r) {
  hash.add(r.labels).add(r.centers).add(r.inertia).add(r.n_iter).add(r.stop).add(r.sizes).add(r.distinct);
  hash.add(r.relocated).add(r.rescored).add(r.skipped).add(r.zero_rows).add(r.run);
  for (const std::string& note : r.notes) hash.text(note);
}

void print(const std::string& name, const Rows& x, const KMeansOptions& options) {
  item("kmeans " + name, [&](Hash& hash) { add(hash, solvers::kmeans(plain_context(), x, options)); });
}

constexpr std::pair<const char*, KMeansAlgorithm> algorithms[] = {{"lloyd", KMeansAlgorithm::lloyd},
                                                                  {"mini-batch", KMeansAlgorithm::mini_batch},
                                                                  {"bisecting", KMeansAlgorithm::bisecting},
                                                                  {"balanced", KMeansAlgorithm::balanced}};
constexpr std::pair<const char*, KMeansInit> inits[] = {
    {"plus_plus", KMeansInit::plus_plus}, {"parallel", KMeansInit::parallel}, {"random", KMeansInit::random}};

void print_all(const std::string& set, const Rows& x) {
  for (const auto& [algorithm_name, algorithm] : algorithms)
    for (const auto& [init_name, init] : inits) {
      KMeansOptions o;
      o.clusters = 9, o.algorithm = algorithm, o.init = init, o.max_iter = 30, o.seed = 3;
      print(set + " " + algorithm_name + " " + init_name, x, o);
    }
}

void print_options(const std::string& set, const Rows& x) {
  KMeansOptions o;
  o.clusters = 20, o.max_iter = 25;
  for (const bool bounds : {true, false}) {
    o.bounds = bounds;
    print(set + (bounds ? " bounds" : " no bounds"), x, o);
  }
  o.precision = solvers::KMeansPrecision::fast;
  print(set + " fast", x, o);
  o.precision = solvers::KMeansPrecision::exact;
  for (const auto& [name, algorithm] : algorithms) {
    o.metric = solvers::KMeansMetric::cosine, o.algorithm = algorithm;
    print(set + " cosine " + name, x, o);
  }
  o.metric = solvers::KMeansMetric::euclidean, o.algorithm = KMeansAlgorithm::lloyd;
  o.n_init = 3, o.tolerance = solvers::KMeansTolerance::labels;
  print(set + " three starts", x, o);
  std::vector<double> weights(static_cast<std::size_t>(x.rows()));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 7) / 3;
  o.n_init = 1, o.weights = weights;
  for (const auto& [name, init] : inits) {
    o.init = init;
    print(set + " weights " + name, x, o);
  }
}

void print_after(const std::string& set, const Rows& x) {
  KMeansOptions o;
  o.clusters = 8, o.max_iter = 10;
  const KMeansResult r = solvers::kmeans(plain_context(), x, o);
  o.init = KMeansInit::given, o.centers = r.centers.cview();
  print(set + " given", x, o);
  for (const auto metric : {solvers::KMeansMetric::euclidean, solvers::KMeansMetric::cosine})
    item("kmeans " + set + " after" + (metric == solvers::KMeansMetric::cosine ? " cosine" : ""), [&](Hash& hash) {
      const auto centers = r.centers.cview();
      const auto p = solvers::predict(plain_context(), x, centers, metric);
      const auto m = solvers::measure(plain_context(), solvers::RowsInMemory(x), centers, p.labels, metric);
      hash.add(p.labels).add(p.inertia).add(p.sizes).add(p.rescored);
      hash.add(solvers::transform(plain_context(), x, centers, metric));
      hash.add(solvers::verify(plain_context(), x, centers, p.labels, metric));
      hash.add(m.simplified_silhouette).add(m.davies_bouldin).add(m.calinski_harabasz);
    });
  item("kmeans " + set + " several numbers", [&](Hash& hash) {
    KMeansOptions each;
    each.max_iter = 10;
    const std::vector<index_t> clusters = {2, 5, 9};
    for (const KMeansResult& one : solvers::kmeans_of_each(plain_context(), solvers::RowsInMemory(x), each, clusters))
      add(hash, one);
  });
}

template <class T>
void print_type() {
  const std::string type(name_of(dtype_of<T>));
  const Matrix<T> x = generators::blobs<T>(generators::Blobs(6000, 12, 30, 1, 3, 0.5, 5));
  print_all("blobs " + type, x.cview());
  print_options("blobs " + type, x.cview());
  print_after("blobs " + type, x.cview());
}

}  // namespace

void print_kmeans() {
  print_type<double>(), print_type<float>(), print_type<float16>(), print_type<bfloat16>();
  Matrix<float> holes = generators::uniform<float>(2000, 40, 3);
  for (index_t i = 0; i < holes.rows(); ++i)
    for (index_t j = 0; j < holes.cols(); ++j)
      if ((i * 3 + j) % 7 != 0) holes(i, j) = 0;
  const CsrMatrix<float> sparse = sparse_of<float>(holes);
  print_all("sparse", sparse.view()), print_options("sparse", sparse.view());
  const Matrix<double> copies = generators::duplicates<double>(1000, 3, 6, 2);
  print_all("duplicates", copies.cview());
}

}  // namespace ts::baseline
