#include <cstring>

#include "tallskinny/solvers/capi/handles.hpp"
#include "tallskinny/solvers/driver/cluster.hpp"
#include "tallskinny/solvers/driver/eigs.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"
#include "tallskinny/solvers/driver/svds.hpp"
#include "tallskinny/solvers/kmeans/variants/batch.hpp"

namespace {

using namespace ts;
using solvers::Which;

/// Options of this version, of which a caller of an older one gave the first `size` bytes.
template <class Options>
Options taken(const Options* given, void (*init)(Options*)) {
  Options o;
  init(&o);
  if (given == nullptr) return o;
  expects(given->size >= sizeof(std::size_t) && given->size <= sizeof(Options),
          "options were not filled by their _init function, or are of a later version");
  std::memcpy(&o, given, given->size);
  return o;
}

/// Options of the solvers, which stop when `progress` asks for it.
template <class Options>
Options solver_options(const ts_solve_options& o) {
  Options options;
  expects(o.which >= TS_LA && o.which <= TS_BE, "`which` is none of ts_which");
  options.which = static_cast<Which>(o.which);
  options.tol = o.tol, options.max_iterations = o.max_iterations, options.seed = o.seed;
  options.verify = o.verify != 0;
  if (o.progress == nullptr) return options;
  const auto stop = std::make_shared<bool>(false);
  options.progress = [stop, o](const solvers::Progress& p) {
    *stop = o.progress(o.user, p.phase == "verify" ? -1 : p.fraction, p.converged, p.wanted) != 0 || *stop;
  };
  options.stop = [stop] { return *stop; };
  return options;
}

/// A result's handle; fill(handle, result) lists its arrays.
template <class Result, class Fill>
ts_result* handle_of(Result result, const Fill& fill) {
  const auto kept = std::make_shared<const Result>(std::move(result));
  auto out = std::make_unique<ts_result>();
  out->owner = kept;
  fill(*out, *kept);
  return out.release();
}

/// Adds the results that eigenvalue and singular value solvers have in common.
template <class Pairs>
void add_pairs(ts_result& out, const Pairs& p) {
  out.converged = p.converged, out.complete = p.verified, out.reason = p.reason;
  out.numbers = {{TS_ITERATIONS, static_cast<double>(p.iterations)},
                 {TS_APPLICATIONS, static_cast<double>(p.operator_applications)},
                 {TS_CONVERGED_COUNT, static_cast<double>(p.converged_count)}};
  out.add(TS_VALUES, p.values), out.add(TS_VECTORS, p.vectors), out.add(TS_RESIDUALS, p.residual_norms);
}

/// Columns to begin with, of the element type that is computed in.
template <class T>
HostView<const T> initial_of(const ts_solve_options& o) {
  if (o.initial == nullptr) return {};
  if constexpr (std::is_same_v<T, double>)
    if (const auto* dense = std::get_if<0>(&o.initial->matrix))
      if (const auto* view = std::get_if<HostView<double>>(dense)) return *view;
  throw Error(Errc::invalid_argument, "`initial` is a row-major float64 matrix, for a real matrix");
}

template <class T>
solvers::EigshOptions<T> eigsh_options(const ts_solve_options& o) {
  auto options = solver_options<solvers::EigshOptions<T>>(o);
  if (o.has_sigma != 0) options.sigma = o.sigma;
  options.initial = initial_of<T>(o);
  if (o.mass == nullptr) return options;
  if constexpr (std::is_same_v<T, double>) {
    const auto* mass = std::get_if<capi::Sparse>(&o.mass->matrix);
    expects(mass != nullptr, "`mass` is a sparse matrix");
    expects(solvers::check_csr(*mass), "the columns of `mass` rise within each row");
    options.mass = *mass;
    return options;
  }
  throw Error(Errc::invalid_argument, "`mass` goes with a real matrix");
}

/// A function of C as an operator.
struct Applied {
  capi::Function f;
  [[nodiscard]] index_t rows() const { return f.n; }
  void apply(const Context&, HostView<const double> x, HostView<double> y) const {
    if (f.apply(f.user, x.cols(), x.data(), x.ld(), y.data(), y.ld()) != 0)
      throw Error(Errc::interrupted, "the function that a matrix was made from has failed");
  }
};

template <class T>
void fill_hermitian(ts_result& out, const solvers::EigshResult<T>& found) {
  add_pairs(out, found);
  out.add(TS_BACKWARD_ERRORS, found.backward_errors);
}

void expect_handles(const void* ctx, const void* a, const void* out) {
  expects(ctx != nullptr && a != nullptr && out != nullptr, "the context, the matrix or `out` is null");
}

Rows rows_of(const ts_matrix& m) {
  return capi::with_matrix<Rows>(m, [](const auto& view) -> Rows {
    using V = std::decay_t<decltype(view)>;
    if constexpr (std::is_same_v<V, capi::Sparse>) {
      expects(solvers::check_csr(view), "the columns of sparse rows rise within each row");
      return Rows(view);
    } else if constexpr (is_complex<typename V::value_type>) {
      throw Error(Errc::invalid_argument, "k-means takes real rows");
    } else {
      return Rows(view);
    }
  });
}

HostView<const double> centers_of(const ts_matrix& m) {
  if (const auto* dense = std::get_if<0>(&m.matrix))
    if (const auto* view = std::get_if<HostView<double>>(dense)) return *view;
  throw Error(Errc::invalid_argument, "centres are a row-major float64 matrix");
}

solvers::KMeansMetric metric_of(const ts_kmeans_options& o) {
  return o.cosine != 0 ? solvers::KMeansMetric::cosine : solvers::KMeansMetric::euclidean;
}
std::span<const double> weights_of(const ts_kmeans_options& o, const Rows& rows) {
  if (o.weights == nullptr) return {};
  return {o.weights, at(rows.rows())};
}

solvers::KMeansOptions kmeans_options(const ts_kmeans_options& o, const Rows& points) {
  solvers::KMeansOptions kmeans;
  kmeans.tol = o.tol, kmeans.seed = o.seed, kmeans.max_iter = o.max_iter, kmeans.n_init = o.n_init;
  kmeans.metric = metric_of(o), kmeans.weights = weights_of(o, points);
  if (o.centers != nullptr) kmeans.init = solvers::KMeansInit::given, kmeans.centers = centers_of(*o.centers);
  if (o.progress != nullptr)
    kmeans.on_progress = [o](const solvers::KMeansProgress& p) {
      return o.progress(o.user, static_cast<double>(p.iteration) / o.max_iter, p.iteration, o.max_iter) == 0;
    };
  return kmeans;
}

void fill_clusters(ts_result& r, const solvers::KMeansResult& found) {
  r.converged = r.complete = found.converged(), r.reason = solvers::verdict(found);
  r.numbers = {{TS_INERTIA, found.inertia}, {TS_ITERATIONS, static_cast<double>(found.n_iter)}};
  r.add(TS_LABELS, found.labels), r.add(TS_CENTERS, found.centers);
}

}  // namespace

