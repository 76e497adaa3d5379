#include "tallskinny/solvers/eigen/semidefinite/semidefinite.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tallskinny/solvers/eigen/interval/inside.hpp"
#include "tallskinny/solvers/eigen/semidefinite/search.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"

namespace ts::inline v0::solvers {

namespace {

/// A number that no eigenvalue is near to, and how many negative ones A less as many M has.
struct CountedGap {
  double at = 0;
  index_t below = 0;
};

/// All eigenvalues of an interval.
template <class T>
class SlicedPencil {
 public:
  SlicedPencil(const Context& ctx, const SemidefinitePencil<T>& pencil, const EigenOptions& options,
               const SemidefiniteRequest<T>& request)
      : ctx_(ctx), pencil_(pencil), options_(options), request_(request), interval_(*request.interval) {
    out_.vectors = Matrix<T>(pencil.factor->rows(), 0);
  }

  [[nodiscard]] SemidefiniteResult<T> run() {
    const bool from_low = std::isfinite(interval_.low), from_high = std::isfinite(interval_.high);
    if (!from_low || !from_high) {
      from_one_end(from_low    ? interval_.low
                   : from_high ? interval_.high
                               : 0,
                   from_low    ? Which::LA
                   : from_high ? Which::SA
                               : Which::LM);
      return finished();
    }
    constexpr index_t most_without_counts = 1000;
    const auto low = cut_beyond(interval_.low, -1), high = cut_beyond(interval_.high, 1);
    if (low && high) {
      if (request_.counted) request_.counted(high->below - low->below);
      complete_ = true;
      collect(*low, *high);
    } else if (pencil_.factor->rank() <= most_without_counts) {  // without counts
      from_one_end(0.5 * (interval_.low + interval_.high), Which::LM);
    }
    return finished();
  }

 private:
  /// The size of eigenvalues, where none is known.
  [[nodiscard]] double unit() const { return pencil_.shifts.norm_of_a() / pencil_.shifts.norm_of_mass(); }

