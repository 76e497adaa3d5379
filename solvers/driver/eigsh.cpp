#include "tallskinny/solvers/driver/eigsh.hpp"

#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/setup/hermitian_check.hpp"

namespace ts::inline v0::solvers {

namespace {

constexpr const char* matrix_name = "the matrix given to eigsh()";
constexpr const char* mass_name = "`mass` of eigsh()";

/// Sizes, and options that exclude each other.
template <class T>
void check_options(const Context& ctx, const EigshOptions<T>& o, index_t rows, index_t cols) {
  expects_place_of_results(ctx, o);
  expects(rows == cols, "eigsh() needs a square matrix: svds() takes any");
  expects(o.mass.rows == 0 || (o.mass.rows == rows && o.mass.cols == rows),
          "`mass` of eigsh() has another size than the matrix");
  expects(check_csr(o.mass), "the columns of `mass` of eigsh() must rise within each row");
  expects(o.initial.cols() == 0 || o.initial.rows() == rows, "`initial` of eigsh() has other rows than the matrix");
  expects(!o.sigma || !o.interval, "`sigma` looks near a number, `interval` for all in a range: give one of them");
  expects(!o.preconditioner || !o.made, "`preconditioner` and `made` exclude each other");
  expects((!o.preconditioner && !o.made) || is_preconditioned(o.method),
          "`preconditioner` and `made` go with Method::lobpcg and davidson");
  if (is_preconditioned(o.method))
    expects(!o.sigma && !o.interval && (o.which == Which::SA || o.which == Which::LA),
            "Method::lobpcg and davidson seek `which` SA or LA, without `sigma` and `interval`");
  expects(o.precision == Precision::float64 || (!o.sigma && !o.interval && o.mass.rows == 0 && o.which != Which::SM),
          "Precision::float32 and mixed seek the ends of the spectrum, without `sigma`, `interval` and `mass`");
}

/// Bytes of the elements that a matrix stores.
template <class T>
std::uint64_t bytes_of(const AnyView<T>& a) {
  const bool sparse = a.sparse() != nullptr;
  const index_t entries = sparse ? a.sparse()->nonzeros() : a.rows() * a.cols();
  return static_cast<std::uint64_t>(entries) * (sizeof(T) + (sparse ? 4 : 0));
}

/// Does the basis pass through the device, on which it does not fit?
template <class T>
bool spills(const Context& ctx, const AnyView<T>& a, const EigenPlan& plan, const HermitianRequest& request) {
  if (!ctx.stream || plan.method == Method::dense) return false;
  const MemoryNeeds needs{.rows = a.rows(),
                          .element_bytes = sizeof(T),
                          .matrix_bytes = bytes_of<T>(a),
                          .space = Space::device,
                          .device_bytes = cuda::free_memory(ctx.stream)};
  return plan_hermitian_memory(plan, request, needs).spills;
}

/// The options of the solver: `k` pairs, in the units of a matrix scaled by 2^-exponent.
template <class T>
EigenOptions solver_options(const EigshOptions<T>& o, index_t k, int exponent = 0) {
  EigenOptions options = scaled(static_cast<const EigenOptions&>(o), -exponent);
  options.nev = k;
  if (o.interval) options.which = Which::SA;  // the order of the result
  return options;
}

/// The result in the caller's units and place.
template <class T>
EigshResult<T> finished(const Context& ctx, const EigshOptions<T>& o, HermitianResult<T> found, int exponent) {
  EigshResult<T> out{std::move(found)};
  if (exponent != 0) scale_result(out, exponent, matrix_name);
  if (!o.vectors) out.vectors = Matrix<T>(out.vectors.rows(), 0);
  if (o.vectors && o.results == Results::on_device && out.vectors.cols() > 0) leave_on_device(ctx, out);
  return out;
}

/// Both matrices of a problem, Hermitian.
template <class T>
struct HermitianParts {
  std::string note;
  double asymmetry = 0;
  Dropped dropped;

