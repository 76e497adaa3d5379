#include "tallskinny/solvers/driver/eigsh.hpp"

#include "tallskinny/solvers/driver/plan.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/setup/hermitian_check.hpp"

namespace ts::inline v0::solvers {

namespace {

constexpr const char* matrix_of_eigsh = "the matrix given to eigsh()";
constexpr const char* mass_of_eigsh = "`mass` of eigsh()";

/// Sizes, and options that exclude each other. @param here rows of this rank
template <class T>
void check_options(const Context& ctx, const EigshOptions<T>& o, index_t here, index_t rows, index_t cols) {
  expects_place_of_results(ctx, o);
  expects(rows == cols, "eigsh() needs a square matrix: svds() takes any");
  expects(o.mass.cols == 0 || (o.mass.rows == here && o.mass.cols == rows),
          "`mass` of eigsh() has another size than the matrix");
  expects(check_csr(o.mass), "the columns of `mass` of eigsh() must rise within each row");
  expects(o.initial.cols() == 0 || o.initial.rows() == here, "`initial` of eigsh() has other rows than the matrix");
  expects(!o.sigma || !o.interval, "`sigma` looks near a number, `interval` for all in a range: give one of them");
  expects(!o.preconditioner || !o.made, "`preconditioner` and `made` exclude each other");
  expects((!o.preconditioner && !o.made) || is_preconditioned(o.method),
          "`preconditioner` and `made` go with Method::lobpcg and davidson");
  if (is_preconditioned(o.method))
    expects(!o.sigma && !o.interval && (o.which == Which::SA || o.which == Which::LA),
            "Method::lobpcg and davidson seek `which` SA or LA, without `sigma` and `interval`");
  expects(o.precision == Precision::float64 || (!o.sigma && !o.interval && o.mass.cols == 0 && o.which != Which::SM),
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

template <class T>
EigenOptions solver_options(const EigshOptions<T>& o, index_t k) {
  EigenOptions options = options_for(o, k);
  if (o.interval) options.which = Which::SA;  // the order of the result
  return options;
}

/// Both matrices of a problem become Hermitian.
template <class T>
struct HermitianParts {
  std::string note;
  double asymmetry = 0;
  Dropped dropped;

  HermitianParts(const Context& ctx, const EigshOptions<T>& o, Borrowed<T>& a, std::optional<Borrowed<T>>& mass) {
    if (!o.check && !o.symmetrise) return;
    const auto take = [&](const char* name, Borrowed<T>& matrix, const char* advice) {
      const DType stored = matrix.stored_as();
      const DType type = o.from_float32 && scalar_bytes(stored) > 4 ? DType::float32 : stored;
      return make_hermitian<T>(ctx, name, type, matrix, {o.symmetrise, "", advice});
    };
    const SkewPart of_a =
        take(matrix_of_eigsh, a, "; eigs() takes matrices that are not Hermitian, `symmetrise` solves (A + A^H) / 2");
    const SkewPart of_mass = mass ? take(mass_of_eigsh, *mass, "; `symmetrise` takes (M + M^H) / 2") : SkewPart();
    note = text_of(of_a, matrix_of_eigsh, o.symmetrise);
    if (!of_mass.is_zero()) note += (note.empty() ? "" : "; ") + text_of(of_mass, mass_of_eigsh, o.symmetrise);
    asymmetry = of_a.largest;
    if (!o.symmetrise) dropped = {of_a.norm, of_mass.norm};
  }
};

}  // namespace

template <class T>
EigshResult<T> driver::eigsh(const Context& ctx, Borrowed<T>&& a, index_t k, const EigshOptions<T>& o) {
  const UseHostMemory use(ctx.host_memory);
  const index_t here = a.view().rows(), n = all_rows(ctx, here);
  check_options(ctx, o, here, n, a.view().cols());
  std::optional<Borrowed<T>> mass;
  if (o.mass.cols > 0) mass.emplace(o.mass);
  const HermitianParts<T> parts(ctx, o, a, mass);
  const bool dense = a.view().sparse() == nullptr;
  EigenOptions options = solver_options(o, k);
  const HermitianRequest request = request_of(o, o.sigma, o.interval, dense);
  const MatrixFacts facts{.rows = n, .cols = n, .entries = n * n, .element_bytes = sizeof(T)};
  const EigenPlan plan = plan_hermitian(facts, request, options, mass.has_value(), o.initial.cols()).eigen;
  options.spills = spills<T>(ctx, a.view(), plan, request);
  HermitianRun<T> run(ctx,
                      {.a = a,
                       .mass = mass ? &*mass : nullptr,
                       .rows = n,
                       .name = matrix_of_eigsh,
                       .request = request,
                       .search = search_of(request, plan),
                       .dropped = parts.dropped},
                      options);
  if (o.preconditioner)
    run.precondition(*o.preconditioner);
  else if (is_preconditioned(o.method) && (o.made || o.which == Which::SA))
    run.precondition(o.made.value_or(Preconditioner::jacobi), o.which);
  EigshResult<T> out{run.solve(o.initial, o.checkpointing)};
  out.note = parts.note + (parts.note.empty() || out.note.empty() ? "" : "; ") + out.note;
  out.asymmetry = parts.asymmetry;
  return out;
}

template <class T>
EigshResult<T> eigsh(const Context& ctx, const Operator<T>& a, index_t k,
                     const std::type_identity_t<EigshOptions<T>>& o) {
  const UseHostMemory use(ctx.host_memory);
  check_options(ctx, o, a.rows(), all_rows(ctx, a.rows()), all_rows(ctx, a.rows()));
  const HermitianRequest request = request_of(o, o.sigma, o.interval, false);
  const auto target = target_of(request);
  expects(!target || o.inverse, "eigsh() of an Operator near `sigma`, or for `which` SM, needs its `inverse`");
  expects(!o.made || *o.made == Preconditioner::chebyshev,
          "of an Operator, which has no entries, only Preconditioner::chebyshev is made");
  expects(o.precision == Precision::float64, "an Operator is iterated with in Precision::float64");
  Assembled<T> assembled{EigenProblem<T>{a}, std::nullopt};
  auto& problem = assembled.problem;
  if (o.mass.cols > 0) {
    assembled.factor.emplace(ctx, o.mass);
    problem.a = at_home(a.space(), assembled.factor->standard(a));
  }
  const auto standard = [&](const Operator<T>& inverse) {
    return at_home(a.space(), assembled.factor ? assembled.factor->standard_inverse(inverse) : inverse);
  };
  problem.target = target;
  if (target) problem.inverse = standard(*o.inverse), problem.shift = *target;
  if (o.preconditioner) problem.preconditioner = standard(*o.preconditioner);
  HermitianRun<T> run(ctx, a, std::move(assembled), o.mass, request, solver_options(o, k));
  if (o.made) run.precondition(*o.made, o.which);
  return {run.solve(o.initial, o.checkpointing)};
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, driver::eigsh)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, eigsh)

}  // namespace ts::inline v0::solvers