  /// Two equal counts beyond an end, each time twice as far away: nothing lies between them.
  [[nodiscard]] std::optional<CountedGap> cut_beyond(double end, double side) const {
    const double reach = std::max(std::abs(interval_.low), std::abs(interval_.high));
    double step = std::max(1e-7 * reach, 1e-13 * unit());
    for (int attempt = 0; attempt < 12; ++attempt, step *= 2)
      if (const auto cut = cut_between(end + side * step, end + 2 * side * step)) return cut;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<CountedGap> cut_between(double p, double q) const {
    const auto first = pencil_.negative(p);
    if (!first || first != pencil_.negative(q)) return std::nullopt;
    return CountedGap{0.5 * (p + q), *first};
  }

  /// Finds what lies between two cuts.
  void collect(const CountedGap& low, const CountedGap& high) {
    constexpr index_t slice_size = 96;
    const index_t inside = high.below - low.below;
    if (inside <= 0 || out_.stop == StopReason::interrupted) return;
    if (inside > slice_size && divide(low, high)) return;
    auto options = options_;
    options.nev = inside, options.which = Which::LM, options.verify = false;
    auto part = search_beside<T>(ctx_, pencil_, options, 0.5 * (low.at + high.at));
    std::vector<index_t> kept;
    for (std::size_t j = 0; j < part.values.size(); ++j)
      if (part.values[j] - part.error_bounds[j] > low.at && part.values[j] + part.error_bounds[j] < high.at)
        kept.push_back(static_cast<index_t>(j));
    // An eigenvalue beside the middle drowns others: other slices have other middles.
    const bool all = part.converged && static_cast<index_t>(kept.size()) == inside;
    if (!all && part.stop != StopReason::interrupted && divide(low, high)) return;
    complete_ = complete_ && all, how_ = Verification::inertia;
    append(std::move(part), kept);
  }

  bool divide(const CountedGap& low, const CountedGap& high) {
    const double length = high.at - low.at, width = 1e-7 * length;
    if (!(width > 16 * unit_roundoff * std::max(std::abs(low.at), std::abs(high.at)))) return false;
    for (const double share : {0.5, 0.4142, 0.5774, 0.3028, 0.7321}) {
      const double middle = low.at + share * length;
      const auto cut = cut_between(middle - width, middle + width);
      if (!cut || cut->below - low.below == 0 || high.below - cut->below == 0) continue;
      collect(low, *cut);
      collect(*cut, high);
      return true;
    }
    return false;
  }

  /// Ever more of one side of a shift, until there are no more.
  SemidefiniteResult<T> all_beside(double shift, Which which) {
    constexpr index_t first_guess = 32;
    const index_t rank = std::max<index_t>(pencil_.factor->rank(), 1);
    auto options = options_;
    options.which = which, options.nev = which == Which::LM ? rank : std::min(first_guess, rank);
    for (;; options.nev = std::min(2 * options.nev, rank)) {
      auto part = search_beside<T>(ctx_, pencil_, options, shift);
      const bool more = static_cast<index_t>(part.values.size()) == options.nev && options.nev < rank;
      if (part.converged && part.verified && more) continue;
      complete_ = part.verified && !more, how_ = part.verification;
      return part;
    }
  }

  /// From beyond an end, farther away where that is too near to an eigenvalue. For LM from there.
  void from_one_end(double end, Which which) {
    double step = which == Which::LM ? 0 : 1e-4 * std::max(std::abs(end), 1e-6 * unit());
    if (which == Which::LA) step = -step;
    SemidefiniteResult<T> part;
    for (int attempt = 0; attempt < 4; ++attempt, step *= 8) {
      part = all_beside(end + step, which);
      if (part.converged || part.stop == StopReason::interrupted) break;
    }
    std::vector<index_t> all(part.values.size());
    std::iota(all.begin(), all.end(), index_t{0});
    append(std::move(part), all);
  }

  void append(SemidefiniteResult<T> part, std::vector<index_t> kept) {
    add_costs(part, out_);
    if (part.stop == StopReason::interrupted) out_.stop = part.stop;
    std::sort(kept.begin(), kept.end(), [&](index_t i, index_t j) { return part.values[at(i)] < part.values[at(j)]; });
    arrange(part, kept);
    const auto join = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
    join(out_.values, part.values), join(out_.residual_norms, part.residual_norms);
    join(out_.error_bounds, part.error_bounds), join(out_.vector_errors, part.vector_errors);
    join(out_.value_roundings, part.value_roundings), join(out_.multiplicities, part.multiplicities);
    join(out_.converged_pairs, part.converged_pairs), join(out_.backward_errors, part.backward_errors);
    const index_t had = out_.vectors.cols(), n = part.vectors.rows();
    Matrix<T> both(n, had + part.vectors.cols());
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < had; ++j) both(i, j) = out_.vectors(i, j);
      for (index_t j = had; j < both.cols(); ++j) both(i, j) = part.vectors(i, j - had);
    }
    out_.vectors = std::move(both);
    out_.orthogonality_loss = std::max(out_.orthogonality_loss, part.orthogonality_loss);
    out_.decomposed_by = part.decomposed_by;
  }

  /// Without what lies outside. The values rise.
  SemidefiniteResult<T> finished() {
    const auto values = out_.values, backward = std::exchange(out_.backward_errors, {});
    out_.norm = unit(), out_.verification = complete_ ? how_ : Verification::none;
    if (out_.stop != StopReason::interrupted) out_.stop = complete_ ? StopReason::converged : StopReason::not_verified;
    keep_inside(interval_, false, out_);
    for (std::size_t i = 0; i < values.size() && out_.backward_errors.size() < out_.values.size(); ++i)
      if (values[i] == out_.values[out_.backward_errors.size()]) out_.backward_errors.push_back(backward[i]);
    return std::move(out_);
  }

  const Context& ctx_;
  const SemidefinitePencil<T>& pencil_;
  const EigenOptions& options_;
  const SemidefiniteRequest<T>& request_;
  Interval interval_;
  bool complete_ = false;
  Verification how_ = Verification::inertia;
  SemidefiniteResult<T> out_;
};

}  // namespace

template <class T>
SemidefiniteResult<T> solve_semidefinite(const Context& ctx, const SemidefinitePencil<T>& pencil,
                                         const EigenOptions& options, const SemidefiniteRequest<T>& request) {
  if (!request.target && !request.interval)
    throw Error(Errc::bad_input, "the mass matrix is singular to rounding, of rank " +
                                     std::to_string(pencil.factor->rank()) + " in " +
                                     std::to_string(pencil.factor->rows()) +
                                     " rows, so that other eigenvalues are infinite: give a target (sigma), `which` "
                                     "SM, or an interval");
  expects(!is_preconditioned(options.method), "LOBPCG and Davidson take a positive definite mass matrix");
  if (request.interval) return SlicedPencil<T>(ctx, pencil, options, request).run();
  return search_beside<T>(ctx, pencil, options, *request.target, request.initial, request.checkpointing);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_semidefinite)

}  // namespace ts::inline v0::solvers
