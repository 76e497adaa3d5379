#include "tallskinny/solvers/eigen/semidefinite/search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Residuals of B, relative to its eigenvalues: through an inverse digits are cheap.
constexpr double tolerance_of_inverse = 1e-12;

/// B = L^H (A - sigma M)^-1 L
template <class T>
struct OfRank {
  std::shared_ptr<const SemidefiniteMass<T>> mass;
  ShiftInvert<T> inverse;

  [[nodiscard]] index_t rows() const { return mass->rank(); }
  /// X = (A - sigma M)^-1 L Y
  void widen(const Context& ctx, HostView<const T> y, HostView<T> x) const {
    Matrix<T> ly(mass->rows(), y.cols());
    mass->apply(y, ly.view());
    inverse.apply(ctx, ly.cview(), x);
  }
  void apply(const Context& ctx, HostView<const T> y, HostView<T> by) const {
    Matrix<T> x(mass->rows(), y.cols());
    widen(ctx, y, x.view());
    mass->apply_adjoint(x.cview(), by);
  }
};

/// Lengths of the columns of L^H X.
template <class T>
std::vector<double> seminorms(const Context& ctx, const SemidefiniteMass<T>& mass, const Matrix<T>& x) {
  Matrix<T> y(mass.rank(), x.cols());
  mass.apply_adjoint(x.cview(), y.view());
  std::vector<double> norms(at(x.cols()));
  column_norms(ctx, y.cview(), std::span<double>(norms));
  return norms;
}

/// A search from one shift, and what it gives in terms of the pencil.
template <class T>
class SearchBeside {
 public:
  SearchBeside(const Context& ctx, const SemidefinitePencil<T>& pencil, const EigenOptions& options, double target,
               double shift)
      : ctx_(ctx),
        pencil_(pencil),
        options_(options),
        target_(target),
        b_{pencil.factor, ShiftInvert<T>(pencil.shifts, shift)},
        sigma_(b_.inverse.sigma()) {}

  [[nodiscard]] SemidefiniteResult<T> run(HostView<const T> initial, const Checkpointing<T>& checkpointing) {
    EigenProblem<T> problem{Operator<T>(b_)};
    problem.count_below = counts();
    EigenOptions o = options_;
    o.nev = std::max<index_t>(1, std::min(o.nev, b_.rows()));
    o.which = o.which == Which::SM ? Which::LM : o.which;
    o.tol = std::min(o.tol, tolerance_of_inverse), o.convergence = Convergence::rel;
    o.vectors = true, o.results = Results::on_host, o.spills = false;
    const bool whole = plan_eigen(b_.rows(), sizeof(T), o).method == Method::dense;
    o.method = whole ? Method::dense : Method::lanczos;
    Matrix<T> start(b_.rows(), initial.cols());
    if (initial.cols() > 0) pencil_.factor->apply_adjoint(initial, start.view());
    static_cast<EigenResult<T>&>(out_) = solve_eigen<T>(ctx_, problem, o, start.cview(), checkpointing);
    keep_finite();
    to_pencil();
    out_.note = b_.inverse.note();
    if (options_.which == Which::BE) arrange(out_, rising_order(out_.values));
    if (!nearest_hold()) {
      out_.verified = false, out_.stop = StopReason::not_verified;
      out_.reason = std::to_string(out_.converged_count) +
                    " pairs converged, but the shift that had to be moved is too far from `target` to tell whether "
                    "they are the nearest to it: choose another `target`";
    }
    return std::move(out_);
  }

 private:
  /// Counts eigenvalues of B.
  [[nodiscard]] CountBelow counts() const {
    const auto here = pencil_.negative(sigma_);
    if (!here) return nullptr;
    return [this, below = *here](double nu, double) -> std::optional<index_t> {
      const auto beyond = nu == 0 ? std::nullopt : pencil_.negative(sigma_ + 1 / nu);
      if (!beyond) return std::nullopt;
      return nu < 0 ? below - *beyond : b_.rows() - (*beyond - below);
    };
  }

