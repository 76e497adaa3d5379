// The way to all eigenvalues of an interval: a state that its steps share. For the .cpp files of this folder alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "tallskinny/solvers/eigen/interval/brackets.hpp"
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

/// No eigenvalue within `clear` of `shift`, and `below` of them below it.
struct Gap {
  double shift = 0, clear = inf;
  index_t below = 0;
};

/// Numbers of the values that pass a test.
template <class Test>
[[nodiscard]] std::vector<index_t> indices_if(const std::vector<double>& values, const Test& test) {
  std::vector<index_t> indices;
  for (index_t j = 0; j < static_cast<index_t>(values.size()); ++j)
    if (test(values[at(j)])) indices.push_back(j);
  return indices;
}

template <class T>
class Slicer {
 public:
  Slicer(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options, Interval interval,
         const std::function<void(index_t)>& counted);
  EigenResult<T> run();

 private:
  // interval.cpp
  /// So many vectors will be kept.
  void count(index_t vectors);
  void compute_all();
  /// An end far beyond the spectrum is as good as infinite, and no shift to factorise.
  void clip();
  /// Without counts: from an end of the spectrum of A, or of (A - c I)^2 for an interval inside of it, until a value
  /// outside appears.
  void search();
  void finish_with(HostView<const T> x);
  void count_in(const EigenResult<T>& part);

  // slicer.cpp: what lies between two gaps
  /// Two equal counts prove that nothing lies between them, but for the error of the factorisations.
  [[nodiscard]] std::optional<Gap> gap_between(double p, double q) const;
  /// The first gap found from `end` outwards; `side` is -1 or 1, and `off` what values may be off by.
  [[nodiscard]] std::optional<Gap> gap_beyond(double end, double side, double off) const;
  /// False when no count could be had; nothing was done then.
  bool slice();
  void slice(const Gap& low, const Gap& high);
  /// With values from counts, and vectors from inverses alone; false where that brought nothing.
  bool slice_finely(const Gap& low, const Gap& high);
  /// So many eigenvalues are soonest found among all; done so if true.
  bool takes_all(index_t total);
  /// Finds what lies between two gaps.
  void collect(const Gap& low, const Gap& high);
  /// Collects on both sides of a gap near the middle; false when none was found.
  bool divide(const Gap& low, const Gap& high);
  void solve_between(const Gap& low, const Gap& high);
  /// The pairs of the inverse on what was found: near its shift it tells eigenvalues apart that A does not.
  void take_from_inverse(const ShiftedInverse<T>& factor, EigenResult<T>& part) const;

  // decide.cpp: which values are inside
  /// Which of the values found are inside, and do counts say so?
  void decide();
  /// Do counts at the ends, where they can be had, agree with the whole spectrum as it was computed?
  [[nodiscard]] bool is_counted();
  /// Where counts are certain at an end; at an infinite one beyond all of the spectrum.
  [[nodiscard]] std::optional<CountedEnd> counted_end(double end) const;
  /// Values whose bounds reach into the interval.
  [[nodiscard]] index_t reaching() const;
  /// No value is farther from an end than its own bound and nearer than all residuals together: all eigenvalues are
  /// within these of all values, number by number (Weyl).
  [[nodiscard]] bool holds_by_norm() const;
  /// The residuals of all values together.
  [[nodiscard]] double off_together() const;
  /// off_together() and rounding: no eigenvalue is farther from the value of its number where all were computed.
  [[nodiscard]] double off_by_norm() const;
  /// Keeps the part of a whole spectrum (from a dense solver) between two counts, with values from counts.
  bool pin_all(Counted low, Counted high);
  /// Values from counts, each within a bracket. @param x orthonormal, a column for each eigenvalue between the counts
  bool pin(Counted low, Counted high, const std::vector<double>& guesses, Matrix<T> x);
  /// Is the set complete and each value known as well as the interval asks for?
  [[nodiscard]] bool is_sharp() const;

  /// Largest error allowed of values in the interval; its ends need be known no better.
  [[nodiscard]] double slack() const { return accept_.bound(reach_); }
  /// Does the interval ask for values that the rounding of products with A does not tell apart?
  [[nodiscard]] bool is_fine() const { return reach_ > 0 && accept_.rounding() > fine_slack(); }
  [[nodiscard]] double fine_slack() const { return accept_.tol * reach_; }

  const Context& ctx_;
  index_t n_;  ///< rows of all ranks
  EigenProblem<T> problem_;
  EigenOptions options_;
  Interval interval_;
  const std::function<void(index_t)>& counted_;
  Acceptance accept_;
  Matrix<T> vectors_;            ///< the first found_ columns hold what the slices gave
  std::vector<double> guesses_;  ///< of their eigenvalues
  index_t found_ = 0;
  double reach_ = 0;     ///< the larger of the finite ends
  bool finely_ = false;  ///< values are told apart by inverses and counts, not by products with A
  bool interrupted_ = false;
  EigenResult<T> result_;
};

}  // namespace ts::inline v0::solvers
