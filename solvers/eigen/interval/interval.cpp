#include "tallskinny/solvers/eigen/interval/interval.hpp"

#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/eigen/interval/slicer.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/eigen/transform/folded.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Without counts: eigenvalues sought at first.
constexpr index_t first_guess = 16;

}  // namespace

template <class T>
Slicer<T>::Slicer(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options, Interval interval,
                  const std::function<void(index_t)>& counted)
    : ctx_(ctx),
      n_(all_rows(ctx, problem.a.rows())),
      problem_(problem),
      options_(options),
      interval_(interval),
      counted_(counted) {
  problem_.target = std::nullopt, problem_.inverse = std::nullopt;
  options_.which = Which::SA, options_.results = Results::on_host;
  // An iteration that was asked for by name does without factorisations, for counts as well.
  if (options_.method != Method::automatic) problem_.invert = nullptr;
  if (options_.method != Method::automatic && options_.method != Method::dense) problem_.count_below = nullptr;
  for (const double end : {interval_.low, interval_.high})
    if (std::isfinite(end)) reach_ = std::max(reach_, std::abs(end));
  // Through an inverse digits are cheap, and gaps between eigenvalues must be wide against the tolerance.
  accept_.tol = std::min(options_.tol, problem_.count_below && problem_.invert ? 1e-8 : 1e-6);
  accept_.convergence = options_.convergence;
  accept_.rows = n_;
  options_.tol = 0.1 * accept_.tol;  // so that the residuals of many vectors together stay small
}

template <class T>
EigenResult<T> Slicer<T>::run() {
  auto one = options_;
  one.nev = 1;
  const bool whole = std::isinf(interval_.low) && std::isinf(interval_.high);
  const bool counts = problem_.count_below && problem_.invert;
  if (whole || plan_eigen(n_, sizeof(T), one).method == Method::dense) {
    compute_all();
  } else {
    accept_.norm = estimate_norm(ctx_, problem_.a, options_.seed, result_.operator_applications);
    clip();
    if (accept_.norm > 0 && (!counts || !slice())) search();
  }
  decide();
  if (!result_.verified && n_ <= takeover_rows && options_.max_iterations == 0 &&
      result_.verification != Verification::all_computed && result_.stop != StopReason::interrupted) {
    compute_all();
    decide();
  }
  return std::move(result_);
}

template <class T>
void Slicer<T>::count(index_t vectors) {
  if (counted_) agreed(ctx_, [&] { counted_(vectors); });
}

template <class T>
void Slicer<T>::compute_all() {
  count(n_);
  auto options = options_;
  options.nev = std::max<index_t>(n_, 1), options.method = Method::dense;
  result_ = solve_eigen<T>(ctx_, problem_, options);
  accept_.norm = result_.norm;
  accept_.least = static_cast<double>(n_) * unit_roundoff;  // of residuals that a decomposition reaches
}

template <class T>
void Slicer<T>::clip() {
  const double far = 1e3 * accept_.norm;
  if (interval_.low < -far) interval_.low = -inf;
  if (interval_.high > far) interval_.high = inf;
}

template <class T>
void Slicer<T>::search() {
  const bool folds = std::isfinite(interval_.low) && std::isfinite(interval_.high);
  const double margin = 16 * slack();
  auto problem = problem_;
  auto options = options_;
  double limit = interval_.high + margin;
  if (folds) {
    const double half = 0.5 * (interval_.high - interval_.low) + margin;
    problem = EigenProblem<T>{FoldedOperator<T>(problem_.a, 0.5 * (interval_.low + interval_.high))};
    limit = half * half;
    options.convergence = Convergence::abs, options.tol = half * margin / 16;
  } else if (std::isinf(interval_.high)) {
    limit = interval_.low - margin, options.which = Which::LA;
  }
  const auto inside = [&](double v) { return options.which == Which::LA ? v >= limit : v <= limit; };
  Matrix<T> start(problem_.a.rows(), 0);
  options.nev = std::min(n_, first_guess);
  for (int refinements = 0;;) {
    auto part = solve_eigen<T>(ctx_, problem, options, start.cview());
    count_in(part);
    const auto kept = indices_if(part.values, inside);
    if (part.verified && kept.size() == part.values.size() && options.nev < n_) {
      options.nev = std::min(2 * options.nev, n_);
      continue;
    }
    finish_with(columns_of(part.vectors, kept).cview());
    result_.verification = part.verification, result_.stop = part.stop;
    // The residuals of A decide, not those of its square.
    if (!folds || !part.verified || result_.converged || ++refinements > 3) return;
    result_.stop = StopReason::rounding;
    options.tol *= 0.01, start = std::move(part.vectors);
  }
}

template <class T>
void Slicer<T>::finish_with(HostView<const T> x) {
  auto options = options_;
  options.nev = x.cols();
  finish<T>(ctx_, problem_, options, accept_, Matrix<T>::copy_of(x), nan, result_);
}

template <class T>
void Slicer<T>::count_in(const EigenResult<T>& part) {
  add_costs(part, result_);
  result_.filter_degree = std::max(result_.filter_degree, part.filter_degree);
  interrupted_ = interrupted_ || part.stop == StopReason::interrupted;
}

template <class T>
EigenResult<T> solve_interval(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                              Interval interval, const std::function<void(index_t)>& counted) {
  const UseHostMemory use(ctx.host_memory);
  expects(interval.low <= interval.high, "an interval needs a low end that is not above its high end");
  return Slicer<T>(ctx, problem, options, interval, counted).run();
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_interval)
#define TS_INSTANTIATE(T)                                  \
  template void Slicer<T>::count(index_t);                 \
  template void Slicer<T>::compute_all();                  \
  template void Slicer<T>::finish_with(HostView<const T>); \
  template void Slicer<T>::count_in(const EigenResult<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::solvers
