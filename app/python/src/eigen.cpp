// Eigenvalues and singular values of arrays, sparse matrices, and whatever multiplies in Python.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "tallskinny/solvers/driver/eigs.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"
#include "tallskinny/solvers/driver/svds.hpp"
#include "watch.hpp"

namespace ts::python {

namespace {

using namespace solvers;

/// Options that Python sets.
struct Asked : EigenOptions {
  bool symmetrise = false, from_float32 = false;  ///< of EigshOptions
};

/// f(x, y) in Python, which writes A x into y; both are n x b.
template <class T>
struct Product {
  index_t n;
  nb::object f;

  [[nodiscard]] index_t rows() const noexcept { return n; }
  void apply(const Context&, HostView<const T> x, HostView<T> y) const {
    const nb::gil_scoped_acquire lock;
    const auto array = [](const auto& view) {
      using V = std::remove_cvref_t<decltype(view)>;
      using E = std::remove_pointer_t<decltype(V{}.data())>;
      const std::size_t shape[] = {static_cast<std::size_t>(view.rows()), static_cast<std::size_t>(view.cols())};
      const std::int64_t strides[] = {view.ld(), 1};
      return nb::ndarray<nb::numpy, E>(view.data(), 2, shape, nb::handle(), strides);
    };
    f(nb::cast(array(x), nb::rv_policy::reference), nb::cast(array(y), nb::rv_policy::reference));
  }
};

/// The callable may be freed by a thread without Python's lock.
template <class T>
Operator<T> operator_of_callable(index_t n, const nb::object& f) {
  struct Shared {
    std::shared_ptr<const Product<T>> product;
    [[nodiscard]] index_t rows() const noexcept { return product->n; }
    void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const { product->apply(ctx, x, y); }
  };
  return Operator<T>(Shared{std::shared_ptr<const Product<T>>(new Product<T>{n, f}, [](const Product<T>* p) {
    const nb::gil_scoped_acquire lock;
    delete p;
  })});
}

/// use(view) for the matrix that an array, or (indptr, indices, data, columns), holds.
template <class Use>
auto with_matrix(nb::handle a, Use&& use) {
  using Result = decltype(use(CsrView<double>{}));
  if (!nb::isinstance<nb::tuple>(a)) {
    const Operand o = operand_of(nb::cast<In>(a), "A");
    expects(o.space == Space::host, "A must lie in host memory");
    return with_type(o.type, [&]<class T>() -> Result {
      const T* const data = static_cast<const T*>(o.data);
      if (o.col_stride == 1 || o.cols <= 1)
        return use(HostView<const T>(data, o.rows, o.cols, std::max(o.row_stride, o.cols)));
      return use(HostView<const T, Layout::col_major>(data, o.rows, o.cols, std::max(o.col_stride, o.rows)));
    });
  }
  const auto parts = nb::cast<CsrParts>(a);
  const auto type = std::get<2>(parts).dtype();
  if (type == nb::dtype<double>()) return use(csr_of<double>(parts));
  if (type == nb::dtype<float>()) return use(csr_of<float>(parts));
  if (type == nb::dtype<std::complex<float>>()) return use(csr_of<std::complex<float>>(parts));
  return use(csr_of<std::complex<double>>(parts));
}

constexpr std::pair<const char*, Which> which_words[] = {
    {"LM", Which::LM}, {"SM", Which::SM}, {"LA", Which::LA}, {"SA", Which::SA}, {"BE", Which::BE}};
constexpr std::pair<const char*, GeneralWhich> general_words[] = {{"LM", GeneralWhich::LM},
                                                                  {"LR", GeneralWhich::LR},
                                                                  {"SR", GeneralWhich::SR},
                                                                  {"LI", GeneralWhich::LI},
                                                                  {"SI", GeneralWhich::SI}};
constexpr std::pair<const char*, Method> methods[] = {{"auto", Method::automatic}, {"lanczos", Method::lanczos},
                                                      {"dense", Method::dense},    {"chebyshev", Method::chebyshev},
                                                      {"lobpcg", Method::lobpcg},  {"davidson", Method::davidson}};
constexpr std::pair<const char*, Convergence> convergences[] = {
    {"rel", Convergence::rel}, {"norm", Convergence::norm}, {"abs", Convergence::abs}};

void hear(EigenOptions& options, Watch& watch) {
  options.stop = [&watch] { return !watch.go_on(); };
  options.progress = [&watch](const Progress& p) {
    (void)watch.go_on([&p] {
      nb::dict progress;
      progress["phase"] = std::string(p.phase), progress["iteration"] = p.iteration,
      progress["converged"] = p.converged;
      progress["wanted"] = p.wanted, progress["fraction"] = p.fraction;
      return progress;
    });
  };
}

/// Vectors, which wait on the device of `ctx` where they were left there.
template <class T>
nb::object vectors_of(const Context& ctx, Matrix<T>& here, DeviceMatrix<T>& there) {
  if (there.cols() == 0) return array_of(std::move(here));
  ctx.stream.synchronize();
  return array_of(std::move(there), ctx.stream.device().index);
}

/// Members that results of all solvers have in common.
template <class Result>
nb::dict outcome_of(const Context& ctx, Result& r) {
  nb::dict out;
  out["converged"] = r.converged, out["complete"] = r.verified, out["reason"] = r.reason;
  out["verification"] = std::string(name_of(r.verification));
  out["iterations"] = r.iterations, out["operator_applications"] = r.operator_applications;
  nb::list pairs;
  for (const bool ok : r.converged_pairs) pairs.append(ok);
  out["converged_pairs"] = pairs;
  out["residuals"] = array_of(std::move(r.residual_norms));
  out["vector_errors"] = array_of(std::move(r.vector_errors));
  out["values"] = array_of(std::move(r.values)), out["vectors"] = vectors_of(ctx, r.vectors, r.device_vectors);
  return out;
}
nb::dict general_outcome(const Context& ctx, EigsResult& r) {
  nb::dict out = outcome_of(ctx, r);
  out["conditions"] = array_of(std::move(r.conditions)), out["note"] = r.note;
  out["backward_errors"] = array_of(std::move(r.backward_errors));
  return out;
}
template <class T>
nb::dict hermitian_outcome(const Context& ctx, EigshResult<T>& r) {
  nb::dict out = outcome_of(ctx, r);
  out["error_bounds"] = array_of(std::move(r.error_bounds)), out["note"] = r.note;
  out["asymmetry"] = r.asymmetry;
  out["backward_errors"] = array_of(std::move(r.backward_errors));
  return out;
}

template <class T>
EigshOptions<T> hermitian_options(const Asked& common, std::optional<double> sigma,
                                  const std::optional<nb::tuple>& mass, const std::optional<In>& initial) {
  EigshOptions<T> o;
  static_cast<EigenOptions&>(o) = common;
  o.sigma = sigma, o.symmetrise = common.symmetrise, o.from_float32 = common.from_float32;
  if (mass)
    o.mass = with_matrix(*mass, []<class V>(const V& m) -> CsrView<T> {
      if constexpr (std::is_same_v<V, CsrView<T>>) return m;
      throw Error(Errc::invalid_argument, "M must be sparse and of the type of A");
    });
  if (initial) {
    const Operand v = operand_of(*initial, "v0");
    const auto s = v.as<const T, Space::host>("v0");
    o.initial = HostView<const T>(s.data, s.rows, s.cols, std::max(s.row_stride, s.cols));
  }
  return o;
}

nb::dict eigsh_of(const Context& ctx, nb::object a, index_t k, const Asked& common, std::optional<double> sigma,
                  std::optional<nb::tuple> mass, std::optional<In> initial, nb::object callback) {
  Watch watch(std::move(callback));
  return with_matrix(a, [&](const auto& view) {
    using T = wide_t<typename std::remove_cvref_t<decltype(view)>::value_type>;
    auto o = hermitian_options<T>(common, sigma, mass, initial);
    hear(o, watch);
    auto found = watched(watch, [&] { return eigsh(ctx, view, k, o); });
    return hermitian_outcome(ctx, found);
  });
}

template <class T>
nb::dict eigsh_by(const Context& ctx, nb::object f, index_t n, index_t k, const Asked& common,
                  std::optional<double> sigma, std::optional<nb::tuple> mass, std::optional<In> initial,
                  nb::object inverse, nb::object callback) {
  Watch watch(std::move(callback));
  auto o = hermitian_options<T>(common, sigma, mass, initial);
  if (!inverse.is_none()) o.inverse = operator_of_callable<T>(n, inverse);
  hear(o, watch);
  const Operator<T> a = operator_of_callable<T>(n, f);
  auto found = watched(watch, [&] { return eigsh<T>(ctx, a, k, o); });
  return hermitian_outcome(ctx, found);
}

template <class T>
EigsOptions<T> general_options(const Asked& common, const std::string& which) {
  EigsOptions<T> o;
  o.part = word_of(which, "which", general_words);
  static_cast<EigenOptions&>(o) = common;
  return o;
}

nb::dict eigs_of(const Context& ctx, nb::object a, index_t k, const Asked& common, const std::string& which,
                 std::optional<std::complex<double>> sigma, nb::object callback) {
  Watch watch(std::move(callback));
  return with_matrix(a, [&](const auto& view) {
    using T = wide_t<typename std::remove_cvref_t<decltype(view)>::value_type>;
    auto o = general_options<T>(common, which);
    o.sigma = sigma;
    hear(o, watch);
    auto found = watched(watch, [&] { return eigs(ctx, view, k, o); });
    return general_outcome(ctx, found);
  });
}

template <class T>
nb::dict eigs_by(const Context& ctx, nb::object f, index_t n, index_t k, const Asked& common, const std::string& which,
                 nb::object callback) {
  Watch watch(std::move(callback));
  auto o = general_options<T>(common, which);
  hear(o, watch);
  const Operator<T> a = operator_of_callable<T>(n, f);
  auto found = watched(watch, [&] { return eigs<T>(ctx, a, k, o); });
  return general_outcome(ctx, found);
}

template <class T>
nb::dict triplets_of(const Context& ctx, SvdsResult<T>& r) {
  nb::dict out = outcome_of(ctx, r.triplets);
  out["left"] = vectors_of(ctx, r.left, r.device_left);
  return out;
}

nb::dict svds_of(const Context& ctx, nb::object a, index_t k, const Asked& common, bool centre, nb::object callback) {
  Watch watch(std::move(callback));
  SvdsOptions o;
  static_cast<EigenOptions&>(o) = common, o.centre = centre;
  hear(o, watch);
  const auto solve = [&](const Context& at, const auto& view) {
    auto found = watched(watch, [&] { return svds(at, view, k, o); });
    return triplets_of(at, found);
  };
  if (!nb::isinstance<nb::tuple>(a)) {
    const Operand there = operand_of(nb::cast<In>(a), "A");
    if (there.space == Space::device)
      return with_type(there.type, [&]<class T>() -> nb::dict {
        const T* const data = static_cast<const T*>(there.data);
        const Context at = context_at(ctx, there);
        using ByColumns = MatrixView<const T, Space::device, Layout::col_major>;
        if (there.col_stride != 1 && there.cols > 1)
          return solve(at, ByColumns(data, there.rows, there.cols, std::max(there.col_stride, there.rows)));
        return solve(at, DeviceView<const T>(data, there.rows, there.cols, std::max(there.row_stride, there.cols)));
      });
  }
  return with_matrix(a, [&](const auto& view) { return solve(ctx, view); });
}

/// svds() of an operator given by two Python functions: f(x, y) multiplies by A, g(x, y) by A^H.
template <class T>
nb::dict svds_by(const Context& ctx, nb::object f, nb::object g, index_t m, index_t n, index_t k, const Asked& common,
                 nb::object callback) {
  Watch watch(std::move(callback));
  SvdsOptions o;
  static_cast<EigenOptions&>(o) = common;
  hear(o, watch);
  const auto product = [](Operator<T> by) {
    return [by = std::move(by)](const Context& at, PlacedView<const T> x, PlacedView<T> y) { by.apply(at, x, y); };
  };
  Rectangular<T> a{m, n, product(operator_of_callable<T>(m, f)), product(operator_of_callable<T>(n, g))};
  auto found = watched(watch, [&] { return svds<T>(ctx, a, k, o); });
  return triplets_of(ctx, found);
}

}  // namespace

void add_eigen(nb::module_& m) {
  nb::class_<Asked>(m, "EigenOptions")
      .def(nb::init<>())
      .def_rw("tol", &Asked::tol)
      .def_rw("block_size", &Asked::block_size)
      .def_rw("max_basis", &Asked::max_basis)
      .def_rw("max_iterations", &Asked::max_iterations)
      .def_rw("seed", &Asked::seed)
      .def_rw("verify", &Asked::verify)
      .def_rw("vectors", &Asked::vectors)
      .def_rw("symmetrise", &Asked::symmetrise)
      .def_rw("from_float32", &Asked::from_float32)
      .def_prop_rw(
          "results_on_device", [](const Asked& o) { return o.results == Results::on_device; },
          [](Asked& o, bool on) { o.results = on ? Results::on_device : Results::on_host; })
      .def("set_which", [](Asked& o, const std::string& w) { o.which = word_of(w, "which", which_words); })
      .def("set_method", [](Asked& o, const std::string& w) { o.method = word_of(w, "method", methods); })
      .def("set_convergence", [](Asked& o, const std::string& w) { o.convergence = word_of(w, "conv", convergences); });
  m.def("eigsh", eigsh_of, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
        nb::arg().none(), nb::arg().none());
  const auto add = [&m]<class T>(const char* ending) {
    using A = nb::arg;
    const std::string e(ending);
    m.def(("eigsh_by_" + e).c_str(), eigsh_by<T>, A(), A(), A(), A(), A(), A().none(), A().none(), A().none(),
          A().none(), A().none());
    m.def(("eigs_by_" + e).c_str(), eigs_by<T>, A(), A(), A(), A(), A(), A(), A().none());
    m.def(("svds_by_" + e).c_str(), svds_by<T>, A(), A(), A(), A(), A(), A(), A(), A().none());
  };
  add.operator()<double>("real"), add.operator()<std::complex<double>>("complex");
  m.def("eigs", eigs_of, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("svds", svds_of, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace ts::python
