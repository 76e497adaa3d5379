#include "tallskinny/solvers/eigen/interval/interval.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/eigen/interval/inside.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/eigen/transform/folded.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Eigenvalues sought by one factorisation: more make the basis dear, fewer make the factorisations so.
constexpr index_t slice_size = 96;
/// How often a gap is looked for beyond an end, each time twice as far away and twice as wide.
constexpr int end_attempts = 12;
/// Without counts: eigenvalues sought at first.
constexpr index_t first_guess = 16;

/// No eigenvalue within `clear` of `shift`, and `below` of them below it.
struct Gap {
  double shift = 0, clear = inf;
  index_t below = 0;
};

template <class T>
class Slicer {
 public:
  Slicer(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options, Interval interval,
         const std::function<void(index_t)>& counted)
      : ctx_(ctx),
        n_(all_rows(ctx, problem.a.rows())),
        problem_(problem),
        options_(options),
        interval_(interval),
        counted_(counted) {
    problem_.target = std::nullopt, problem_.inverse = std::nullopt;
    options_.which = Which::SA, options_.results = Results::on_host;
    // Without Method::automatic nothing is factorised, for counts as little as for inverses.
    if (options_.method != Method::automatic) problem_.count_below = nullptr, problem_.invert = nullptr;
    // Through an inverse digits are cheap, and gaps between eigenvalues must be wide against the tolerance.
    accept_.tol = std::min(options_.tol, problem_.count_below && problem_.invert ? 1e-8 : 1e-6);
    accept_.convergence = options_.convergence;
    accept_.rows = n_;
    options_.tol = 0.1 * accept_.tol;  // so that the residuals of many vectors together stay small
  }

  EigenResult<T> run() {
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
    keep_inside(interval_, accept_.rounding(), result_);
    if (!result_.verified && n_ <= takeover_rows && options_.max_iterations == 0 &&
        result_.stop != StopReason::interrupted) {
      compute_all();
      keep_inside(interval_, accept_.rounding(), result_);
    }
    return std::move(result_);
  }

 private:
  /// That will be kept.
  void count(index_t vectors) {
    if (counted_) agreed(ctx_, [&] { counted_(vectors); });
  }

  void compute_all() {
    count(n_);
    auto options = options_;
    options.nev = std::max<index_t>(n_, 1), options.method = Method::dense;
    result_ = solve_eigen<T>(ctx_, problem_, options);
    accept_.norm = result_.norm;
  }

  /// An end far beyond the spectrum is as good as infinite, and no shift to factorise.
  void clip() {
    const double far = 1e3 * accept_.norm;
    if (interval_.low < -far) interval_.low = -inf;
    if (interval_.high > far) interval_.high = inf;
  }

  /// What values of the interval may be off by: its ends need be known no better.
  [[nodiscard]] double slack() const {
    double reach = 0;
    for (const double end : {interval_.low, interval_.high})
      if (std::isfinite(end)) reach = std::max(reach, std::abs(end));
    return accept_.bound(reach);
  }

  /// Two equal counts prove that nothing lies between them, but for the error of the factorisations.
  [[nodiscard]] std::optional<Gap> gap_between(double p, double q) const {
    const double width = std::abs(q - p);
    const auto first = problem_.count_below(p, width / 8);
    if (!first || first != problem_.count_below(q, width / 8)) return std::nullopt;
    return Gap{0.5 * (p + q), 3 * width / 8, *first};
  }

  /// The first gap found from `end` outwards; `side` is -1 or 1.
  [[nodiscard]] std::optional<Gap> gap_beyond(double end, double side) const {
    if (std::isinf(end)) return Gap{end, inf, end < 0 ? 0 : n_};
    double step = 16 * slack();
    for (int attempt = 0; attempt < end_attempts; ++attempt, step *= 2)
      if (const auto gap = gap_between(end + side * step, end + 2 * side * step)) return gap;
    return std::nullopt;
  }

  /// False when no count could be had; nothing was done then.
  bool slice() {
    const auto low = gap_beyond(interval_.low, -1), high = gap_beyond(interval_.high, 1);
    if (!low || !high) return false;
    const index_t total = high->below - low->below;
    auto all = options_;
    all.nev = std::max<index_t>(total, 1);
    const bool alone = ctx_.communicator->size() == 1;  // for a dense solver
    if (total > 0 && alone && plan_eigen(n_, sizeof(T), all).method == Method::dense) {
      compute_all();
      return true;
    }
    count(total);
    vectors_ = Matrix<T>(problem_.a.rows(), total);
    collect(*low, *high);

    finish_with(vectors_.cview().cols(0, found_));
    // [X orthonormal, R its residuals] as many eigenvalues of A lie within ||R|| of the Ritz values.
    const double off = std::sqrt(std::inner_product(result_.residual_norms.begin(), result_.residual_norms.end(),
                                                    result_.residual_norms.begin(), 0.0));
    const auto& values = result_.values;
    const bool inside = values.empty() || (values.front() - off > low->shift - low->clear &&
                                           values.back() + off < high->shift + high->clear);
    const bool complete = static_cast<index_t>(values.size()) == total && inside;
    if (complete) {
      result_.verification = Verification::inertia;
      sharpen_error_bounds<T>(
          result_, [&](double v) { return std::min(v - (low->shift - low->clear), high->shift + high->clear - v); });
    }
    result_.stop = interrupted_                    ? StopReason::interrupted
                   : complete && result_.converged ? StopReason::converged
                   : complete                      ? StopReason::rounding
                                                   : StopReason::not_verified;
    return true;
  }