  HermitianParts(const Context& ctx, const EigshOptions<T>& o, Borrowed<T>& a, AnyView<T>& mass,
                 AnyMatrix<T>& own_mass) {
    if (!o.check && !o.symmetrise) return;
    const auto dtype = [&o](DType stored) {
      return o.from_float32 && scalar_bytes(stored) > 4 ? DType::float32 : stored;
    };
    const SkewPart of_a = skew_part<T>(ctx, matrix_name, dtype(a.stored_as()), a.view(),
                                       {o.symmetrise, "",
                                        "; eigs() takes matrices that are not Hermitian, `symmetrise` solves "
                                        "(A + A^H) / 2"});
    if (!of_a.is_zero()) a.change([](AnyMatrix<T>& own) { take_hermitian_part<T>(own); });
    const SkewPart of_mass = skew_part<T>(ctx, mass_name, dtype(dtype_of<T>), mass,
                                          {o.symmetrise, "", "; `symmetrise` takes (M + M^H) / 2"});
    if (!of_mass.is_zero()) {
      own_mass = owned(mass);
      take_hermitian_part<T>(own_mass);
      mass = own_mass;
    }
    note = text_of(of_a, matrix_name, o.symmetrise);
    if (!of_mass.is_zero()) note += (note.empty() ? "" : "; ") + text_of(of_mass, mass_name, o.symmetrise);
    asymmetry = of_a.largest;
    if (!o.symmetrise) dropped = {of_a.norm, of_mass.norm};
  }
};

}  // namespace

template <class T>
EigshResult<T> driver::eigsh(const Context& ctx, Borrowed<T>&& borrowed, index_t k, const EigshOptions<T>& o) {
  const UseHostMemory use(ctx.host_memory);
  check_options(ctx, o, borrowed.view().rows(), borrowed.view().cols());
  expects_one_rank(ctx, "eigsh() of a matrix in memory");
  AnyMatrix<T> scaled_a, scaled_mass, own_mass;
  AnyView<T> mass(o.mass);
  const HermitianParts<T> parts(ctx, o, borrowed, mass, own_mass);
  AnyView<T> a = borrowed.view();
  const index_t n = a.rows();
  const bool dense = a.sparse() == nullptr, pencil = o.mass.rows > 0;
  const EigenPlan plan = plan_eigen(n, sizeof(T), solver_options(o, k), o.initial.cols(),
                                    dense && !pencil ? static_cast<double>(n * n) : 0);
  const HermitianRequest request = request_of(o, o.sigma, o.interval, dense);
  const HermitianSearch search = search_of(request, plan);
  const int of_a = take_exponent<T>(ctx, a, scaled_a, search.narrow);
  const int of_mass = pencil ? take_exponent<T>(ctx, mass, scaled_mass) : 0;
  HermitianMatrices<T> matrices{a};
  if (pencil) matrices.mass = *mass.sparse();
  matrices.set_scale(of_a, of_mass, parts.dropped);
  EigenOptions options = solver_options(o, k, matrices.exponent);
  options.spills = spills<T>(ctx, a, plan, request);
  HermitianRun<T> run(ctx, n, matrices, request, search, {.gpu = ctx.stream}, options);
  if (o.preconditioner)
    run.precondition(*o.preconditioner);
  else if (is_preconditioned(o.method) && (o.made || o.which == Which::SA))
    run.precondition(o.made.value_or(Preconditioner::jacobi), o.which);
  auto out = finished(ctx, o, run.solve(options, o.initial, o.checkpointing), matrices.exponent);
  out.note = parts.note + (parts.note.empty() || out.note.empty() ? "" : "; ") + out.note;
  out.asymmetry = parts.asymmetry;
  return out;
}

template <class T>
EigshResult<T> eigsh(const Context& ctx, const Operator<T>& a, index_t k,
                     const std::type_identity_t<EigshOptions<T>>& o) {
  const UseHostMemory use(ctx.host_memory);
  check_options(ctx, o, a.rows(), a.rows());
  const HermitianRequest request = request_of(o, o.sigma, o.interval, false);
  const auto target = target_of(request);
  expects(!target || o.inverse, "eigsh() of an Operator near `sigma`, or for `which` SM, needs its `inverse`");
  expects(!o.made || *o.made == Preconditioner::chebyshev,
          "of an Operator, which has no entries, only Preconditioner::chebyshev is made");
  expects(o.precision == Precision::float64, "an Operator is iterated with in Precision::float64");
  Assembled<T> assembled{EigenProblem<T>{a}, std::nullopt};
  auto& problem = assembled.problem;
  if (o.mass.rows > 0) {
    assembled.factor.emplace(ctx, o.mass);
    problem.a = at_home(a.space(), assembled.factor->standard(a));
  }
  const auto standard = [&](const Operator<T>& inverse) {
    return at_home(a.space(), assembled.factor ? assembled.factor->standard_inverse(inverse) : inverse);
  };
  problem.target = target;
  if (target) problem.inverse = standard(*o.inverse), problem.shift = *target;
  if (o.preconditioner) problem.preconditioner = standard(*o.preconditioner);
  HermitianRun<T> run(ctx, a, o.mass, std::move(assembled), request);
  if (o.made) run.precondition(*o.made, o.which);
  return finished(ctx, o, run.solve(solver_options(o, k), o.initial, o.checkpointing), 0);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, driver::eigsh)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, eigsh)

}  // namespace ts::inline v0::solvers
