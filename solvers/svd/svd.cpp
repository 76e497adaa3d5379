#include "tallskinny/solvers/svd/svd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/finish.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/ortho/skeleton.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Up to this many columns the Gram matrix of a dense matrix is formed, and its triangular factor decomposed.
constexpr index_t gram_columns = 4096, triangular_columns = 512;

/// An orthonormal basis of span(X), completed at random to `width` columns (at most as many as rows).
template <class T>
Matrix<T> orthonormal_basis(const Context& ctx, HostView<const T> x, index_t width, std::uint64_t seed,
                            Matrix<T>* r = nullptr) {
  const index_t n = x.rows(), p = x.cols(), wanted = std::min(n, std::max(width, p));
  Matrix<T> q(n, wanted), block = Matrix<T>::copy_of(x), triangle(p, p);
  index_t rank = ortho::orthonormalise<T>(ctx, ortho::Ladder{}, block.view(), triangle.view()).rank;
  copy_block<T>(ctx, block.cview().cols(0, rank), q.view().cols(0, rank));
  if (r != nullptr) {
    *r = Matrix<T>::zeros(wanted, p);
    for (index_t i = 0; i < rank; ++i)
      for (index_t j = 0; j < p; ++j) (*r)(i, j) = triangle(i, j);
  }
  for (std::uint64_t stream = 0; rank < wanted && stream < 3; ++stream) {
    const index_t missing = wanted - rank;
    Matrix<T> more(n, missing), s(rank, missing), t(missing, missing);
    fill_random<T>(ctx, seed ^ 0x5bd1e995u, stream, more.view());
    const auto e = ortho::orthonormalise<T>(ctx, ortho::BcgsiPlusA{}, q.cview().cols(0, rank), more.view(),
                                            s.view(), t.view());
    copy_block<T>(ctx, more.cview().cols(0, e.rank), q.view().cols(rank, e.rank));
    rank += e.rank;
  }
  return q;
}

template <class T>
class SvdSolver {
 public:
  SvdSolver(const Context& ctx, const SvdProblem<T>& problem, const EigenOptions& options)
      : ctx_(ctx),
        options_(options),
        transposed_(problem.a.rows < problem.a.cols),
        a_(transposed_ ? adjoint(problem.a) : problem.a),
        dense_(problem.dense) {
    options_.which = Which::LA, options_.method = Method::automatic;
    wanted_ = std::min(options_.nev, a_.cols);
  }

