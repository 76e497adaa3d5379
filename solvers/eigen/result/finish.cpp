#include "tallskinny/solvers/eigen/result/finish.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/ortho/muscle.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Of products that are not compensated, and of the projected matrix, relative to its norm.
constexpr double rounding_of_projected = 64 * unit_roundoff;
/// Vectors that are measured at once on a device.
constexpr index_t columns_at_once = 128;
/// No bound is smaller, relative to ||A||: not even the eigenvalues that one compares with are better known.
constexpr double least_bound = 8 * unit_roundoff;

}  // namespace

std::vector<index_t> order_of(const std::vector<double>& values, Which which, std::optional<double> target) {
  std::vector<index_t> order(values.size());
  std::iota(order.begin(), order.end(), index_t{0});
  const auto key = [&](index_t i) {
    const double v = values[at(i)];
    if (which == Which::SM || (which == Which::LM && target)) return std::abs(v - target.value_or(0));
    if (which == Which::LM) return -std::abs(v);
    if (which == Which::LA) return target ? v : -v;
    if (which == Which::SA) return target ? -v : v;
    return v;
  };
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return key(a) < key(b); });
  return order;
}

std::vector<index_t> multiplicities_of(const std::vector<double>& values, const std::vector<double>& residuals,
                                       double norm) {
  const auto k = static_cast<index_t>(values.size());
  std::vector<double> error(residuals);
  for (index_t i = 0; i < k; ++i) {
    double gap = inf;
    const double r = residuals[at(i)];
    for (const double v : values)
      if (std::abs(v - values[at(i)]) > r) gap = std::min(gap, std::abs(v - values[at(i)]));
    error[at(i)] = std::min(r, 10 * r * r / gap);
  }
  const auto rising = rising_order(values);
  std::vector<index_t> sizes(values.size(), 1);
  for (index_t first = 0, last = 0; first < k; first = last) {
    for (last = first + 1; last < k; ++last) {
      const index_t a = rising[at(last - 1)], b = rising[at(last)];
      if (values[at(b)] - values[at(a)] > 200 * unit_roundoff * norm + error[at(a)] + error[at(b)]) break;
    }
    for (index_t i = first; i < last; ++i) sizes[at(rising[at(i)])] = last - first;
  }
  return sizes;
}

