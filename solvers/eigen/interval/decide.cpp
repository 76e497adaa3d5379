// All eigenvalues of an interval: which of those found are inside.
#include <numeric>

#include "tallskinny/solvers/eigen/interval/inside.hpp"
#include "tallskinny/solvers/eigen/interval/slicer.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

template <class T>
void Slicer<T>::decide() {
  bool counted = result_.verification == Verification::inertia;
  const bool bounded = std::isfinite(interval_.low) || std::isfinite(interval_.high);
  if (result_.verification == Verification::all_computed && bounded && accept_.norm > 0) {
    counted = is_counted();
    if (result_.verification == Verification::none) result_.stop = StopReason::rounding;
  }
  keep_inside(interval_, counted, result_);
}

template <class T>
bool Slicer<T>::is_counted() {
  if (!is_fine() && holds_by_norm()) return false;
  const auto low = problem_.count_below ? counted_end(interval_.low) : std::nullopt;
  const auto high = low ? counted_end(interval_.high) : std::nullopt;
  if (!high) {
    if (!holds_by_norm()) result_.verification = Verification::none;  // of a fine interval
    return false;
  }
  const auto agrees = [&] {
    const index_t inside = reaching();
    return high->low.below - low->high.below <= inside && inside <= high->high.below - low->low.below;
  };
  const bool counted = (!is_fine() && agrees()) || (pin_all(low->low, high->high) && agrees());
  if (!counted) result_.verification = Verification::none;
  return counted;
}

template <class T>
std::optional<CountedEnd> Slicer<T>::counted_end(double end) const {
  if (std::isfinite(end))
    return count_around(end, is_fine() ? 4 * unit_roundoff * reach_ : accept_.rounding(), problem_.count_below);
  const Counted beyond{end < 0 ? -4 * accept_.norm : 4 * accept_.norm, end < 0 ? 0 : n_};
  if (problem_.count_below(beyond.shift, accept_.norm) != beyond.below) return std::nullopt;
  return CountedEnd{beyond, beyond};
}

template <class T>
index_t Slicer<T>::reaching() const {
  index_t inside = 0;
  for (index_t j = 0; j < static_cast<index_t>(result_.values.size()); ++j)
    inside += reaches_into(result_, interval_, j) ? 1 : 0;
  return inside;
}

template <class T>
double Slicer<T>::off_together() const {
  const auto& residuals = result_.residual_norms;
  return std::sqrt(std::inner_product(residuals.begin(), residuals.end(), residuals.begin(), 0.0));
}

template <class T>
double Slicer<T>::off_by_norm() const {
  return off_together() + (result_.orthogonality_loss + 64 * unit_roundoff) * accept_.norm;
}

template <class T>
bool Slicer<T>::holds_by_norm() const {
  const double off = off_by_norm();
  for (std::size_t j = 0; j < result_.values.size(); ++j)
    for (const double end : {interval_.low, interval_.high}) {
      const double away = std::abs(result_.values[j] - end);
      if (away > result_.error_bounds[j] && away <= off) return false;
    }
  return true;
}

template <class T>
bool Slicer<T>::pin_all(Counted low, Counted high) {
  const auto rising = rising_order(result_.values);
  std::vector<double> guesses;
  guesses.reserve(rising.size());
  for (const index_t j : rising) guesses.push_back(result_.values[at(j)]);
  // Counts and values agree, but for rounding of A.
  const auto agrees = [&, off = off_by_norm()](Counted count) {
    const auto below = [&](double x) {
      return static_cast<index_t>(std::lower_bound(guesses.begin(), guesses.end(), x) - guesses.begin());
    };
    return below(count.shift - off) <= count.below && count.below <= below(count.shift + off);
  };
  if (low.below > high.below || !agrees(low) || !agrees(high)) return false;
  const std::vector<index_t> inside(rising.begin() + low.below, rising.begin() + high.below);
  return pin(low, high, guesses, columns_of(result_.vectors, inside));
}

template <class T>
bool Slicer<T>::pin(Counted low, Counted high, const std::vector<double>& guesses, Matrix<T> x) {
  constexpr double share = 0.01;  // of the tolerance: the width of a bracket
  const BracketWidth width{share * accept_.tol, share * share * fine_slack()};
  const auto brackets = bracket_eigenvalues(low, high, guesses, width, problem_.count_below);
  if (!brackets) return false;
  if (x.cols() == 0) {
    finish_with(x.cview());
    result_.verification = Verification::inertia, result_.stop = StopReason::converged;
    return true;
  }
  std::vector<double> values, bounds;
  std::vector<index_t> copies;
  for (const Bracket& bracket : *brackets)
    for (index_t copy = 0; copy < bracket.copies; ++copy) {
      const double half = 0.5 * (bracket.high - bracket.low);
      values.push_back(bracket.low + half), bounds.push_back(half + unit_roundoff * std::abs(values.back()));
      copies.push_back(bracket.copies);
    }
  result_.values = std::move(values);
  auto options = options_;
  options.nev = x.cols();
  finish_pairs<T>(ctx_, problem_, options, accept_, std::move(x), nan, result_);
  result_.error_bounds = std::move(bounds), result_.multiplicities = std::move(copies);
  result_.verification = Verification::inertia;
  result_.stop = result_.converged ? StopReason::converged : StopReason::rounding;
  return true;
}

template <class T>
bool Slicer<T>::is_sharp() const {
  if (interrupted_ || result_.verification == Verification::all_computed) return true;
  const auto& bounds = result_.error_bounds;
  const double most = bounds.empty() ? 0 : *std::max_element(bounds.begin(), bounds.end());
  return result_.verification == Verification::inertia && most <= fine_slack();
}

#define TS_INSTANTIATE(T)                                                  \
  template void Slicer<T>::decide();                                       \
  template double Slicer<T>::off_together() const;                         \
  template bool Slicer<T>::is_sharp() const;                               \
  template std::optional<CountedEnd> Slicer<T>::counted_end(double) const; \
  template bool Slicer<T>::pin(Counted, Counted, const std::vector<double>&, Matrix<T>);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::solvers