  /// The side of the target on which the j-th value of B is wanted; 0: either.
  [[nodiscard]] double side_of(index_t j) const {
    if (options_.which == Which::LA) return 1;
    if (options_.which == Which::SA) return -1;
    if (options_.which != Which::BE) return 0;
    return j < static_cast<index_t>(out_.values.size()) / 2 ? -1 : 1;  // of B's, which rise
  }

  /// Drops what cannot be told from zero, and what lies on another side than was asked for.
  void keep_finite() {
    std::vector<index_t> kept;
    const auto had = static_cast<index_t>(out_.values.size());
    for (index_t j = 0; j < had; ++j) {
      const double nu = out_.values[at(j)];
      if (std::abs(nu) > 2 * out_.error_bounds[at(j)] && side_of(j) * nu >= 0) kept.push_back(j);
    }
    const auto found = static_cast<index_t>(kept.size());
    if (found == had && found >= options_.nev) return;
    keep_pairs(out_, kept);
    out_.reason += "; " + std::to_string(options_.nev) + " were asked for, and no more than " + std::to_string(found) +
                   " finite ones can be told from infinite ones" + (side_of(0) == 0 ? "" : " on the side asked for");
    out_.cut_off = 0, out_.next_value = nan;
  }

  /// Vectors, values and residuals of the pencil in the place of those of B.
  void to_pencil() {
    const index_t n = pencil_.factor->rows(), k = static_cast<index_t>(out_.values.size());
    const double zero = 128 * unit_roundoff * out_.norm;
    Matrix<T> x(n, k), r(n, k), mx(n, k);
    b_.widen(ctx_, out_.vectors.cview(), x.view());
    if (k > 0) refine(x);
    const auto lengths = seminorms(ctx_, *pencil_.factor, x);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < k; ++j) x(i, j) /= lengths[at(j)];
    pencil_.mass.apply(ctx_, x.cview(), mx.view());
    pencil_.a.apply(ctx_, x.cview(), r.view());
    out_.operator_applications += k;
    for (index_t j = 0; j < k; ++j) to_lambda(j);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < k; ++j) r(i, j) -= out_.values[at(j)] * mx(i, j);
    measure(x, mx, r);
    out_.vectors = std::move(x);
    out_.next_value = std::abs(out_.next_value) > zero ? sigma_ + 1 / out_.next_value : nan;
    out_.gap = nan;
    for (const double v : out_.values) {
      const double d = std::abs(v - out_.next_value);
      if (!(d >= out_.gap)) out_.gap = d;
    }
  }

  /// The inverse has brought in what is nearest to the shift: one more Rayleigh-Ritz step with B.
  void refine(Matrix<T>& x) {
    const index_t k = x.cols(), rank = b_.rows();
    Matrix<T> y(rank, k), by(rank, k), s(k, k), g(k, k);
    pencil_.factor->apply_adjoint(x.cview(), y.view());
    const auto sizes = lengths(y);
    b_.apply(ctx_, y.cview(), by.view());
    tsmttsm(ctx_, Op::adjoint, T{1}, y.cview(), y.cview(), T{0}, s.view());
    tsmttsm(ctx_, Op::adjoint, T{1}, y.cview(), by.cview(), T{0}, g.view());
    for (index_t i = 0; i < k; ++i)
      for (index_t j = 0; j < k; ++j) s(i, j) /= sizes[at(i)] * sizes[at(j)];
    auto root = ortho::hermitian_eigen<T>(s.cview());
    if (!(root.values.front() > 0.1)) return;  // a search from another shift is needed
    for (index_t i = 0; i < k; ++i)
      for (index_t j = 0; j < k; ++j) root.vectors(i, j) /= sizes[at(i)] * std::sqrt(root.values[at(j)]);
    const auto gt = ortho::product<T>(g.cview(), root.vectors.cview());
    Matrix<T> projected(k, k);
    tsmttsm(ctx_, Op::adjoint, T{1}, root.vectors.cview(), gt.cview(), T{0}, projected.view());
    const auto ritz = ortho::hermitian_eigen<T>(projected.cview());
    const auto rising = rising_order(out_.values);
    std::vector<index_t> place(at(k));
    for (index_t j = 0; j < k; ++j) place[at(rising[at(j)])] = j, out_.values[at(rising[at(j)])] = ritz.values[at(j)];
    const auto turn = ortho::product<T>(root.vectors.cview(), columns_of(ritz.vectors, place).cview());
    x = ortho::product<T>(x.cview(), turn.cview());
  }

  void to_lambda(index_t j) {
    double& value = out_.values[at(j)];
    const double nu = value, stretch = 1 / (nu * nu);
    value = sigma_ + 1 / nu;
    const double rounding = 2 * unit_roundoff * (std::abs(sigma_) + std::abs(1 / nu));
    const double error = out_.error_bounds[at(j)];
    out_.error_bounds[at(j)] = error * stretch / (1 - error / std::abs(nu)) + rounding;
    out_.residual_norms[at(j)] *= stretch, out_.value_roundings[at(j)] *= stretch;
  }

  /// From the residuals A X - M X Lambda.
  void measure(const Matrix<T>& x, const Matrix<T>& mx, const Matrix<T>& r) {
    const index_t n = x.rows(), k = x.cols();
    std::vector<double> plain(at(k)), of_x(at(k));
    column_norms(ctx_, r.cview(), std::span<double>(plain));
    column_norms(ctx_, x.cview(), std::span<double>(of_x));
    Matrix<T> w(n, k), gram(k, k);
    b_.inverse.apply(ctx_, r.cview(), w.view());
    const auto weighed = seminorms(ctx_, *pencil_.factor, w);
    tsmttsm(ctx_, Op::adjoint, T{1}, x.cview(), mx.cview(), T{0}, gram.view());
    for (index_t j = 0; j < k; ++j) gram(j, j) -= T{1};
    const auto loss = ortho::hermitian_eigen<T>(gram.cview()).values;
    out_.orthogonality_loss = k > 0 ? std::max(std::abs(loss.front()), std::abs(loss.back())) : 0;
    const double of_a = pencil_.shifts.norm_of_a(), of_mass = pencil_.shifts.norm_of_mass();
    out_.norm = of_a / of_mass;
    const auto factors = pencil_.shifts.factorised(sigma_);
    const double of_factors = factors ? factors->error : 0;
    auto accept = acceptance_of(options_, out_.norm, n);
    accept.steps = out_.iterations;
    out_.converged_count = 0;
    for (std::size_t j = 0; j < out_.values.size(); ++j) {
      const double value = out_.values[j], residual = std::abs(value - sigma_) * weighed[j];
      out_.backward_errors.push_back(plain[j] / ((of_a + std::abs(value) * of_mass) * of_x[j]));
      if (residual > 2 * out_.residual_norms[j])
        out_.error_bounds[j] = std::max(out_.error_bounds[j], residual), out_.vector_errors[j] = nan;
      // What the error of the factors moves it by, as vectors of length 1 in M have length of_x.
      out_.error_bounds[j] += of_factors * of_x[j] * of_x[j];
      out_.residual_norms[j] = residual;
      const bool met = residual <= accept.asked_of(value) || out_.backward_errors[j] <= accept.rounding_of(1);
      out_.converged_pairs[j] = out_.converged_pairs[j] && met;
      out_.converged_count += out_.converged_pairs[j] ? 1 : 0;
    }
    if (!out_.converged || out_.converged_count == k) return;
    out_.converged = out_.verified = false, out_.stop = StopReason::rounding;
    out_.reason = std::to_string(out_.converged_count) + " of " + std::to_string(k) +
                  " pairs have residuals from the two matrices within the tolerance; those of the others do not get "
                  "smaller: ask for a larger `tol`";
  }

  /// Are those beside a shift that was moved those beside the target as well?
  [[nodiscard]] bool nearest_hold() const {
    const double moved = std::abs(sigma_ - target_);
    if (moved == 0 || !out_.verified || static_cast<index_t>(out_.values.size()) == b_.rows()) return true;
    if (options_.which != Which::LM && options_.which != Which::SM) {
      if (options_.which != Which::BE && side_of(0) * (target_ - sigma_) > 0)
        return true;  // sees more than is asked for
      const auto low = pencil_.negative(std::min(sigma_, target_) - moved);
      return low && low == pencil_.negative(std::max(sigma_, target_) + moved);
    }
    double farthest = 0;
    for (const double v : out_.values) farthest = std::max(farthest, std::abs(v - target_));
    const double next = std::isnan(out_.next_value) ? inf : std::abs(out_.next_value - sigma_);
    if (2 * moved <= options_.tol * farthest || farthest <= next - moved) return true;
    const auto low = pencil_.negative(target_ - farthest * (1 + 1e-6)),
               high = pencil_.negative(target_ + farthest * (1 + 1e-6));
    return low && high && *high - *low == static_cast<index_t>(out_.values.size());
  }

  const Context& ctx_;
  const SemidefinitePencil<T>& pencil_;
  const EigenOptions& options_;
  double target_;
  OfRank<T> b_;
  double sigma_;
  SemidefiniteResult<T> out_;
};

