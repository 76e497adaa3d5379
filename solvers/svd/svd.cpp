#include "tallskinny/solvers/svd/svd.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/solvers/svd/svd_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Largest loss of orthogonality of triplets that count as converged.
constexpr double largest_loss = 1e-8;

}  // namespace

template <class T>
PlacedMatrix<T> orthonormal_basis(const Context& ctx, PlacedView<const T> x, index_t width, std::uint64_t seed,
                                  Matrix<T>* r, index_t* found) {
  return basis_in_place<T>(ctx, copy_at<T>(ctx, x.space(), x), width, seed, r, found);
}

template <class T>
PlacedMatrix<T> basis_in_place(const Context& ctx, PlacedMatrix<T>&& x, index_t width, std::uint64_t seed, Matrix<T>* r,
                               index_t* found) {
  PlacedMatrix<T> block = std::move(x);
  const Space space = block.space();
  const index_t n = block.rows(), p = block.cols(), wanted = std::min(n, std::max(width, p));
  Matrix<T> triangle(p, p);
  index_t rank = p > 0 ? ortho::orthonormalise<T>(ctx, ortho::Ladder{}, block.view(), triangle.view()).rank : 0;
  if (found != nullptr) *found = rank;
  if (r != nullptr) {
    *r = Matrix<T>::zeros(wanted, p);
    ortho::copy<T>(triangle.cview(), r->view().rows(0, rank));
  }
  if (rank == wanted && p == wanted) return block;
  PlacedMatrix<T> q(ctx, space, n, wanted);
  copy_block<T>(ctx, block.cview().cols(0, rank), q.view().cols(0, rank));
  for (std::uint64_t stream = 0; rank < wanted && stream < 3; ++stream) {
    const index_t missing = wanted - rank;
    PlacedMatrix<T> more(ctx, space, n, missing);
    Matrix<T> s(rank, missing), t(missing, missing);
    fill_random<T>(ctx, seed ^ 0x5bd1e995u, stream, more.view());
    const auto e =
        ortho::orthonormalise<T>(ctx, ortho::BcgsiPlusA{}, q.cview().cols(0, rank), more.view(), s.view(), t.view());
    copy_block<T>(ctx, more.cview().cols(0, e.rank), q.view().cols(rank, e.rank));
    rank += e.rank;
  }
  return q;
}

template <class T>
PlacedMatrix<T> beside(const Context& ctx, PlacedView<const T> a, PlacedView<const T> b) {
  PlacedMatrix<T> c(ctx, a.space(), a.rows(), a.cols() + b.cols());
  copy_block<T>(ctx, a, c.view().cols(0, a.cols()));
  copy_block<T>(ctx, b, c.view().cols(a.cols(), b.cols()));
  return c;
}

template <class T>
PlacedMatrix<T> copy_at(const Context& ctx, Space space, PlacedView<const T> a) {
  PlacedMatrix<T> copied(ctx, space, a.rows(), a.cols());
  copy_block<T>(ctx, a, copied.view());
  return copied;
}

template <class T>
SvdSolver<T>::SvdSolver(const Context& ctx, const SvdProblem<T>& problem, const EigenOptions& options)
    : ctx_(ctx),
      options_(options),
      results_(options.results),
      smallest_(options.which == Which::SM),
      transposed_(problem.a.rows < problem.a.cols),
      a_(transposed_ ? adjoint(problem.a) : problem.a),
      dense_(problem.dense),
      sparse_(problem.sparse) {
  options_.which = Which::LA, options_.method = Method::automatic, options_.results = Results::on_host;
  wanted_ = std::min(options_.nev, a_.cols);
  if (transposed_ && sparse_.pointers != nullptr) {
    own_sparse_ = adjoint_of(sparse_);
    sparse_ = own_sparse_.view();
  }
}

template <class T>
SvdResult<T> SvdSolver<T>::run() {
  search();
  conclude();
  if (!out_.triplets.verified && may_take_over()) {
    by_triangle();
    out_.triplets.taken_over = true;
    conclude();
  }
  hand_out();
  return std::move(out_);
}

template <class T>
void SvdSolver<T>::search() {
  if (!smallest_ && dense_.cols() > 0 && svd_takes_whole(a_.rows, a_.cols, wanted_)) {
    by_whole();
  } else if (smallest_ && wanted_ > 0) {
    if (has_triangle())
      by_triangle();
    else if (dense_.cols() > 0)
      by_factor();
    else
      by_inverse();
  } else {
    by_gram();
    if (out_.triplets.stop != StopReason::interrupted && !settled(norm_)) {
      if (has_triangle())
        by_triangle();
      else
        by_deflation();
    }
  }
}

template <class T>
EigenOptions SvdSolver<T>::options_for(double norm) const {
  auto options = options_;
  if (options.convergence == Convergence::rel) {
    options.tol = std::max(options.tol, 100 * unit_roundoff * scale() / norm);
    return options;
  }
  const double absolute = options_.convergence == Convergence::abs ? options_.tol : options_.tol * norm_;
  options.convergence = Convergence::root;
  options.tol = std::max(std::min(absolute / norm, std::max(options_.tol, resolved_share)),
                         norm < norm_ ? 100 * unit_roundoff * scale() / norm : 0);
  return options;
}

