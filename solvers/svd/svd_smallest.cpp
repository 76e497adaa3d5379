// The smallest singular values: the largest eigenvalues of (A^H A + delta^2 I)^-1.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/core/sparse_of.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/solvers/eigen/values/ways.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/svd/svd_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// (A^H A + delta^2 I)^-1 has a range of 1 / share^2, and 1 / share of its digits are lost to rounding.
constexpr double delta_share = 1e-3, least_delta_share = 1e-10;
/// Block steps that tell how small the smallest are.
constexpr index_t rough_steps = 30;

/// (A A^H + delta^2 I)^-1 in the complement of U.
template <class T>
struct LeftInverse {
  InverseGram<T> inverse;
  HostView<const T> u;
  [[nodiscard]] index_t rows() const { return u.rows(); }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    const Rectangular<T> whole{u.rows(),
                               u.rows(),
                               [this](const Context& c, PlacedView<const T> from, PlacedView<T> to) {
                                 copy_block<T>(c, inverse.left_inverse(c, from.host()).cview(), to);
                               },
                               {}};
    deflated<T>(whole, u, u).times(ctx, x, y);
  }
};

}  // namespace

template <class T>
void SvdSolver<T>::by_factor() {
  Matrix<T> r;
  const auto q = elements_factorised(r);
  const auto factor = sparse_of<T>(r.cview());
  auto options = options_;
  options.which = Which::SM;
  auto of_factor = solve_svd<T>(ctx_, SvdProblem<T>{rectangular<T>(factor.view()), {}, factor.view()}, options);
  out_.triplets = std::move(of_factor.triplets), out_.stage = of_factor.stage;
  norm_ = out_.triplets.norm, next_ = out_.triplets.next_value;
  if (out_.triplets.verified) verification_ = out_.triplets.verification;
  const auto v = copy_at<T>(ctx_, a_.space, out_.triplets.vectors.cview());
  auto u = placed(a_.rows, v.cols());
  ortho::Tall<T>(ctx_).combine(T{1}, q.cview(), of_factor.left.cview(), T{0}, u.view());
  settle(std::move(u), v);
}

template <class T>
void SvdSolver<T>::by_inverse() {
  expects(sparse_.pointers != nullptr,
          "the smallest singular values of a sparse matrix with so many columns are sought through a "
          "factorisation, which is not there for a centred one: leave `centred` out, or store it dense");
  auto& t = out_.triplets;
  out_.stage = SvdStage::inverse;
  norm_ = norm_of(a_);
  if (norm_ == 0) {
    refine(Matrix<T>(a_.cols, 0).cview());
    verification_ = Verification::all_computed, t.stop = StopReason::converged;
    return;
  }
  double delta = delta_share * norm_;
  for (int pass = 0; pass < 6; ++pass) {
    const InverseGram<T> inverse(sparse_, delta);
    for (const bool closely : {false, true}) {
      find_smallest(inverse, delta, closely);
      const bool unfinished = t.stop == StopReason::max_iterations && closely;
      if (t.stop == StopReason::interrupted || unfinished || t.values.empty()) return;
      if (is_too_far(delta)) break;
      // k values up to `last` are the smallest k to within `last`: there is nothing below zero.
      const double last = t.values.back();
      if (last <= acceptance().bound(last) && residuals_met()) {
        verification_ = Verification::inertia;
        return;
      }
      if (!closely) continue;
      if (!options_.verify) return;
      // Rounding in the inverse moves sigma^2 by about u ||A|| delta.
      const double squares = 10 * unit_roundoff * norm_ * delta;
      if (is_counted(inverse.count_below()))
        verification_ = Verification::inertia;
      else if (std::min(std::sqrt(squares), squares / last) <= acceptance().bound(last))
        verification_ = searched_;
      return;
    }
    delta = std::max(10 * t.values.back(), least_delta_share * norm_);
  }
}