namespace {

/// The Ritz pairs of A on the span of X, in the order of what was asked: fills the values, gives the vectors.
template <class T>
PlacedMatrix<T> rayleigh_ritz(const Context& ctx, const EigenProblem<T>& problem, Which which, PlacedMatrix<T> x,
                              EigenResult<T>& result) {
  const index_t n = problem.a.rows();
  Matrix<T> r(x.cols(), x.cols());
  const index_t k = ortho::orthonormalise<T>(ctx, ortho::Ladder{1e-8}, x.view(), r.view()).rank;
  const Space space = x.space();
  ortho::Tall<T> tall(ctx);
  PlacedMatrix<T> basis(ctx, space, n, k), ax(ctx, space, n, k), vectors(ctx, space, n, k);
  Matrix<T> h(k, k);
  copy_block<T>(ctx, x.cview().cols(0, k), basis.view());
  problem.a.apply(ctx, basis.cview(), ax.view());
  result.operator_applications += k;
  tall.inner(basis.cview(), ax.cview(), h.view());
  const auto e = ortho::hermitian_eigen<T>(h.cview());
  const auto order = order_of(e.values, which, problem.target);
  result.values.resize(at(k));
  for (index_t j = 0; j < k; ++j) result.values[at(j)] = e.values[at(order[at(j)])];
  const auto rotation = columns_of(e.vectors, order);
  tall.combine(T{1}, basis.cview(), rotation.cview(), T{0}, vectors.view());
  return vectors;
}

/// R = A X - X Theta, from A itself, where X is: residual norms, error bounds, and what rounding moved.
template <class T>
void measure_residuals(const Context& ctx, const Operator<T>& a, double norm, PlacedView<const T> x,
                       EigenResult<T>& result) {
  const index_t k = x.cols();
  ortho::Tall<T> tall(ctx);
  PlacedMatrix<T> residuals(ctx, x.space(), x.rows(), k);
  Matrix<T> h(k, k);
  const bool compensated = a.residual(ctx, x, result.values, residuals.view());
  result.operator_applications += k;
  result.residual_norms.resize(at(k));
  tall.norms(residuals.cview(), result.residual_norms);
  // Weinstein: an eigenvalue lies within ||r|| / ||x||. Of a product like any other, its rounding comes on
  // top.
  result.error_bounds = result.residual_norms;
  for (double& error : result.error_bounds)
    error = error * (1 + 1e-12) + (compensated ? least_bound : rounding_of_projected) * norm;
  // Theta is X^H A X but for the columns of X^H R, and X^H X is I but for the loss of orthogonality.
  tall.inner(x, residuals.cview(), h.view());
  result.value_roundings.resize(at(k));
  for (index_t j = 0; j < k; ++j) {
    double squares = 0;
    for (index_t i = 0; i < k; ++i) squares += std::norm(h(i, j));
    result.value_roundings[at(j)] =
        std::sqrt(squares) + (result.orthogonality_loss + 4 * unit_roundoff) * std::abs(result.values[at(j)]);
    if (!compensated) result.value_roundings[at(j)] += rounding_of_projected * norm;
  }
}

/// ||A x - theta x|| of vectors on a device, in blocks of one width, so that few kernels are needed: the last begins
/// within the one before.
template <class T>
void residuals_on_device(const Context& ctx, const Operator<T>& a, PlacedView<const T> x, std::span<const double> theta,
                         std::span<double> norms) {
  const index_t k = x.cols(), width = std::min(k, columns_at_once);
  ortho::Tall<T> tall(ctx);
  PlacedMatrix<T> product(ctx, Space::device, x.rows(), width);
  auto minus_theta = Matrix<T>::zeros(width, width);
  for (index_t next = 0; next < k; next += width) {
    const index_t first = std::min(next, k - width);
    const auto block = x.cols(first, width);
    a.apply(ctx, block, product.view());
    for (index_t j = 0; j < width; ++j) minus_theta(j, j) = -theta[at(first + j)];
    tall.combine(T{1}, block, minus_theta.cview(), T{1}, product.view());
    tall.norms(product.cview(), norms.subspan(at(first), at(width)));
  }
}

/// The same in host memory.
template <class T>
void residuals_here(const Context& ctx, const Operator<T>& a, HostView<const T> x, std::span<const double> theta,
                    std::span<double> norms) {
  Matrix<T> residuals(x.rows(), x.cols());
  a.apply(ctx, PlacedView<const T>(x), PlacedView<T>(residuals.view()));
  parallel_for(ctx.thread_count(), x.rows(), [&](index_t i) {
    for (index_t j = 0; j < x.cols(); ++j) residuals(i, j) -= x(i, j) * theta[at(j)];
  });
  ortho::Tall<T>(ctx).norms(PlacedView<const T>(residuals.cview()), norms);
}

/// Of many vectors: residuals by products alone, and a bound of the loss, where A is at home.
template <class T>
void measure_many(const Context& ctx, const Operator<T>& a, double norm, const Matrix<T>& x, EigenResult<T>& result) {
  const index_t k = x.cols();
  result.operator_applications += k;
  result.residual_norms.resize(at(k));
  if (a.space() == Space::device) {
    PlacedMatrix<T> there(ctx, Space::device, x.rows(), k);
    copy_block<T>(ctx, x.cview(), there.view());
    result.orthogonality_loss = ortho::bound_of_loss<T>(ctx, there.cview());
    residuals_on_device<T>(ctx, a, there.cview(), result.values, result.residual_norms);
  } else {
    result.orthogonality_loss = ortho::bound_of_loss<T>(ctx, x.cview());
    residuals_here<T>(ctx, a, x.cview(), result.values, result.residual_norms);
  }
  result.error_bounds = result.residual_norms;
  for (double& error : result.error_bounds) error = error * (1 + 1e-12) + rounding_of_projected * norm;
  // X^H R is no longer than R.
  result.value_roundings = result.error_bounds;
  for (index_t j = 0; j < k; ++j)
    result.value_roundings[at(j)] += result.orthogonality_loss * std::abs(result.values[at(j)]);
}

/// What follows from values, vectors and residuals.
template <class T>
void conclude(const Context& ctx, const EigenOptions& options, const Acceptance& accept, PlacedMatrix<T> vectors,
              double next_value, EigenResult<T>& result) {
  const index_t here = vectors.rows();
  result.device_vectors = {}, result.vectors = Matrix<T>(here, 0);
  if (options.vectors && options.results == Results::on_device)
    result.device_vectors = std::move(vectors).to_device(ctx);
  else if (options.vectors)
    result.vectors = std::move(vectors).to_host(ctx);
  result.norm = accept.norm;
  const auto k = static_cast<index_t>(result.values.size());
  result.converged_pairs.assign(at(k), false), result.vector_errors.assign(at(k), nan);
  result.converged_count = 0;
  for (index_t j = 0; j < k; ++j)
    if (result.residual_norms[at(j)] <= accept.bound(result.values[at(j)]))
      result.converged_pairs[at(j)] = true, ++result.converged_count;
  result.converged = result.converged_count >= std::min(options.nev, all_rows(ctx, here));

  result.multiplicities = multiplicities_of(result.values, result.residual_norms, result.norm);
  result.next_value = next_value, result.gap = nan;
  for (index_t j = 0; j < k; ++j) {
    // Residuals do not tell values apart that are nearer to each other.
    const double d = std::abs(result.values[at(j)] - next_value), told = d > result.residual_norms[at(j)] ? d : 0;
    if (!(told >= result.gap) && !std::isnan(d)) result.gap = told;
  }
}

}  // namespace