/// A shift farther from the eigenvalue that drowned the others of `found`, which lies at the target but for rounding;
/// NaN: none is. On the side that is not asked for, where one is.
template <class T>
double farther_shift(const EigenResult<T>& found, Which which, double target) {
  std::vector<double> away;
  for (const double v : found.values) away.push_back(v - target);
  std::sort(away.begin(), away.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  const auto other =
      std::find_if(away.begin(), away.end(), [&](double d) { return std::abs(d) > 1e3 * std::abs(away[0]); });
  const double d = other == away.end() ? (away.empty() ? nan : away.front()) : *other;
  if (which == Which::LA) return target - 0.01 * std::abs(d);
  if (which == Which::SA) return target + 0.01 * std::abs(d);
  return other == away.end() ? nan : target - 0.05 * d;
}

/// Keeps the pairs that were asked for of what another shift than the target has found.
template <class T>
void keep_beside(SemidefiniteResult<T>& r, Which which, double target, index_t asked) {
  std::vector<index_t> order;
  const double side = which == Which::LA ? 1 : which == Which::SA ? -1 : 0;
  for (index_t j = 0; j < static_cast<index_t>(r.values.size()); ++j)
    if (side * (r.values[at(j)] - target) >= -r.error_bounds[at(j)]) order.push_back(j);
  std::stable_sort(order.begin(), order.end(), [&](index_t i, index_t j) {
    return std::abs(r.values[at(i)] - target) < std::abs(r.values[at(j)] - target);
  });
  order.resize(std::min(order.size(), at(asked)));
  arrange(r, order);
}

}  // namespace

