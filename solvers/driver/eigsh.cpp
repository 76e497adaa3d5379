#include "tallskinny/solvers/driver/eigsh.hpp"

#include <cmath>

#include "tallskinny/solvers/driver/hermitian_search.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/eigen/result/pencil.hpp"
#include "tallskinny/solvers/eigen/semidefinite/semidefinite.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/setup/hermitian_part.hpp"
#include "tallskinny/solvers/setup/memory_plan.hpp"
#include "tallskinny/solvers/setup/scale.hpp"

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

/// What the solver is told, in units of the scaled matrix.
template <class T>
EigenOptions solver_options(const EigshOptions<T>& o, index_t k, int exponent) {
  EigenOptions options = o;
  options.nev = k;
  if (o.interval) options.which = Which::SA;  // the order of the result
  if (options.convergence == Convergence::abs) options.tol = std::ldexp(options.tol, -exponent);
  if (o.mass.rows > 0 || o.interval) options.vectors = true, options.results = Results::on_host;
  return options;
}

/// As plan_eigen() takes them.
template <class T>
double entries_of_dense(const AnyView<T>& a, bool has_mass) {
  return a.sparse() != nullptr || has_mass ? 0 : static_cast<double>(a.rows() * a.cols());
}

template <class T>
HermitianWish wish_of(const EigshOptions<T>& o, int exponent, bool dense) {
  HermitianWish wish{.sigma = o.sigma, .interval = o.interval.has_value(), .dense = dense, .which = o.which};
  wish.method = o.method, wish.precision = o.precision;
  if (wish.sigma) wish.sigma = std::ldexp(*wish.sigma, -exponent);
  return wish;
}

/// The pairs of an assembled problem, of the pencil where there is a mass matrix, in the caller's units.
template <class T>
EigshResult<T> solve(const Context& ctx, const Assembled<T>& assembled, const Operator<T>& a, CsrView<T> mass,
                     const EigenOptions& options, const EigshOptions<T>& o, int exponent, Dropped dropped = {}) {
  EigshResult<T> out;
  EigenResult<T>& found = out;
  std::optional<Interval> interval;
  if (o.interval) interval = {std::ldexp(o.interval->low, -exponent), std::ldexp(o.interval->high, -exponent)};
  out.note = assembled.note;
  if (assembled.semidefinite) {
    auto part = solve_semidefinite<T>(ctx, *assembled.semidefinite, options,
                                      {assembled.problem.target, interval, o.initial, o.checkpointing});
    out.backward_errors = std::move(part.backward_errors);
    out.note += (part.note.empty() ? "" : "; ") + part.note;
    found = std::move(part);
  } else if (interval) {
    found = solve_interval<T>(ctx, assembled.problem, options, *interval);
  } else {
    found = solve_eigen<T>(ctx, assembled.problem, options, o.initial, o.checkpointing);
  }
  if (assembled.factor) {
    out.backward_errors = to_pencil<T>(ctx, a, mass, *assembled.factor, options, found).backward_errors;
  } else if (!assembled.semidefinite) {
    out.backward_errors.reserve(found.residual_norms.size());
    for (const double r : found.residual_norms) out.backward_errors.push_back(r > 0 ? r / found.norm : 0);
  }
  count_dropped<T>(ctx, dropped, assembled.factor || assembled.semidefinite, found);
  if (exponent != 0) scale_result(found, exponent, matrix_name);
  if (!o.vectors) found.vectors = Matrix<T>(a.rows(), 0);
  if (o.vectors && o.results == Results::on_device && found.vectors.cols() > 0) leave_on_device(ctx, found);
  return out;
}

/// Whether the basis goes through the device, which it does not fit on.
template <class T>
bool spills(const Context& ctx, const AnyView<T>& a, const EigenPlan& plan) {
  if (!ctx.stream || plan.method == Method::dense) return false;
  const index_t entries = a.sparse() != nullptr ? a.sparse()->nonzeros() : a.rows() * a.cols();
  MemoryNeeds needs{.rows = a.rows(), .element_bytes = sizeof(T)};
  needs.matrix_bytes = static_cast<std::uint64_t>(entries) * (sizeof(T) + (a.sparse() != nullptr ? 4 : 0));
  needs.space = Space::device, needs.device_bytes = cuda::free_memory(ctx.stream);
  return plan_memory(plan, needs).spills;
}