void ts_solve_options_init(ts_solve_options* o) {
  *o = {};
  o->size = sizeof *o;
  o->tol = solvers::EigenOptions{}.tol;
  o->verify = 1;
}

void ts_kmeans_options_init(ts_kmeans_options* o) {
  const solvers::KMeansOptions defaults;
  *o = {};
  o->size = sizeof *o;
  o->tol = defaults.tol, o->max_iter = defaults.max_iter, o->n_init = defaults.n_init;
}

ts_status ts_eigsh(ts_context* ctx, const ts_matrix* a, int64_t k, const ts_solve_options* options, ts_result** out) {
  return capi::guarded([&] {
    expect_handles(ctx, a, out);
    const auto o = taken(options, ts_solve_options_init);
    if (const auto* f = std::get_if<capi::Function>(&a->matrix)) {
      *out = handle_of(
          solvers::eigsh<double>(ctx->ctx, solvers::Operator<double>(Applied{*f}), k, eigsh_options<double>(o)),
          fill_hermitian<double>);
      return;
    }
    *out = capi::with_matrix<ts_result*>(*a, [&](const auto& view) {
      using T = ts::wide_t<typename std::decay_t<decltype(view)>::value_type>;
      return handle_of(solvers::eigsh(ctx->ctx, view, k, eigsh_options<T>(o)), fill_hermitian<T>);
    });
  });
}