template <class T>
void SvdSolver<T>::find_smallest(const InverseGram<T>& inverse, double delta, bool closely) {
  auto& t = out_.triplets;
  EigenProblem<T> problem{gram_operator(a_)};
  problem.target = 0, problem.inverse = at_home<T>(a_.space, inverse), problem.shift = -delta * delta;
  auto options = options_for(norm_);
  options.which = Which::SM, options.method = Method::lanczos;
  if (!closely) {
    options.verify = false, options.convergence = Convergence::abs, options.tol = delta * delta;
    const index_t asked = options_.max_iterations;
    options.max_iterations = asked > 0 ? std::min(asked, rough_steps) : rough_steps;
  }
  if (closely && may_take_over()) options.max_iterations = steps_of_triangle(inverse);
  const auto before = std::move(t.vectors);
  solve(problem, options, closely ? before.cview() : HostView<const T>{});
  searched_ = std::exchange(verification_, Verification::none);
  const auto right = orthonormal_basis<T>(ctx_, t.vectors.cview(), wanted_, options_.seed);
  const auto left = left_vectors(inverse, right.cview().host(), delta);
  settle(copy_at<T>(ctx_, a_.space, left.cview()), copy_at<T>(ctx_, a_.space, right.cview()));
}

template <class T>
index_t SvdSolver<T>::steps_of_triangle(const InverseGram<T>& inverse) const {
  // In flops of loops, as ways_of() has them: 1258 rows and columns take LAPACK 1.3 s, and a step of theirs 3 ms.
  constexpr index_t block = 8, basis = 100;
  constexpr double bytes_of_entry = 12;
  const FactorCost factors{0, inverse.factors().bytes / bytes_of_entry};
  const auto m = static_cast<double>(a_.rows), n = static_cast<double>(a_.cols);
  const double step = ways_of({.rows = a_.cols, .factors = factors}, wanted_, block, basis).inverse.step;
  return std::max(rough_steps, static_cast<index_t>(n * n * (m + n) / step));
}

template <class T>
PlacedMatrix<T> SvdSolver<T>::left_vectors(const InverseGram<T>& inverse, HostView<const T> v, double delta) {
  constexpr double vanishing = 1e-6;
  const auto images = inverse.left_of(ctx_, v);
  std::vector<double> norms(at(v.cols()));
  column_norms(ctx_, images.cview(), std::span<double>(norms));
  Matrix<T> told(a_.rows, v.cols());
  index_t count = 0;
  for (index_t j = 0; j < v.cols(); ++j) {
    if (!(norms[at(j)] * delta > vanishing)) continue;  // sigma / (sigma^2 + delta^2)
    for (index_t i = 0; i < a_.rows; ++i) told(i, count) = images(i, j) / norms[at(j)];
    ++count;
  }
  auto u = orthonormal_basis<T>(ctx_, told.cview().cols(0, count), count, options_.seed, nullptr, &count);
  if (count == v.cols()) return u;
  u = copy_at<T>(ctx_, Space::host, u.cview().cols(0, count));
  EigenProblem<T> problem{gram_operator(adjoint(a_))};
  problem.target = 0, problem.shift = -delta * delta;
  problem.inverse = LeftInverse<T>{inverse, u.cview().host()};
  auto options = options_for(norm_);
  options.which = Which::SM, options.method = Method::lanczos, options.verify = false;
  options.nev = v.cols() - count;
  const auto rest = solve_eigen<T>(ctx_, problem, options);
  out_.triplets.operator_applications += rest.operator_applications;
  return orthonormal_basis<T>(ctx_, beside<T>(ctx_, u.cview(), rest.vectors.cview()).cview(), v.cols(), options_.seed);
}

template <class T>
bool SvdSolver<T>::is_counted(const CountBelow& count_below) const {
  FoundSet found;
  found.n = a_.cols, found.norm = norm_;
  found.values = out_.triplets.values, found.errors = out_.triplets.residual_norms;
  for (const double v : found.values) found.tolerance = std::max(found.tolerance, acceptance().bound(v));
  found.next_high = found.next_low = next_;
  return count_ends(found, Which::SA, {static_cast<index_t>(found.values.size()), 0}, count_below).complete;
}

template <class T>
bool SvdSolver<T>::is_too_far(double delta) const {
  return out_.triplets.values.back() < delta / 20 && delta > 2 * least_delta_share * norm_;
}

#define TS_INSTANTIATE(T)                  \
  template void SvdSolver<T>::by_factor(); \
  template void SvdSolver<T>::by_inverse();
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::solvers