/// What Method::lobpcg and davidson get.
template <class T>
void precondition(const Context& ctx, const AnyView<T>& a, const EigshOptions<T>& o, Assembled<T>& assembled) {
  if (!is_preconditioned(o.method)) return;
  auto& preconditioner = assembled.problem.preconditioner;
  if (o.preconditioner)
    preconditioner = assembled.factor ? assembled.factor->standard_inverse(*o.preconditioner) : *o.preconditioner;
  else if (o.made || o.which == Which::SA)
    preconditioner = preconditioner_of<T>(ctx, a, assembled, o.made.value_or(Preconditioner::jacobi), o.which);
}

/// Both matrices of a problem, Hermitian.
template <class T>
struct HermitianMatrices {
  std::string note;
  double asymmetry = 0;
  Dropped dropped;

  HermitianMatrices(const Context& ctx, const EigshOptions<T>& o, Borrowed<T>& a, AnyView<T>& mass,
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
  const HermitianMatrices<T> hermitian(ctx, o, borrowed, mass, own_mass);
  AnyView<T> a = borrowed.view();
  EigenOptions options = solver_options(o, k, 0);
  const EigenPlan plan =
      plan_eigen(a.rows(), sizeof(T), options, o.initial.cols(), entries_of_dense(a, o.mass.rows > 0));
  const bool narrow = search_of(wish_of(o, 0, a.sparse() == nullptr), plan).narrow;
  int exponent = take_exponent<T>(ctx, a, scaled_a, narrow);
  Dropped dropped{std::ldexp(hermitian.dropped.matrix, -exponent), hermitian.dropped.mass};
  if (o.mass.rows > 0) {
    const int of_mass = take_exponent<T>(ctx, mass, scaled_mass);
    exponent -= of_mass, dropped.mass = std::ldexp(dropped.mass, -of_mass);
  }
  options = solver_options(o, k, exponent);
  options.spills = spills<T>(ctx, a, plan);
  const HermitianWish wish = wish_of(o, exponent, a.sparse() == nullptr);
  const auto target = target_of(wish);
  const Factorise factorise = search_of(wish, plan).factorise;
  DeviceCopy<T> there;
  if (ctx.stream) there = copy_to<T>(ctx.stream, a);
  std::optional<CsrView<T>> of_mass;
  if (o.mass.rows > 0) of_mass = *mass.sparse();
  auto assembled =
      assemble_or_whole<T>(ctx, a.rows(), a, of_mass, target, {factorise, nullptr, ctx.stream}, there, options);
  precondition<T>(ctx, a, o, assembled);
  Rounded<T> rounded_a;
  if (narrow) {
    rounded_a = rounded<T>(ctx, a, there);
    assembled.problem.narrow = operator_of<T>(a, there, rounded_a);
  }
  auto out = solve<T>(ctx, assembled, operator_of<T>(a), of_mass.value_or(CsrView<T>{}), options, o, exponent, dropped);
  out.note = hermitian.note + (hermitian.note.empty() || out.note.empty() ? "" : "; ") + out.note;
  out.asymmetry = hermitian.asymmetry;
  return out;
}

template <class T>
EigshResult<T> eigsh(const Context& ctx, const Operator<T>& a, index_t k,
                     const std::type_identity_t<EigshOptions<T>>& o) {
  const UseHostMemory use(ctx.host_memory);
  check_options(ctx, o, a.rows(), a.rows());
  const auto target = target_of(wish_of(o, 0, false));
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
  if (o.made) problem.preconditioner = preconditioner_of<T>(ctx, AnyView<T>(CsrView<T>{}), assembled, *o.made, o.which);
  return solve<T>(ctx, assembled, a, o.mass, solver_options(o, k, 0), o, 0);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, driver::eigsh)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, eigsh)

}  // namespace ts::inline v0::solvers