template <class T>
void finish(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options, const Acceptance& accept,
            PlacedMatrix<T> x, double next_value, EigenResult<T>& result) {
  auto vectors = rayleigh_ritz<T>(ctx, problem, options.which, std::move(x), result);
  result.orthogonality_loss = ortho::loss_of_orthogonality<T>(ctx, vectors.cview());
  if (problem.a.residual_space() == Space::host) vectors = std::move(vectors).to_host(ctx);
  measure_residuals<T>(ctx, problem.a, accept.norm, vectors.cview(), result);
  conclude<T>(ctx, options, accept, std::move(vectors), next_value, result);
}

template <class T>
void rehearse_finish(const Context& ctx, const CsrView<T, Space::device>& a, index_t count) {
  PlacedMatrix<T> x(ctx, Space::device, a.rows, count), y(ctx, Space::device, a.rows, count);
  const DeviceMatrix<double> theta(ctx.stream, 1, count);
  Matrix<T> small(count, count);
  ortho::Tall<T> tall(ctx);
  tall.gram(x.cview(), small.view());
  tall.solve(x.view(), small.cview());
  const auto from = x.cview().template in<Space::device>();
  const auto to = y.view().template in<Space::device>();
  spmm(ctx, Op::none, T{1}, a, from, T{0}, to);
  tall.inner(x.cview(), y.cview(), small.view());
  tall.combine(T{1}, x.cview(), small.cview(), T{0}, y.view());
  spmm_residual(ctx, a, from, theta.cview(), to);
  std::vector<double> norms(at(count));
  tall.norms(y.cview(), norms);
}

template <class T>
void finish_pairs(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                  const Acceptance& accept, Matrix<T> x, double next_value, EigenResult<T>& result) {
  measure_many<T>(ctx, problem.a, accept.norm, x, result);
  conclude<T>(ctx, options, accept, std::move(x), next_value, result);
}

template <class T>
index_t copies_cut_off(const EigenResult<T>& r, index_t n, std::optional<double> centre) {
  if (r.values.empty() || static_cast<index_t>(r.values.size()) == n) return 0;
  const auto place = [centre](double value) { return centre ? std::abs(value - *centre) : value; };
  const auto beside_next = [&](double value) { return std::abs(place(value) - place(r.next_value)); };
  std::size_t last = r.values.size() - 1;
  for (std::size_t i = 0; i < r.values.size() && r.end_known; ++i)
    if (beside_next(r.values[i]) < beside_next(r.values[last])) last = i;
  const double same = 200 * unit_roundoff * std::max(r.norm, std::abs(r.shift.value_or(0))) + r.residual_norms[last];
  index_t copies = r.multiplicities[last];
  // With a centre, those as far from it on the other side too.
  if (const double across = centre ? 2 * *centre - r.values[last] : nan; std::abs(across - r.values[last]) > 2 * same)
    copies +=
        std::count_if(r.values.begin(), r.values.end(), [&](double value) { return std::abs(value - across) <= same; });
  if (!r.end_known) return copies;
  // The next value is known roughly, unless all were computed.
  const auto [low, high] = std::minmax_element(r.values.begin(), r.values.end());
  const double rough =
      r.verification == Verification::all_computed ? 0 : std::max(0.02 * (*high - *low), 1e-6 * r.norm);
  const double apart = beside_next(r.values[last]);
  return apart > (copies > 1 ? std::max(same, rough) : same) || (std::isnan(apart) && copies == 1) ? 0 : copies;
}