template <class T>
void SvdSolver<T>::solve(const EigenProblem<T>& problem, const EigenOptions& options, HostView<const T> initial) {
  auto now = solve_eigen<T>(ctx_, problem, options, initial);
  auto& t = out_.triplets;
  std::swap(now.history, t.history);  // the earlier comes first
  add_costs(t, now);
  t = std::move(now);
  next_ = std::sqrt(std::max(t.next_value, 0.0));
  verification_ = t.verification;
}

template <class T>
double SvdSolver<T>::norm_of(const Rectangular<T>& b) {
  return std::sqrt(estimate_norm(ctx_, gram_operator(b), options_.seed, out_.triplets.operator_applications));
}

template <class T>
void SvdSolver<T>::refine(PlacedView<const T> x) {
  const auto there = copy_at<T>(ctx_, a_.space, x);
  const auto v = orthonormal_basis<T>(ctx_, there.cview(), wanted_, options_.seed);
  auto w = placed(a_.rows, v.cols());
  Matrix<T> r;
  a_.times(ctx_, v.cview(), w.view());
  settle(basis_in_place<T>(ctx_, std::move(w), v.cols(), options_.seed + 1, &r), v, r);
}

template <class T>
void SvdSolver<T>::settle(PlacedMatrix<T>&& u, const PlacedMatrix<T>& v) {
  auto av = placed(a_.rows, v.cols());
  Matrix<T> uav(u.cols(), v.cols());
  a_.times(ctx_, v.cview(), av.view());
  ortho::Tall<T>(ctx_).inner(u.cview(), av.cview(), uav.view());
  av = PlacedMatrix<T>();
  settle(std::move(u), v, uav);
}

template <class T>
void SvdSolver<T>::settle(PlacedMatrix<T>&& u, const PlacedMatrix<T>& v, const Matrix<T>& uav) {
  auto& t = out_.triplets;
  const index_t m = a_.rows, n = a_.cols, p = v.cols(), k = std::min(wanted_, p);
  const auto small = ortho::svd<T>(uav.cview());
  t.values.resize(at(k));
  Matrix<T> rotate_u(p, k), rotate_v(p, k);
  for (index_t j = 0; j < k; ++j) {
    const index_t from = smallest_ ? p - 1 - j : j;
    t.values[at(j)] = small.values[at(from)];
    for (index_t i = 0; i < p; ++i) rotate_u(i, j) = small.u(i, from), rotate_v(i, j) = small.v(i, from);
  }
  ortho::Tall<T> tall(ctx_);
  auto right = placed(n, k), left = placed(m, k);
  tall.combine(T{1}, v.cview(), rotate_v.cview(), T{0}, right.view());
  tall.combine(T{1}, u.cview(), rotate_u.cview(), T{0}, left.view());
  u = PlacedMatrix<T>();  // as large as what measure() makes
  t.operator_applications += p;
  measure(right.cview(), left.cview());
  t.vectors = std::move(right).to_host(ctx_), left_ = std::move(left);
}

template <class T>
void SvdSolver<T>::measure(PlacedView<const T> right, PlacedView<const T> left) {
  auto& t = out_.triplets;
  const index_t k = right.cols();
  auto minus_sigma = Matrix<T>::zeros(k, k);
  for (index_t j = 0; j < k; ++j) minus_sigma(j, j) = -t.values[at(j)];
  ortho::Tall<T> tall(ctx_);
  auto av = placed(a_.rows, k), au = placed(a_.cols, k);
  a_.times(ctx_, right, av.view());
  a_.adjoint_times(ctx_, left, au.view());
  t.operator_applications += k;
  tall.combine(T{1}, left, minus_sigma.cview(), T{1}, av.view());   // A V - U Sigma
  tall.combine(T{1}, right, minus_sigma.cview(), T{1}, au.view());  // A^H U - V Sigma
  std::vector<double> first(at(k)), second(at(k));
  tall.norms(av.cview(), first), tall.norms(au.cview(), second);
  t.residual_norms.resize(at(k));
  for (index_t j = 0; j < k; ++j) t.residual_norms[at(j)] = std::hypot(first[at(j)], second[at(j)]) / std::sqrt(2.0);
  for (const double sigma : t.values) norm_ = std::max(norm_, sigma);
}

template <class T>
bool SvdSolver<T>::residuals_met() const {
  const auto& t = out_.triplets;
  const auto accept = acceptance();
  for (std::size_t j = 0; j < t.values.size(); ++j)
    if (!(t.residual_norms[j] <= accept.bound(t.values[j]))) return false;
  return true;
}

template <class T>
bool SvdSolver<T>::settled(double norm) const {
  const auto accept = acceptance();
  if (!residuals_met()) return false;
  if (out_.triplets.values.empty()) return true;
  const double last = out_.triplets.values.back();
  return accept.rounding() * norm * norm <= last * accept.bound(last) * norm_;
}