ts_status ts_eigs(ts_context* ctx, const ts_matrix* a, int64_t k, const ts_solve_options* options, ts_result** out) {
  return capi::guarded([&] {
    expect_handles(ctx, a, out);
    const auto o = taken(options, ts_solve_options_init);
    *out = capi::with_matrix<ts_result*>(*a, [&](const auto& view) {
      using T = ts::wide_t<typename std::decay_t<decltype(view)>::value_type>;
      auto general = solver_options<solvers::EigsOptions<T>>(o);
      using solvers::GeneralWhich;
      general.part = general.which == Which::LA   ? GeneralWhich::LR
                     : general.which == Which::SA ? GeneralWhich::SR
                                                  : GeneralWhich::LM;
      expects(general.which != Which::BE, "ts_eigs knows no TS_BE");
      general.initial = initial_of<T>(o);
      if (o.has_sigma != 0 || general.which == Which::SM) general.sigma = {o.sigma, o.sigma_imaginary};
      return handle_of(solvers::eigs(ctx->ctx, view, k, general), [](ts_result& r, const solvers::EigsResult& found) {
        add_pairs(r, found);
        r.add(TS_BACKWARD_ERRORS, found.backward_errors);
      });
    });
  });
}

ts_status ts_svds(ts_context* ctx, const ts_matrix* a, int64_t k, const ts_solve_options* options, ts_result** out) {
  return capi::guarded([&] {
    expect_handles(ctx, a, out);
    const auto o = taken(options, ts_solve_options_init);
    *out = capi::with_matrix<ts_result*>(*a, [&](const auto& view) {
      using T = ts::wide_t<typename std::decay_t<decltype(view)>::value_type>;
      auto svd = solver_options<solvers::SvdsOptions>(o);
      svd.centre = o.centre != 0;
      return handle_of(solvers::svds(ctx->ctx, view, k, svd), [](ts_result& r, const solvers::SvdsResult<T>& found) {
        add_pairs(r, found.triplets);
        r.add(TS_LEFT_VECTORS, found.left), r.add(TS_BACKWARD_ERRORS, found.backward_errors);
        if (!found.means.empty()) r.add(TS_MEANS, found.means);
      });
    });
  });
}

ts_status ts_kmeans(ts_context* ctx, const ts_matrix* rows, int64_t k, const ts_kmeans_options* options,
                    ts_result** out) {
  return capi::guarded([&] {
    expect_handles(ctx, rows, out);
    const Rows points = rows_of(*rows);
    const auto kmeans = kmeans_options(taken(options, ts_kmeans_options_init), points);
    *out = handle_of(solvers::kmeans(ctx->ctx, points, k, kmeans), fill_clusters);
  });
}

ts_status ts_kmeans_batch(ts_context* ctx, const ts_matrix* const* rows, int64_t batch, int64_t k,
                          const ts_kmeans_options* options, ts_result** out) {
  return capi::guarded([&] {
    expect_handles(ctx, rows, out);
    std::vector<Rows> problems;
    for (int64_t b = 0; b < batch; ++b) {
      expect_handles(ctx, rows[b], out);
      problems.push_back(rows_of(*rows[b]));
    }
    expects(!problems.empty(), "a batch must have at least 1 problem");
    auto kmeans = kmeans_options(taken(options, ts_kmeans_options_init), problems.front());
    kmeans.clusters = k;
    std::vector<std::unique_ptr<ts_result>> handles;
    for (auto& found : solvers::kmeans_batch(ctx->ctx, problems, kmeans))
      handles.emplace_back(handle_of(std::move(found), fill_clusters));
    for (auto& handle : handles) *out++ = handle.release();
  });
}

ts_status ts_predict(ts_context* ctx, const ts_matrix* rows, const ts_matrix* centers, ts_result** out) {
  return ts_predict_by(ctx, rows, centers, nullptr, out);
}

ts_status ts_predict_by(ts_context* ctx, const ts_matrix* rows, const ts_matrix* centers,
                        const ts_kmeans_options* options, ts_result** out) {
  return capi::guarded([&] {
    expect_handles(ctx, rows, out);
    expects(centers != nullptr, "the centres are null");
    const auto o = taken(options, ts_kmeans_options_init);
    const Rows points = rows_of(*rows);
    *out = handle_of(solvers::predict(ctx->ctx, points, centers_of(*centers), metric_of(o), weights_of(o, points)),
                     [](ts_result& r, const solvers::KMeansPrediction& found) {
                       r.converged = r.complete = true;
                       r.numbers = {{TS_INERTIA, found.inertia}};
                       r.add(TS_LABELS, found.labels);
                     });
  });
}