template <class T>
void arrange(SemidefiniteResult<T>& r, const std::vector<index_t>& order) {
  const auto before = r.backward_errors;
  r.backward_errors.clear();
  for (const index_t j : order) r.backward_errors.push_back(before[at(j)]);
  arrange_pairs<T>(r, order);
}

template <class T>
SemidefiniteResult<T> search_beside(const Context& ctx, const SemidefinitePencil<T>& pencil,
                                    const EigenOptions& options, double target, HostView<const T> initial,
                                    const Checkpointing<T>& checkpointing) {
  auto found = SearchBeside<T>(ctx, pencil, options, target, target).run(initial, checkpointing);
  if (found.converged || found.stop != StopReason::rounding || options.which == Which::BE) return found;
  const double shift = farther_shift(found, options.which, target);
  if (std::isnan(shift)) return found;
  const bool sides = options.which == Which::LA || options.which == Which::SA;
  EigenOptions more = options;
  if (sides) more.nev += 2;  // what lies between shift and target
  auto again = SearchBeside<T>(ctx, pencil, more, target, shift).run(initial, {});
  if (!again.converged) return found;
  add_costs(found, again);
  keep_beside(again, options.which, target, options.nev);
  again.note = "an eigenvalue lies too near to the target, so that the shift was moved";
  return again;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, arrange)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, search_beside)

}  // namespace ts::inline v0::solvers