template <class T>
std::string SvdSolver<T>::reason() const {
  const auto& t = out_.triplets;
  auto text = std::to_string(t.converged_count) + " of " + std::to_string(wanted_) +
              " singular triplets converged, residuals from the matrix itself";
  if (out_.stage == SvdStage::triangular)
    text += t.taken_over ? ", through its triangular factor, as the iteration did not succeed"
            : smallest_  ? ", through its triangular factor"
                         : ", through its triangular factor: the squares of A^H A had too few digits";
  if (out_.stage == SvdStage::whole) text += ", of all that there are";
  if (out_.stage == SvdStage::deflated)
    text += ", the small ones from what is left of A without the large ones: the squares of A^H A had too few digits";
  if (out_.stage == SvdStage::inverse) text += ", through a factorisation of [delta I, A; A^H, -delta I]";
  if (t.verified && t.verification == Verification::all_computed)
    return text + "; complete, for all singular values were computed";
  if (t.verified && t.verification == Verification::inertia)
    return text + "; complete by the inertia of an LDL^H factorisation";
  if (t.verified) return text + "; complete as far as a search from random blocks can tell";
  if (t.stop == StopReason::interrupted) return text + "; stopped on request";
  return text + "; not shown to be complete: raise `max_iterations` or `tol`";
}

template <class T>
void SvdSolver<T>::conclude() {
  auto& t = out_.triplets;
  const auto k = static_cast<index_t>(t.values.size());
  const auto accept = acceptance();
  t.norm = norm_, t.next_value = next_;
  t.gap = k > 0 ? std::abs(t.values.back() - next_) : nan;
  t.error_bounds = t.residual_norms;
  t.converged_pairs.assign(at(k), false), t.vector_errors.assign(at(k), nan), t.converged_count = 0;
  t.orthogonality_loss =
      std::max(ortho::bound_of_loss<T>(ctx_, t.vectors.cview()), ortho::bound_of_loss<T>(ctx_, left_.cview()));
  // Residuals are those of unit vectors, or they say nothing.
  const bool orthonormal = t.orthogonality_loss <= largest_loss;
  for (index_t j = 0; orthonormal && j < k; ++j)
    if (t.residual_norms[at(j)] <= accept.bound(t.values[at(j)])) t.converged_pairs[at(j)] = true, ++t.converged_count;
  t.multiplicities = multiplicities_of(t.values, t.residual_norms, norm_);
  t.value_roundings.assign(at(k), (64 * unit_roundoff + t.orthogonality_loss) * norm_);
  t.verification = verification_, t.shift = std::nullopt;
  t.converged = t.converged_count == wanted_, t.cut_off = wanted_ < a_.cols ? copies_cut_off(t, a_.cols) : 0;
  if (t.stop == StopReason::converged && !t.converged) t.stop = StopReason::rounding;
  t.verified = t.converged && t.verification != Verification::none && (out_.stage != SvdStage::gram || settled(norm_));
  if (t.verified) t.stop = StopReason::converged;
  if (!t.verified && t.stop == StopReason::converged) t.stop = StopReason::not_verified;
  if (t.verified)
    sharpen_error_bounds<T>(t, [&](double sigma) {  // [0, A; A^H, 0] has zero for an eigenvalue, too
      const double apart = smallest_ ? next_ - sigma : sigma - next_;
      const double gap = wanted_ < a_.cols ? std::min(0.5 * apart, sigma) : sigma;
      return std::isnan(gap) ? 0 : gap;
    });
  // [u; v] / sqrt(2) may be off in either half alone.
  for (double& angle : t.vector_errors) angle = std::sqrt(2.0) * angle < 1 ? std::sqrt(2.0) * angle : nan;
  t.reason = reason() + cut_sentence(t, "singular value");
}

template <class T>
void SvdSolver<T>::hand_out() {
  auto& t = out_.triplets;
  PlacedMatrix<T> right(std::move(t.vectors)), left = std::move(left_);
  if (transposed_) std::swap(left, right);
  if (results_ == Results::on_device) {
    t.vectors = Matrix<T>(right.rows(), 0), out_.left = Matrix<T>(left.rows(), 0);
    t.device_vectors = std::move(right).to_device(ctx_), out_.device_left = std::move(left).to_device(ctx_);
  } else {
    t.vectors = std::move(right).to_host(ctx_), out_.left = std::move(left).to_host(ctx_);
  }
}

template <class T>
SvdResult<T> solve_svd(const Context& ctx, const SvdProblem<T>& problem, const EigenOptions& options) {
  const UseHostMemory use(ctx.host_memory);
  expects_one_rank(ctx, "solve_svd");
  expects(problem.a.times && problem.a.adjoint_times, "a singular value problem needs both products");
  return SvdSolver<T>(ctx, problem, options).run();
}

template <class T>
std::optional<FactorEstimate> estimate_svd_factors(const Context& ctx, const SvdProblem<T>& problem,
                                                   const EigenOptions& options) {
  return SvdSolver<T>(ctx, problem, options).estimate_factors();
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, orthonormal_basis)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, beside)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, copy_at)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, SvdSolver)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_svd)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, estimate_svd_factors)

}  // namespace ts::inline v0::solvers
