// All eigenvalues of an interval: what lies between two gaps.
#include "tallskinny/solvers/eigen/interval/slicer.hpp"

#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/ortho/muscle.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Eigenvalues sought by one factorisation: more make the basis dear, fewer make the factorisations so.
constexpr index_t slice_size = 96;
/// How often a gap is looked for beyond an end, each time twice as far away and twice as wide.
constexpr int end_attempts = 12;

}  // namespace

template <class T>
std::optional<Gap> Slicer<T>::gap_between(double p, double q) const {
  const double width = std::abs(q - p);
  const auto first = problem_.count_below(p, width / 8);
  if (!first || first != problem_.count_below(q, width / 8)) return std::nullopt;
  return Gap{0.5 * (p + q), 3 * width / 8, *first};
}

template <class T>
std::optional<Gap> Slicer<T>::gap_beyond(double end, double side, double off) const {
  if (std::isinf(end)) return Gap{end, inf, end < 0 ? 0 : n_};
  double step = 16 * off;
  for (int attempt = 0; attempt < end_attempts; ++attempt, step *= 2)
    if (const auto gap = gap_between(end + side * step, end + 2 * side * step)) return gap;
  return std::nullopt;
}

template <class T>
bool Slicer<T>::slice() {
  const auto low = gap_beyond(interval_.low, -1, slack());
  const auto high = low ? gap_beyond(interval_.high, 1, slack()) : std::nullopt;
  if (is_fine()) {
    const auto near_low = gap_beyond(interval_.low, -1, fine_slack());
    const auto near_high = near_low ? gap_beyond(interval_.high, 1, fine_slack()) : std::nullopt;
    // Does rounding of A reach over many eigenvalues?
    constexpr index_t many = 8;
    const auto inside = [](const Gap& from, const Gap& to) { return to.below - from.below; };
    if (near_high && (!high || inside(*low, *high) > 2 * (inside(*near_low, *near_high) + many)) &&
        slice_finely(*near_low, *near_high))
      return true;
    if (!high) return false;
    slice(*low, *high);
    if (near_high && !is_sharp()) (void)slice_finely(*near_low, *near_high);
    return true;
  }
  if (high) slice(*low, *high);
  return high.has_value();
}

template <class T>
void Slicer<T>::slice(const Gap& low, const Gap& high) {
  const index_t total = high.below - low.below;
  if (takes_all(total)) return;
  count(total);
  vectors_ = Matrix<T>(problem_.a.rows(), total), found_ = 0, guesses_.clear();
  collect(low, high);

  finish_with(vectors_.cview().cols(0, found_));
  // [X orthonormal, R its residuals] as many eigenvalues of A lie within ||R|| of the Ritz values.
  const double off = off_together(), first = low.shift - low.clear, last = high.shift + high.clear;
  const auto& values = result_.values;
  const bool inside = values.empty() || (values.front() - off > first && values.back() + off < last);
  const bool complete = static_cast<index_t>(values.size()) == total && inside;
  if (complete) {
    result_.verification = Verification::inertia;
    sharpen_error_bounds<T>(result_, [&](double v) { return std::min(v - first, last - v); });
  }
  result_.stop = interrupted_                    ? StopReason::interrupted
                 : complete && result_.converged ? StopReason::converged
                 : complete                      ? StopReason::rounding
                                                 : StopReason::not_verified;
}

template <class T>
bool Slicer<T>::slice_finely(const Gap& low, const Gap& high) {
  const index_t total = high.below - low.below;
  const auto from = counted_end(interval_.low), to = counted_end(interval_.high);
  if (!from || !to || from->low.below < low.below || to->high.below > high.below) return false;
  if (takes_all(total)) return true;
  count(total);
  finely_ = true, found_ = 0, guesses_.clear();
  vectors_ = Matrix<T>(problem_.a.rows(), total);
  collect(low, high);
  finely_ = false;
  if (found_ < total || interrupted_) return false;
  const auto rising = rising_order(guesses_);
  std::sort(guesses_.begin(), guesses_.end());
  Matrix<T> x = columns_of(
      vectors_, {rising.begin() + (from->low.below - low.below), rising.end() - (high.below - to->high.below)});
  Matrix<T> r(x.cols(), x.cols());
  if (x.cols() > 0 && ortho::orthonormalise<T>(ctx_, ortho::Ladder{1e-8}, x.view(), r.view()).rank < x.cols())
    return false;
  return pin(from->low, to->high, guesses_, std::move(x));
}