namespace {

/// For each value, how many of its copies are among the kept.
template <class T>
std::vector<index_t> copies_among(const EigenResult<T>& r, const std::vector<index_t>& kept) {
  const auto rising = rising_order(r.values);
  std::vector<index_t> is_kept(r.values.size(), 0), copies(r.values.size(), 0);
  for (const index_t j : kept) is_kept[at(j)] = 1;
  for (std::size_t first = 0, last = 0; first < rising.size(); first = last) {
    last = std::min(rising.size(), first + at(std::max<index_t>(1, r.multiplicities[at(rising[first])])));
    index_t sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += is_kept[at(rising[i])];
    for (std::size_t i = first; i < last; ++i) copies[at(rising[i])] = sum;
  }
  return copies;
}

}  // namespace

template <class T>
void arrange_pairs(EigenResult<T>& r, const std::vector<index_t>& order) {
  const auto arranged = [&order](auto& all) {
    const auto before = all;
    all.resize(order.size());
    for (std::size_t j = 0; j < order.size(); ++j) all[j] = before[at(order[j])];
  };
  for (auto* numbers : {&r.values, &r.residual_norms, &r.error_bounds, &r.vector_errors, &r.value_roundings})
    arranged(*numbers);
  arranged(r.multiplicities), arranged(r.converged_pairs);
  if (r.vectors.cols() > 0) r.vectors = columns_of(r.vectors, order);
  r.converged_count = std::count(r.converged_pairs.begin(), r.converged_pairs.end(), true);
}

template <class T>
void keep_pairs(EigenResult<T>& r, const std::vector<index_t>& kept) {
  const auto copies = copies_among<T>(r, kept);
  arrange_pairs(r, kept);
  for (std::size_t j = 0; j < kept.size(); ++j) r.multiplicities[j] = copies[at(kept[j])];
}

template <class T>
void sharpen_error_bounds(EigenResult<T>& r, const std::function<double(double)>& outside) {
  const auto k = static_cast<index_t>(r.values.size());
  const auto rising = rising_order(r.values);
  const auto value = [&](index_t i) { return r.values[at(rising[at(i)])]; };
  const auto residual = [&](index_t i) { return r.residual_norms[at(rising[at(i)])]; };
  const auto rounding = [&](index_t i) { return r.value_roundings[at(rising[at(i)])]; };
  const auto end_of_copies = [&](index_t i) { return i + r.multiplicities[at(rising[at(i)])]; };
  // The value i - 1 stands for an eigenvalue within its residual of it.
  const auto step = [&](index_t i) {
    return i <= 0 || i >= k ? inf : value(i) - value(i - 1) - residual(i) - residual(i - 1);
  };
  for (index_t first = 0, last = 0; first < k; first = last) {
    double squares = std::pow(residual(first), 2);
    double roundings = std::pow(rounding(first), 2);
    index_t together = end_of_copies(first);
    for (last = first + 1; last < k; ++last) {
      if (last >= together) {
        if (step(last) > 2 * (residual(last) + residual(last - 1))) break;
        together = end_of_copies(last);
      }
      squares += std::pow(residual(last), 2), roundings += std::pow(rounding(last), 2);
    }
    const double gap = std::min({step(first), step(last), outside(value(first)), outside(value(last - 1))});
    const double bound = gap > 0 ? std::max(squares / gap + std::sqrt(roundings), least_bound * r.norm) : inf;
    for (index_t i = first; i < last; ++i) {
      double& error = r.error_bounds[at(rising[at(i)])];
      error = std::min(error, bound);
      const double angle = std::max((residual(i) + rounding(i)) / gap, least_bound);
      r.vector_errors[at(rising[at(i)])] = gap > 0 && angle < 1 ? angle : nan;
    }
  }
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, finish)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, rehearse_finish)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, finish_pairs)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, copies_cut_off)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, arrange_pairs)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, keep_pairs)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, sharpen_error_bounds)

}  // namespace ts::inline v0::solvers
