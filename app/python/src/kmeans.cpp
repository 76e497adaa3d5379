// k-means on arrays: rows in the caller's memory, results as arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>

#include "arrays.hpp"
#include "tallskinny/solvers/kmeans/variants/batch.hpp"
#include "watch.hpp"

namespace ts::python {

namespace {

using namespace solvers;

/// Rows of an array, or of (indptr, indices, data, columns) of a sparse matrix; owns nothing.
Rows rows_of(const Context& ctx, nb::handle x) {
  if (nb::isinstance<nb::tuple>(x)) {
    const auto parts = nb::cast<CsrParts>(x);
    const bool narrow = std::get<2>(parts).dtype() == nb::dtype<float>();
    return narrow ? Rows(csr_of<float>(parts)) : Rows(csr_of<double>(parts));
  }
  const Operand o = operand_of(nb::cast<In>(x), "X");
  const bool by_rows = o.col_stride == 1 || o.cols == 1;
  return with_type(o.type, [&]<class T>() -> Rows {
    if constexpr (is_complex<T>) {
      throw Error(Errc::invalid_argument, "Complex data not supported: points have real coordinates");
    } else {
      const T* const data = static_cast<const T*>(o.data);
      const auto placed = [&](const auto& view) {
        using View = std::decay_t<decltype(view)>;
        if constexpr (View::space == Space::device)
          return Rows(ctx.stream, view);
        else
          return Rows(view);
      };
      if (o.space == Space::host)
        return by_rows ? placed(HostView<const T>(data, o.rows, o.cols, std::max(o.row_stride, o.cols)))
                       : placed(HostView<const T, Layout::col_major>(data, o.rows, o.cols, o.col_stride));
      return by_rows ? placed(DeviceView<const T>(data, o.rows, o.cols, std::max(o.row_stride, o.cols)))
                     : placed(DeviceView<const T, Layout::col_major>(data, o.rows, o.cols, o.col_stride));
    }
  });
}

Context context_for(const Context& ctx, nb::handle x) {
  if (nb::isinstance<nb::tuple>(x)) return ctx;
  return context_at(ctx, operand_of(nb::cast<In>(x), "X"));
}

std::span<const double> numbers(const std::optional<In>& a, const char* name) {
  if (!a) return {};
  const auto [data, size] = list_of<double>(*a, name);
  return {data, static_cast<std::size_t>(size)};
}

HostView<const double> centers_of(const In& a) {
  const Operand o = operand_of(a, "centers");
  expects(o.space == Space::host && o.type == DType::float64 && (o.col_stride == 1 || o.cols <= 1),
          "centers must be float64 in rows, in host memory");
  return {static_cast<const double*>(o.data), o.rows, o.cols, std::max(o.row_stride, o.cols)};
}

constexpr std::pair<const char*, KMeansAlgorithm> algorithms[] = {{"lloyd", KMeansAlgorithm::lloyd},
                                                                  {"mini-batch", KMeansAlgorithm::mini_batch},
                                                                  {"bisecting", KMeansAlgorithm::bisecting},
                                                                  {"balanced", KMeansAlgorithm::balanced},
                                                                  {"two-level", KMeansAlgorithm::two_level}};
constexpr std::pair<const char*, KMeansInit> inits[] = {{"k-means++", KMeansInit::plus_plus},
                                                        {"k-means||", KMeansInit::parallel},
                                                        {"random", KMeansInit::random},
                                                        {"given", KMeansInit::given}};
constexpr std::pair<const char*, KMeansMetric> metrics[] = {{"euclidean", KMeansMetric::euclidean},
                                                            {"cosine", KMeansMetric::cosine}};

/// Calls the Python function `first` with the rows of a split; returns its array of 2 x d.
Matrix<double> split_centers_of(Watch& watch, const nb::object& first, std::span<const index_t> rows) {
  const nb::gil_scoped_acquire lock;
  try {
    const nb::object found = first(array_of(std::vector<index_t>(rows.begin(), rows.end())));
    return Matrix<double>::copy_of(centers_of(nb::cast<In>(found)));
  } catch (nb::python_error& e) {
    watch.keep(std::move(e));
    throw Error(Errc::interrupted, "the function that chooses first centres failed");
  }
}

std::function<bool(const KMeansProgress&)> progress_to(Watch& watch) {
  return [&watch](const KMeansProgress& p) {
    return watch.go_on([&p] {
      nb::dict progress;
      progress["run"] = p.run, progress["runs"] = p.runs, progress["iteration"] = p.iteration,
      progress["chosen"] = p.chosen;
      progress["clusters"] = p.clusters, progress["changed"] = p.changed, progress["inertia"] = p.inertia;
      return progress;
    });
  };
}

/// @param split None, or chooses the first centres of the splits of `bisecting`.
nb::dict kmeans_of(const Context& ctx_, nb::object x, KMeansOptions options, std::optional<In> weights,
                   std::optional<In> centers, nb::object callback, nb::object split) {
  const Context ctx = context_for(ctx_, x);
  const Rows rows = rows_of(ctx, x);
  options.weights = numbers(weights, "sample_weight");
  if (centers) options.centers = centers_of(*centers);
  Watch watch(std::move(callback));
  if (!split.is_none())
    options.split_centers = [&](std::span<const index_t> of) { return split_centers_of(watch, split, of); };
  options.on_progress = progress_to(watch);
  KMeansResult found = watched(watch, [&] { return kmeans(ctx, rows, options); });
  nb::dict out;
  out["converged"] = found.converged(), out["inertia"] = found.inertia, out["n_iter"] = found.n_iter;
  out["distinct"] = found.distinct;
  nb::list notes;
  for (const std::string& note : found.notes) notes.append(note);
  out["notes"] = notes;
  out["labels"] = array_of(std::move(found.labels)), out["centers"] = array_of(std::move(found.centers));
  return out;
}

/// The results of all problems, one after the other.
nb::dict kmeans_batch_of(const Context& ctx_, const nb::list& problems, KMeansOptions options,
                         std::optional<In> weights, std::optional<In> centers, nb::object callback) {
  const Context ctx = context_for(ctx_, problems[0]);
  std::vector<Rows> rows;
  for (const nb::handle x : problems) rows.push_back(rows_of(ctx, x));
  options.weights = numbers(weights, "sample_weight");
  if (centers) options.centers = centers_of(*centers);
  Watch watch(std::move(callback));
  options.on_progress = progress_to(watch);
  const std::vector<KMeansResult> found = watched(watch, [&] { return kmeans_batch(ctx, rows, options); });
  const index_t batch = std::ssize(found), n = rows.front().rows(), k = options.clusters, d = rows.front().cols();
  Matrix<std::int32_t> labels(batch, n);
  Matrix<double> all_centers(batch * k, d);
  std::vector<double> inertia;
  std::vector<std::int32_t> iterations, distinct;
  for (index_t b = 0; b < batch; ++b) {
    const KMeansResult& of = found[static_cast<std::size_t>(b)];
    std::copy(of.labels.begin(), of.labels.end(), labels.data() + b * n);
    std::copy_n(of.centers.data(), k * d, all_centers.data() + b * k * d);
    inertia.push_back(of.inertia), iterations.push_back(of.n_iter);
    distinct.push_back(static_cast<std::int32_t>(of.distinct));
  }
  nb::dict out;
  out["labels"] = array_of(std::move(labels)), out["centers"] = array_of(std::move(all_centers));
  out["inertia"] = array_of(std::move(inertia)), out["n_iter"] = array_of(std::move(iterations));
  out["distinct"] = array_of(std::move(distinct));
  return out;
}

nb::tuple predict_of(const Context& ctx_, nb::object x, const In& centers, const std::string& metric,
                     std::optional<In> weights) {
  const Context ctx = context_for(ctx_, x);
  const Rows rows = rows_of(ctx, x);
  KMeansPrediction found;
  {
    const auto about = centers_of(centers);
    const auto w = numbers(weights, "sample_weight");
    const nb::gil_scoped_release released;
    found = predict(ctx, rows, about, word_of(metric, "metric", metrics), w);
  }
  return nb::make_tuple(array_of(std::move(found.labels)), found.inertia);
}

nb::object transform_of(const Context& ctx_, nb::object x, const In& centers, const std::string& metric) {
  const Context ctx = context_for(ctx_, x);
  const Rows rows = rows_of(ctx, x);
  Matrix<double> found;
  {
    const auto about = centers_of(centers);
    const nb::gil_scoped_release released;
    found = transform(ctx, rows, about, word_of(metric, "metric", metrics));
  }
  return array_of(std::move(found));
}

}  // namespace

void add_kmeans(nb::module_& m) {
  nb::class_<KMeansOptions>(m, "KMeansOptions")
      .def(nb::init<>())
      .def_rw("clusters", &KMeansOptions::clusters)
      .def_rw("batch", &KMeansOptions::batch)
      .def_rw("n_init", &KMeansOptions::n_init)
      .def_rw("max_iter", &KMeansOptions::max_iter)
      .def_rw("tol", &KMeansOptions::tol)
      .def_rw("seed", &KMeansOptions::seed)
      .def_rw("sample", &KMeansOptions::sample)
      .def_rw("refine", &KMeansOptions::refine)
      .def_rw("split_largest", &KMeansOptions::split_largest)
      .def("set_algorithm",
           [](KMeansOptions& o, const std::string& word) { o.algorithm = word_of(word, "algorithm", algorithms); })
      .def("set_init", [](KMeansOptions& o, const std::string& word) { o.init = word_of(word, "init", inits); })
      .def("set_metric",
           [](KMeansOptions& o, const std::string& word) { o.metric = word_of(word, "metric", metrics); });
  m.def("kmeans", kmeans_of, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
        nb::arg().none());
  m.def("kmeans_batch", kmeans_batch_of, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
        nb::arg().none());
  m.def("predict", predict_of, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("transform", transform_of);
}

}  // namespace ts::python