template <class T>
bool Slicer<T>::takes_all(index_t total) {
  auto all = options_;
  all.nev = std::max<index_t>(total, 1);
  const bool alone = ctx_.communicator->size() == 1;  // for a dense solver
  if (total == 0 || !alone || plan_eigen(n_, sizeof(T), all).method != Method::dense) return false;
  compute_all();
  return true;
}

template <class T>
void Slicer<T>::collect(const Gap& low, const Gap& high) {
  const index_t inside = high.below - low.below;
  if (inside <= 0 || interrupted_) return;
  if (inside <= slice_size || !divide(low, high)) solve_between(low, high);
}

template <class T>
bool Slicer<T>::divide(const Gap& low, const Gap& high) {
  const double left = std::max(low.shift, -1.1 * accept_.norm);
  const double right = std::min(high.shift, 1.1 * accept_.norm);
  const double reach = std::max(std::abs(left), std::abs(right));
  const double width = 4 * (finely_ ? accept_.tol * reach : accept_.bound(reach));
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

template <class T>
void Slicer<T>::solve_between(const Gap& low, const Gap& high) {
  auto problem = problem_;
  auto options = options_;
  std::optional<ShiftedInverse<T>> factor;
  options.nev = high.below - low.below;
  if (options.max_basis > 0)  // what was asked for, as far as it serves
    options.max_basis = std::max(options.max_basis, options.nev + 6 * std::max<index_t>(options.block_size, 8));
  if (std::isinf(low.shift) || std::isinf(high.shift)) {
    options.which = std::isinf(low.shift) ? Which::SA : Which::LA;
  } else {
    options.which = Which::LM, options.method = Method::lanczos;
    problem.target = 0.5 * (low.shift + high.shift);
    factor = problem_.invert(*problem.target);
    if (!factor) return;
    problem.inverse = factor->inverse, problem.shift = factor->shift;
  }
  // The gaps' counts tell whether something is missing; only then the search has to find that out itself.
  for (const bool verify : {false, true}) {
    options.verify = verify;
    auto part = solve_eigen<T>(ctx_, problem, options);
    count_in(part);
    if (finely_ && factor) take_from_inverse(*factor, part);
    const auto inside = indices_if(part.values, [&](double v) { return v > low.shift && v < high.shift; });
    const bool complete = static_cast<index_t>(inside.size()) == options.nev && part.converged;
    // An eigenvalue next to the middle drowns the others in the rounding of its inverse: other slices have
    // other middles.
    if (!complete && !verify && !interrupted_) {
      if (divide(low, high)) return;
      continue;
    }
    for (const index_t j : inside) {
      if (found_ == vectors_.cols()) break;
      for (index_t i = 0; i < vectors_.rows(); ++i) vectors_(i, found_) = part.vectors(i, j);
      guesses_.push_back(part.values[at(j)]), ++found_;
    }
    return;
  }
}

template <class T>
void Slicer<T>::take_from_inverse(const ShiftedInverse<T>& factor, EigenResult<T>& part) const {
  auto options = options_;
  options.nev = part.vectors.cols(), options.which = Which::LM;
  EigenResult<T> pairs;
  finish<T>(ctx_, EigenProblem<T>{factor.inverse}, options, Acceptance{}, Matrix<T>::copy_of(part.vectors.cview()), nan,
            pairs);
  for (double& nu : pairs.values) nu = factor.shift + 1 / nu;
  part.values = std::move(pairs.values), part.vectors = std::move(pairs.vectors);
}

#define TS_INSTANTIATE(T) template bool Slicer<T>::slice();
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::solvers