  SvdResult<T> run() {
    by_gram();
    const bool interrupted = out_.triplets.stop == StopReason::interrupted;
    if (!interrupted && !settled()) {
      if (has_triangle())
        by_triangle();
      else
        by_augmented();
    }
    conclude();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_tall_dense() const {
    return dense_.cols() > 0 && !transposed_ && a_.cols <= gram_columns;
  }
  [[nodiscard]] bool has_triangle() const { return is_tall_dense() && a_.cols <= triangular_columns; }

  /// Eigenvectors of A^H A.
  void by_gram() {
    const index_t n = a_.cols;
    Matrix<T> g;
    EigenProblem<T> problem{gram_operator(a_)};
    if (is_tall_dense()) {
      g = Matrix<T>(n, n);
      gram(ctx_, Op::adjoint, T{1}, dense_, T{0}, g.view());
      problem.a = DenseOperator<T>(g.cview());
    }
    auto options = options_;
    // A^H u - sigma v = (A^H A v - sigma^2 v) / sigma
    if (options_.convergence != Convergence::rel) options.convergence = Convergence::root;
    if (options_.convergence == Convergence::abs) {
      index_t applied = 0;
      const double norm = std::sqrt(estimate_norm(ctx_, problem.a, options_.seed, applied));
      options.tol = norm > 0 ? options_.tol / norm : options_.tol;
    }
    out_.triplets = solve_eigen<T>(ctx_, problem, options);
    next_ = std::sqrt(std::max(out_.triplets.next_value, 0.0));
    norm_ = std::sqrt(out_.triplets.norm);
    squares_verified_ = out_.triplets.verification;
    const auto v = std::move(out_.triplets.vectors);
    refine(v.cview());
  }

  /// Rayleigh-Ritz for singular triplets on span(X): W = A V, W = Q R, R = U' Sigma V'^H. The wanted are
  /// kept, with residuals from A.
  void refine(HostView<const T> x) {
    auto& t = out_.triplets;
    const index_t m = a_.rows, n = a_.cols;
    const auto v = orthonormal_basis<T>(ctx_, x, wanted_, options_.seed);
    const index_t p = v.cols(), k = std::min(wanted_, p);
    Matrix<T> w(m, p), r;
    a_.times(ctx_, v.cview(), w.view());
    const auto q = orthonormal_basis<T>(ctx_, w.cview(), p, options_.seed + 1, &r);
    const auto small = ortho::svd<T>(r.cview());
    t.values.assign(small.values.begin(), small.values.begin() + k);
    t.vectors = Matrix<T>(n, k), out_.left = Matrix<T>(m, k);
    tsmm(ctx_, Op::none, T{1}, v.cview(), small.v.cview().cols(0, k), T{0}, t.vectors.view());
    tsmm(ctx_, Op::none, T{1}, q.cview(), small.u.cview().cols(0, k), T{0}, out_.left.view());

    Matrix<T> av(m, k), au(n, k);
    a_.times(ctx_, t.vectors.cview(), av.view());
    a_.adjoint_times(ctx_, out_.left.cview(), au.view());
    t.operator_applications += p + k;
    const auto subtract = [&](Matrix<T>& y, const Matrix<T>& from) {
      for (index_t i = 0; i < y.rows(); ++i)
        for (index_t j = 0; j < k; ++j) y(i, j) -= t.values[at(j)] * from(i, j);
    };
    subtract(av, out_.left), subtract(au, t.vectors);
    std::vector<double> first(at(k)), second(at(k));
    column_norms(ctx_, av.cview(), std::span<double>(first));
    column_norms(ctx_, au.cview(), std::span<double>(second));
    t.residual_norms.resize(at(k));
    for (index_t j = 0; j < k; ++j)
      t.residual_norms[at(j)] = std::hypot(first[at(j)], second[at(j)]) / std::sqrt(2.0);
    if (k > 0) norm_ = std::max(norm_, t.values.front());
  }

  [[nodiscard]] Acceptance acceptance() const {
    Acceptance accept;
    accept.tol = options_.tol, accept.convergence = options_.convergence, accept.norm = norm_;
    accept.rows = a_.rows + a_.cols;
    return accept;
  }

  /// Residuals meet the tolerance, and rounding in A^H A moves the last singular value by less than that.
  [[nodiscard]] bool settled() const {
    const auto& t = out_.triplets;
    const auto accept = acceptance();
    for (std::size_t j = 0; j < t.values.size(); ++j)
      if (!(t.residual_norms[j] <= accept.bound(t.values[j]))) return false;
    if (t.values.empty()) return true;
    const double last = t.values.back();
    return accept.rounding() * norm_ <= last * accept.bound(last);
  }

  /// A = Q R, and all singular values of R.
  void by_triangle() {
    const index_t n = a_.cols;
    Matrix<T> copy = Matrix<T>::copy_of(dense_), r(n, n);
    ortho::orthonormalise<T>(ctx_, ortho::Ladder{}, copy.view(), r.view());
    const auto all = ortho::svd<T>(r.cview());
    if (wanted_ < n) next_ = all.values[at(wanted_)];
    refine(all.v.cview().cols(0, wanted_));
    squares_verified_ = Verification::all_computed;
    out_.triplets.stop = StopReason::converged, out_.stage = SvdStage::triangular;
  }

  /// Block Lanczos on [0 A; A^H 0] from what was found.
  void by_augmented() {
    const index_t m = a_.rows, n = a_.cols;
    auto& t = out_.triplets;
    const auto k = static_cast<index_t>(t.values.size());
    Matrix<T> start(m + n, k);
    for (index_t j = 0; j < k; ++j) {
      for (index_t i = 0; i < m; ++i) start(i, j) = out_.left(i, j) / std::sqrt(2.0);
      for (index_t i = 0; i < n; ++i) start(m + i, j) = t.vectors(i, j) / std::sqrt(2.0);
    }
    auto options = options_;
    options.nev = wanted_;
    auto more = solve_eigen<T>(ctx_, EigenProblem<T>{augmented_operator(a_)}, options, start.cview());
    // Where sigma is zero u and v know nothing of each other: the v of both steps make one space.
    const auto found = static_cast<index_t>(more.values.size());
    Matrix<T> v(n, k + found);
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < found; ++j) v(i, j) = more.vectors(m + i, j);
      for (index_t j = 0; j < k; ++j) v(i, found + j) = t.vectors(i, j);
    }
    next_ = more.next_value;
    more.operator_applications += t.operator_applications, more.iterations += t.iterations;
    more.verification_applications += t.verification_applications, more.restarts += t.restarts;
    more.seconds += t.seconds;
    more.history.insert(more.history.begin(), t.history.begin(), t.history.end());
    t = std::move(more);
    squares_verified_ = t.verification;
    refine(v.cview());
    out_.stage = SvdStage::augmented;
  }

  void conclude() {
    auto& t = out_.triplets;
    const auto k = static_cast<index_t>(t.values.size());
    const auto accept = acceptance();
    t.norm = norm_, t.next_value = next_;
    t.gap = k > 0 ? std::abs(t.values.back() - next_) : std::numeric_limits<double>::quiet_NaN();
    t.error_bounds = t.residual_norms;
    t.converged_pairs.assign(at(k), false), t.converged_count = 0;
    for (index_t j = 0; j < k; ++j)
      if (t.residual_norms[at(j)] <= accept.bound(t.values[at(j)]))
        t.converged_pairs[at(j)] = true, ++t.converged_count;
    t.multiplicities = multiplicities_of(t.values, t.residual_norms, norm_);
    t.orthogonality_loss = std::max(ortho::loss_of_orthogonality<T>(ctx_, t.vectors.cview()),
                                    ortho::loss_of_orthogonality<T>(ctx_, out_.left.cview()));
    t.verification = squares_verified_;
    t.converged = t.converged_count == wanted_;
    if (t.stop == StopReason::converged && !t.converged) t.stop = StopReason::rounding;
    t.verified =
        t.converged && t.verification != Verification::none && (out_.stage != SvdStage::gram || settled());
    if (t.verified) t.stop = StopReason::converged;
    if (t.verified)
      sharpen_error_bounds<T>(t, [&](double sigma) {
        const double gap = wanted_ < a_.cols ? 0.5 * (sigma - next_) : 2 * sigma;
        return std::isnan(gap) ? 0 : gap;
      });
    t.reason = std::to_string(t.converged_count) + " of " + std::to_string(wanted_) +
               " singular triplets converged, residuals from the matrix itself";
    if (out_.stage == SvdStage::triangular)
      t.reason += ", through its triangular factor: the squares of A^H A had too few digits";
    if (out_.stage == SvdStage::augmented)
      t.reason += ", through [0 A; A^H 0]: the squares of A^H A had too few digits";
    if (t.verified && t.verification == Verification::all_computed)
      t.reason += "; complete, for all singular values were computed";
    else if (t.verified)
      t.reason += "; complete as far as a search from random blocks can tell";
    else if (t.stop == StopReason::interrupted)
      t.reason += "; stopped on request";
    else
      t.reason += "; not shown to be complete: raise --max-iter or --tol";
    if (transposed_) std::swap(t.vectors, out_.left);
  }

  const Context& ctx_;
  EigenOptions options_;
  bool transposed_;
  Rectangular<T> a_;  ///< at least as many rows as columns
  HostView<const T> dense_;
  index_t wanted_ = 0;
  double norm_ = 0, next_ = std::numeric_limits<double>::quiet_NaN();
  Verification squares_verified_ = Verification::none;
  SvdResult<T> out_;
};

}  // namespace

template <class T>
SvdResult<T> solve_svd(const Context& ctx, const SvdProblem<T>& problem, const EigenOptions& options) {
  expects(problem.a.times && problem.a.adjoint_times, "a singular value problem needs both products");
  return SvdSolver<T>(ctx, problem, options).run();
}

#define TS_INSTANTIATE(T) \
  template SvdResult<T> solve_svd<T>(const Context&, const SvdProblem<T>&, const EigenOptions&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