  /// Finds what lies between two gaps.
  void collect(const Gap& low, const Gap& high) {
    const index_t inside = high.below - low.below;
    if (inside <= 0 || interrupted_) return;
    if (inside <= slice_size || !divide(low, high)) solve_between(low, high);
  }

  /// Collects on both sides of a gap near the middle; false when none was found.
  bool divide(const Gap& low, const Gap& high) {
    const double left = std::max(low.shift, -1.1 * accept_.norm);
    const double right = std::min(high.shift, 1.1 * accept_.norm);
    const double width = 4 * accept_.bound(std::max(std::abs(left), std::abs(right)));
    if (!(right - left > 16 * width)) return false;
    for (const double share : {0.5, 0.4142, 0.5774, 0.3028, 0.7321}) {
      const double middle = left + share * (right - left);
      const auto cut = gap_between(middle - width, middle + width);
      if (!cut) continue;
      collect(low, *cut);
      collect(*cut, high);
      return true;
    }
    return false;
  }

  void solve_between(const Gap& low, const Gap& high) {
    auto problem = problem_;
    auto options = options_;
    options.nev = high.below - low.below;
    if (options.max_basis > 0)  // what was asked for, as far as it serves
      options.max_basis = std::max(options.max_basis, options.nev + 6 * std::max<index_t>(options.block_size, 8));
    if (std::isinf(low.shift) || std::isinf(high.shift)) {
      options.which = std::isinf(low.shift) ? Which::SA : Which::LA;
    } else {
      options.which = Which::LM, options.method = Method::lanczos;
      problem.target = 0.5 * (low.shift + high.shift);
      const auto factor = problem_.invert(*problem.target);
      if (!factor) return;
      problem.inverse = factor->inverse, problem.shift = factor->shift;
    }
    // The gaps' counts tell whether something is missing; only then the search has to find that out itself.
    for (const bool verify : {false, true}) {
      options.verify = verify;
      const auto part = solve_eigen<T>(ctx_, problem, options);
      count_in(part);
      const auto inside = indices_if(part.values, [&](double v) { return v > low.shift && v < high.shift; });
      const bool complete = static_cast<index_t>(inside.size()) == options.nev && part.converged;
      // An eigenvalue next to the middle drowns the others in the rounding of its inverse: other slices have
      // other middles.
      if (!complete && !verify && !interrupted_) {
        if (divide(low, high)) return;
        continue;
      }
      for (const index_t j : inside) {
        for (index_t i = 0; i < vectors_.rows(); ++i) vectors_(i, found_) = part.vectors(i, j);
        ++found_;
      }
      return;
    }
  }

  /// Without counts: from an end of the spectrum of A, or of (A - c I)^2 for an interval inside of it, until
  /// a value outside appears.
  void search() {
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

  void finish_with(HostView<const T> x) {
    auto options = options_;
    options.nev = x.cols();
    finish<T>(ctx_, problem_, options, accept_, Matrix<T>::copy_of(x), nan, result_);
  }

  void count_in(const EigenResult<T>& part) {
    add_costs(part, result_);
    result_.filter_degree = std::max(result_.filter_degree, part.filter_degree);
    interrupted_ = interrupted_ || part.stop == StopReason::interrupted;
  }

  template <class Test>
  static std::vector<index_t> indices_if(const std::vector<double>& values, const Test& test) {
    std::vector<index_t> indices;
    for (index_t j = 0; j < static_cast<index_t>(values.size()); ++j)
      if (test(values[at(j)])) indices.push_back(j);
    return indices;
  }

  const Context& ctx_;
  index_t n_;  ///< rows of all ranks
  EigenProblem<T> problem_;
  EigenOptions options_;
  Interval interval_;
  const std::function<void(index_t)>& counted_;
  Acceptance accept_;
  Matrix<T> vectors_;  ///< the first found_ columns hold what the slices gave
  index_t found_ = 0;
  bool interrupted_ = false;
  EigenResult<T> result_;
};

}  // namespace

template <class T>
EigenResult<T> solve_interval(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                              Interval interval, const std::function<void(index_t)>& counted) {
  const UseHostMemory use(ctx.host_memory);
  expects(interval.low <= interval.high, "an interval needs a low end that is not above its high end");
  return Slicer<T>(ctx, problem, options, interval, counted).run();
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_interval)

}  // namespace ts::inline v0::solvers
