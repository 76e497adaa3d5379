#include "tallskinny/solvers/driver/hermitian.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/eigen/result/pencil.hpp"
#include "tallskinny/solvers/eigen/semidefinite/semidefinite.hpp"
#include "tallskinny/solvers/ranks/transposed_rows.hpp"
#include "tallskinny/solvers/setup/rows_operator.hpp"

namespace ts::inline v0::solvers {

namespace {

std::string_view words_for(const HermitianRequest& request, Method planned) {
  switch (planned) {
    case Method::dense: return "dense";
    case Method::lobpcg: return "LOBPCG";
    case Method::davidson: return "block Davidson";
    default: break;
  }
  if (request.interval)
    return request.method == Method::automatic ? "spectrum slicing by shift-invert block Lanczos"
                                               : "block Lanczos until the interval is covered";
  return target_of(request) ? "block Lanczos, shift-invert" : "block Lanczos";
}

}  // namespace

std::optional<double> target_of(const HermitianRequest& request) {
  if (request.sigma) return request.sigma;
  if (request.which == Which::SM && !request.interval) return 0.0;
  return std::nullopt;
}

bool seeks_through_factors(const HermitianRequest& request) {
  return target_of(request) || (request.interval && request.method == Method::automatic && !request.dense);
}

HermitianSearch search_of(const HermitianRequest& request, const EigenPlan& plan) {
  HermitianSearch search{.method = words_for(request, plan.method), .why = plan.why};
  if (plan.method != Method::dense)
    search.factorise = seeks_through_factors(request) ? Factorise::needed : Factorise::cheap;
  const bool counts = request.method == Method::automatic || request.method == Method::dense;
  if (request.interval && counts) search.factorise = Factorise::needed;  // at its ends; a dense one if it is not large
  search.narrow = request.precision != Precision::float64 && plan.method == Method::lanczos;
  if (request.method == Method::automatic && plan.method == Method::lanczos) {
    if (request.interval)
      search.why = "factorisations at the ends of slices count what is in them";
    else if (target_of(request))
      search.why = "the inverse makes what is near the target converge first";
  }
  return search;
}

std::vector<NamedWay> ways_of(const HermitianRequest& request, const EigenPlan& plan, index_t rows, double entries,
                              const FactorCost& factors) {
  WayFacts facts{rows, entries, factors};
  if (request.interval) facts.factors.count = factors_of_interval;
  const Ways ways = ways_of(facts, plan.nev, plan.block_size, plan.max_basis);
  std::vector<NamedWay> list;
  if (!seeks_through_factors(request)) list.push_back({"block Lanczos", ways.krylov});
  if (std::isfinite(factors.flops)) list.push_back({"block Lanczos through factors", ways.inverse});
  if (rows <= takeover_rows) list.push_back({"all eigenvalues by LAPACK", ways.dense});
  std::stable_sort(list.begin(), list.end(),
                   [](const NamedWay& a, const NamedWay& b) { return a.way.total() < b.way.total(); });
  return list;
}

MemoryPlan plan_hermitian_memory(const EigenPlan& plan, const HermitianRequest& request, MemoryNeeds needs) {
  if (search_of(request, plan).narrow) {
    needs.matrix_bytes += needs.matrix_bytes / 2;  // the numbers again, half as long
    if (request.precision == Precision::float32) needs.element_bytes /= 2;
  }
  return plan_memory(plan, needs);
}

namespace {

bool has_ranks(const Context& ctx) { return ctx.communicator->size() > 1; }

}  // namespace

template <class T>
SkewPart make_hermitian(const Context& ctx, const std::string& name, DType type, Borrowed<T>& a, HermitianRules rules,
                        std::optional<AnyMatrix<T>> partners) {
  if (!has_ranks(ctx)) {
    const SkewPart skew = skew_part<T>(ctx, name, type, a.view(), rules);
    if (!skew.is_zero()) a.change([](AnyMatrix<T>& own) { take_hermitian_part<T>(own); });
    return skew;
  }
  if (!partners)
    partners = std::visit([&ctx](const auto& rows) { return AnyMatrix<T>(transposed_rows<T>(ctx, rows)); },
                          static_cast<const typename AnyView<T>::variant&>(a.view()));
  const SkewPart skew = skew_part_of_rows<T>(ctx, name, type, a.view(), *partners, rules);
  if (!skew.is_zero()) a.change([&](AnyMatrix<T>& own) { take_hermitian_part<T>(own, *partners); });
  return skew;
}

template <class T>
HermitianRun<T>::HermitianRun(const Context& ctx, const HermitianInput<T>& input, const EigenOptions& options)
    : ctx_(ctx), name_(input.name), matrix_(input.a.view()), interval_(input.request.interval) {
  const int of_a = input.a.take_exponent(ctx, input.search.narrow);
  const int of_mass = input.mass != nullptr ? input.mass->take_exponent(ctx) : 0;
  exponent_ = of_a - of_mass;
  dropped_ = {std::ldexp(input.dropped.matrix, -of_a), std::ldexp(input.dropped.mass, -of_mass)};
  options_ = scaled(options, -exponent_);
  matrix_ = input.a.view();
  if (input.mass != nullptr) mass_ = *input.mass->view().sparse();
  if (interval_) interval_ = {std::ldexp(interval_->low, -exponent_), std::ldexp(interval_->high, -exponent_)};
  auto target = target_of(input.request);
  if (target) target = std::ldexp(*target, -exponent_);
  if (ctx.stream && !has_ranks(ctx)) there_ = copy_to<T>(ctx.stream, matrix_);
  FactorPlan factors{input.search.factorise, input.before_factors, ctx.stream, input.factors_by};
  // Factors that are cheap for one rank are not for several, whose bits should be those of one.
  if (has_ranks(ctx) && factors.what == Factorise::cheap) factors.what = Factorise::nothing;
  assembled_.emplace(assemble_or_whole<T>(ctx, input.rows, matrix_, mass_, target, factors, there_, options_));
  if (!input.search.narrow) return;
  if (has_ranks(ctx)) {
    assembled_->problem.narrow = rounded_rows_operator_of<T>(ctx, matrix_);
  } else {
    rounded_ = rounded<T>(ctx, matrix_, there_);
    assembled_->problem.narrow = operator_of<T>(matrix_, there_, rounded_);
  }
}

template <class T>
HermitianRun<T>::HermitianRun(const Context& ctx, Operator<T> a, Assembled<T> assembled, CsrView<T> mass,
                              const HermitianRequest& request, const EigenOptions& options)
    : ctx_(ctx),
      options_(options),
      matrix_(CsrView<T>{}),
      mass_(mass),
      interval_(request.interval),
      assembled_(std::move(assembled)),
      a_(std::move(a)) {}

template <class T>
void HermitianRun<T>::precondition(Preconditioner kind, Which which) {
  assembled_->problem.preconditioner = preconditioner_of<T>(ctx_, matrix_, *assembled_, kind, which);
}

template <class T>
void HermitianRun<T>::precondition(const Operator<T>& near_inverse) {
  const auto& factor = assembled_->factor;
  assembled_->problem.preconditioner = factor ? factor->standard_inverse(near_inverse) : near_inverse;
}

template <class T>
HermitianResult<T> HermitianRun<T>::solve(HostView<const T> initial, const Checkpointing<T>& checkpointing,
                                          const std::function<void(index_t)>& counted) const {
  const auto& [problem, factor, semidefinite, note] = *assembled_;
  EigenOptions options = options_;
  if (factor || semidefinite || interval_) options.vectors = true, options.results = Results::on_host;
  HermitianResult<T> out;
  EigenResult<T>& found = out;
  out.note = note;
  if (semidefinite) {
    auto part = solve_semidefinite<T>(ctx_, *semidefinite, options,
                                      {problem.target, interval_, initial, checkpointing, counted});
    out.backward_errors = std::move(part.backward_errors), out.infinite = semidefinite->infinite();
    if (!part.note.empty()) out.note += (note.empty() ? "" : "; ") + part.note;
    found = std::move(part);
  } else if (interval_) {
    found = solve_interval<T>(ctx_, problem, options, *interval_, counted);
  } else {
    found = solve_eigen<T>(ctx_, problem, options, initial, checkpointing);
  }
  if (factor) {
    // A of the pencil, of which ranks make one only here: it is a copy of their rows.
    const Operator<T> a = a_ ? *a_ : has_ranks(ctx_) ? rows_operator_of<T>(ctx_, matrix_) : operator_of<T>(matrix_);
    out.backward_errors = to_pencil<T>(ctx_, a, *mass_, *factor, options, found).backward_errors;
  } else if (!semidefinite) {
    out.backward_errors.reserve(found.residual_norms.size());
    for (const double r : found.residual_norms) out.backward_errors.push_back(r > 0 ? r / found.norm : 0);
  }
  count_dropped<T>(ctx_, dropped_, factor || semidefinite, found);
  if (exponent_ != 0) scale_result(found, exponent_, name_);
  if (!options_.vectors) out.vectors = Matrix<T>(out.vectors.rows(), 0);
  if (options_.results == Results::on_device && out.vectors.cols() > 0) leave_on_device(ctx_, out);
  return out;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, make_hermitian)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, HermitianRun)

}  // namespace ts::inline v0::solvers
