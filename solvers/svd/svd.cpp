#include "tallskinny/solvers/svd/svd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/finish.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/ortho/skeleton.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/svd/inverse_gram.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Up to this many columns the Gram matrix of a dense matrix is formed.
constexpr index_t gram_columns = 4096;
/// Up to this many columns the triangular factor of a dense matrix is decomposed, and of a matrix that must
/// be made dense first, which may have this many elements.
constexpr index_t triangular_columns = 128;
constexpr index_t made_dense_elements = index_t{1} << 24;
/// Values above this share of the largest are what the squares resolve well.
constexpr double resolved_share = 1e-3;
/// Rounds of taking out what is known; each leaves a thousandth of the norm, or finds what was missing.
constexpr index_t most_rounds = 40;
/// Below this times ||A||, or times what cancels in its products, nothing is left but rounding.
constexpr double noise_share = 1e3 * unit_roundoff;
/// (A^H A + delta^2 I)^-1 has a range of 1 / share^2, and 1 / share of its digits are lost to rounding.
constexpr double delta_share = 1e-3, least_delta_share = 1e-10;
/// Block steps that tell how small the smallest are.
constexpr index_t rough_steps = 30;

/// An orthonormal basis of span(X), completed at random to `width` columns (at most as many as rows).
template <class T>
Matrix<T> orthonormal_basis(const Context& ctx, HostView<const T> x, index_t width, std::uint64_t seed,
                            Matrix<T>* r = nullptr, index_t* found = nullptr) {
  const index_t n = x.rows(), p = x.cols(), wanted = std::min(n, std::max(width, p));
  Matrix<T> q(n, wanted), block = Matrix<T>::copy_of(x), triangle(p, p);
  index_t rank =
      p > 0 ? ortho::orthonormalise<T>(ctx, ortho::Ladder{}, block.view(), triangle.view()).rank : 0;
  copy_block<T>(ctx, block.cview().cols(0, rank), q.view().cols(0, rank));
  if (found != nullptr) *found = rank;
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

/// [A, B]
template <class T>
Matrix<T> beside(const Context& ctx, HostView<const T> a, HostView<const T> b) {
  Matrix<T> c(a.rows(), a.cols() + b.cols());
  copy_block<T>(ctx, a, c.view().cols(0, a.cols()));
  copy_block<T>(ctx, b, c.view().cols(a.cols(), b.cols()));
  return c;
}

/// Without its zeros.
template <class T>
CsrMatrix<T> sparse_of(HostView<const T> dense) {
  CsrMatrix<T> a;
  a.rows = dense.rows(), a.cols = dense.cols();
  for (index_t i = 0; i < a.rows; ++i) {
    for (index_t j = 0; j < a.cols; ++j)
      if (dense(i, j) != T{})
        a.indices.push_back(static_cast<std::int32_t>(j)), a.values.push_back(dense(i, j));
    a.pointers.push_back(static_cast<index_t>(a.values.size()));
  }
  return a;
}

/// (A A^H + delta^2 I)^-1 in the complement of U.
template <class T>
struct LeftInverse {
  InverseGram<T> inverse;
  HostView<const T> u;
  [[nodiscard]] index_t rows() const { return u.rows(); }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    const Rectangular<T> whole{u.rows(),
                               u.rows(),
                               [this](const Context& c, HostView<const T> from, HostView<T> to) {
                                 copy_block<T>(c, inverse.left_inverse(c, from).cview(), to);
                               },
                               {},
                               0};
    deflated<T>(whole, u, u).times(ctx, x, y);
  }
};

template <class T>
class SvdSolver {
 public:
  SvdSolver(const Context& ctx, const SvdProblem<T>& problem, const EigenOptions& options)
      : ctx_(ctx),
        options_(options),
        smallest_(options.which == Which::SM),
        transposed_(problem.a.rows < problem.a.cols),
        a_(transposed_ ? adjoint(problem.a) : problem.a),
        dense_(problem.dense),
        sparse_(problem.sparse) {
    options_.which = Which::LA, options_.method = Method::automatic;
    wanted_ = std::min(options_.nev, a_.cols);
    if (transposed_ && sparse_.pointers != nullptr) {
      own_sparse_ = ts::transposed(sparse_);
      for (T& x : own_sparse_.values) x = conjugate(x);
      sparse_ = own_sparse_.view();
    }
  }

  SvdResult<T> run() {
    if (smallest_) {
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
    conclude();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_tall_dense() const {
    return dense_.cols() > 0 && !transposed_ && a_.cols <= gram_columns;
  }
  [[nodiscard]] bool has_triangle() const {
    if (dense_.cols() > 0) return a_.cols <= triangular_columns;
    return a_.cols <= triangular_columns && a_.rows * a_.cols <= made_dense_elements;
  }

  [[nodiscard]] Acceptance acceptance() const {
    Acceptance accept;
    accept.tol = options_.tol, accept.convergence = options_.convergence, accept.norm = norm_;
    accept.rows = a_.rows + a_.cols;
    return accept;
  }

  /// What rounding in products is relative to.
  [[nodiscard]] double scale() const { return std::max(norm_, a_.cancelled); }

  /// What is asked of eigenvectors of B^H B, with ||B|| = norm, when B^H u - sigma v = (B^H B v - sigma^2 v)
  /// / sigma may be as large as is asked of the triplets of A.
  [[nodiscard]] EigenOptions options_for(double norm) const {
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

  /// solve_eigen, with the work of the rounds before added.
  void solve(const EigenProblem<T>& problem, const EigenOptions& options, HostView<const T> initial = {}) {
    auto now = solve_eigen<T>(ctx_, problem, options, initial);
    auto& t = out_.triplets;
    now.operator_applications += t.operator_applications, now.iterations += t.iterations;
    now.verification_applications += t.verification_applications, now.restarts += t.restarts;
    now.verification_rounds += t.verification_rounds, now.dead_directions += t.dead_directions;
    now.seconds += t.seconds;
    now.history.insert(now.history.begin(), t.history.begin(), t.history.end());
    t = std::move(now);
    next_ = std::sqrt(std::max(t.next_value, 0.0));
    verification_ = t.verification;
  }

  /// ||B|| from below.
  [[nodiscard]] double norm_of(const Rectangular<T>& b) {
    return std::sqrt(
        estimate_norm(ctx_, gram_operator(b), options_.seed, out_.triplets.operator_applications));
  }

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
    norm_ = 1;
    if (options_.convergence == Convergence::abs)
      norm_ = std::sqrt(estimate_norm(ctx_, problem.a, options_.seed, out_.triplets.operator_applications));
    auto options = options_for(norm_ > 0 ? norm_ : 1);
    solve(problem, options);
    norm_ = std::sqrt(out_.triplets.norm);
    const auto v = std::move(out_.triplets.vectors);
    refine(v.cview());
  }

  /// Rayleigh-Ritz for singular triplets on span(X), with W = A V = Q R.
  void refine(HostView<const T> x) {
    const auto v = orthonormal_basis<T>(ctx_, x, wanted_, options_.seed);
    Matrix<T> w(a_.rows, v.cols()), r;
    a_.times(ctx_, v.cview(), w.view());
    const auto q = orthonormal_basis<T>(ctx_, w.cview(), v.cols(), options_.seed + 1, &r);
    settle(q, v, r);
  }

  /// U^H A V = U' Sigma V'^H: the wanted are kept, with residuals from A.
  void settle(const Matrix<T>& u, const Matrix<T>& v, const Matrix<T>& uav) {
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
    t.vectors = Matrix<T>(n, k), out_.left = Matrix<T>(m, k);
    tsmm(ctx_, Op::none, T{1}, v.cview(), rotate_v.cview(), T{0}, t.vectors.view());
    tsmm(ctx_, Op::none, T{1}, u.cview(), rotate_u.cview(), T{0}, out_.left.view());

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
    for (const double sigma : t.values) norm_ = std::max(norm_, sigma);
  }

  [[nodiscard]] bool residuals_met() const {
    const auto& t = out_.triplets;
    const auto accept = acceptance();
    for (std::size_t j = 0; j < t.values.size(); ++j)
      if (!(t.residual_norms[j] <= accept.bound(t.values[j]))) return false;
    return true;
  }

  /// Residuals meet the tolerance, and rounding in squares of size norm^2 moves the last singular value by
  /// less than that.
  [[nodiscard]] bool settled(double norm) const {
    const auto accept = acceptance();
    if (!residuals_met()) return false;
    if (out_.triplets.values.empty()) return true;
    const double last = out_.triplets.values.back();
    return accept.rounding() * norm * norm <= last * accept.bound(last) * norm_;
  }

  /// A = Q R, and all singular values of R.
  void by_triangle() {
    const index_t n = a_.cols;
    Matrix<T> own, r;
    if (dense_.cols() == 0 || transposed_) own = as_dense(ctx_, a_);
    const auto q = orthonormal_basis<T>(ctx_, own.empty() ? dense_ : own.cview(), n, options_.seed, &r);
    const auto all = ortho::svd<T>(r.cview());
    norm_ = all.values.empty() ? 0 : all.values.front();
    const index_t first = smallest_ ? n - wanted_ : 0;
    if (wanted_ < n) next_ = all.values[at(smallest_ ? first - 1 : wanted_)];
    Matrix<T> u(a_.rows, wanted_);
    tsmm(ctx_, Op::none, T{1}, q.cview(), all.u.cview().cols(first, wanted_), T{0}, u.view());
    const auto v = Matrix<T>::copy_of(all.v.cview().cols(first, wanted_));
    settle(u, v, inner(u, v));
    verification_ = Verification::all_computed;
    out_.triplets.stop = StopReason::converged, out_.stage = SvdStage::triangular;
  }

  /// A = Q R, and the smallest of R through its inverse.
  void by_factor() {
    Matrix<T> own, r;
    if (transposed_) own = as_dense(ctx_, a_);
    const auto q = orthonormal_basis<T>(ctx_, transposed_ ? own.cview() : dense_, a_.cols, options_.seed, &r);
    const auto factor = sparse_of<T>(r.cview());
    auto options = options_;
    options.which = Which::SM;
    auto of_factor =
        solve_svd<T>(ctx_, SvdProblem<T>{rectangular<T>(factor.view()), {}, factor.view()}, options);
    out_.triplets = std::move(of_factor.triplets), out_.stage = of_factor.stage;
    norm_ = out_.triplets.norm, next_ = out_.triplets.next_value;
    if (out_.triplets.verified) verification_ = out_.triplets.verification;
    const auto v = std::move(out_.triplets.vectors);
    Matrix<T> u(a_.rows, v.cols());
    tsmm(ctx_, Op::none, T{1}, q.cview(), of_factor.left.cview(), T{0}, u.view());
    settle(u, v, inner(u, v));
  }

  /// The squares of what is left when the triplets that are known well are taken out resolve the next ones,
  /// until all are known or nothing but rounding is left.
  void by_deflation() {
    auto& t = out_.triplets;
    out_.stage = SvdStage::deflated;
    double norm = norm_;  // of what was decomposed last
    auto weakest = verification_;
    verification_ = Verification::none;
    for (index_t round = 0, before = -1;; ++round) {
      const auto accept = acceptance();
      index_t known = 0;
      while (known < static_cast<index_t>(t.values.size()) && t.values[at(known)] >= resolved_share * norm &&
             t.residual_norms[at(known)] <= accept.bound(t.values[at(known)]))
        ++known;
      if (round == most_rounds || (known <= before && known < wanted_)) return;
      before = known;
      const auto u = Matrix<T>::copy_of(out_.left.cview().cols(0, known)),
                 v = Matrix<T>::copy_of(t.vectors.cview().cols(0, known));
      const auto rest = deflated<T>(a_, u.cview(), v.cview());
      norm = known == a_.cols ? 0 : norm_of(rest);
      if (norm <= std::max(noise_share * scale(), accept.rounding() / 2)) {
        next_ = norm;
        refine(v.cview());
        t.stop = StopReason::converged;
        if (weakest != Verification::none) verification_ = Verification::random_block;
        return;
      }
      auto options = options_for(norm);
      options.nev = std::max<index_t>(1, wanted_ - known);
      solve(EigenProblem<T>{gram_operator(rest)}, options);
      if (verification_ == Verification::none) weakest = Verification::none;
      verification_ = Verification::none;
      norm = std::max(norm, t.values.empty() ? 0 : std::sqrt(std::max(t.values.front(), 0.0)));
      const double next = known == wanted_ ? norm : next_;
      const auto more = std::move(t.vectors);
      refine(beside<T>(ctx_, v.cview(), more.cview()).cview());
      next_ = next;
      if (t.stop == StopReason::interrupted || weakest == Verification::none) return;
      const double last = t.values.back();
      if (settled(norm) || (known == wanted_ && residuals_met() && norm <= last + accept.bound(last))) {
        verification_ = weakest;
        return;
      }
    }
  }

  /// The smallest are the largest eigenvalues of (A^H A + delta^2 I)^-1.
  void by_inverse() {
    expects(sparse_.pointers != nullptr,
            "the smallest singular values of a sparse matrix with so many columns are sought through a "
            "factorisation, which is not there for a centred one: leave --centre out, or store it dense");
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

  /// All wanted values lie so far below delta that a smaller one tells them apart better.
  [[nodiscard]] bool is_too_far(double delta) const {
    return out_.triplets.values.back() < delta / 20 && delta > 2 * least_delta_share * norm_;
  }

  /// Those that are nearest to zero as far as the inverse tells: roughly, to see how small they are, or
  /// closely and with verification, from what was found roughly.
  void find_smallest(const InverseGram<T>& inverse, double delta, bool closely) {
    auto& t = out_.triplets;
    EigenProblem<T> problem{gram_operator(a_)};
    problem.target = 0, problem.inverse = inverse, problem.shift = -delta * delta;
    auto options = options_for(norm_);
    options.which = Which::SM, options.method = Method::lanczos;
    if (!closely) {
      options.verify = false, options.convergence = Convergence::abs, options.tol = delta * delta;
      const index_t asked = options_.max_iterations;
      options.max_iterations = asked > 0 ? std::min(asked, rough_steps) : rough_steps;
    }
    const auto before = std::move(t.vectors);
    solve(problem, options, closely ? before.cview() : HostView<const T>{});
    searched_ = std::exchange(verification_, Verification::none);
    const auto v = orthonormal_basis<T>(ctx_, t.vectors.cview(), wanted_, options_.seed);
    const auto u = left_vectors(inverse, v.cview(), delta);
    settle(u, v, inner(u, v));
  }

  /// U^H A V
  [[nodiscard]] Matrix<T> inner(const Matrix<T>& u, const Matrix<T>& v) const {
    Matrix<T> av(a_.rows, v.cols()), b(u.cols(), v.cols());
    a_.times(ctx_, v.cview(), av.view());
    tsmttsm(ctx_, Op::adjoint, T{1}, u.cview(), av.cview(), T{0}, b.view());
    return b;
  }

  /// Left vectors of right ones. Those of vanishing singular values, which A V does not tell, are the
  /// smallest of A^H in the complement of the others.
  Matrix<T> left_vectors(const InverseGram<T>& inverse, HostView<const T> v, double delta) {
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
    u = Matrix<T>::copy_of(u.cview().cols(0, count));
    EigenProblem<T> problem{gram_operator(adjoint(a_))};
    problem.target = 0, problem.shift = -delta * delta;
    problem.inverse = LeftInverse<T>{inverse, u.cview()};
    auto options = options_for(norm_);
    options.which = Which::SM, options.method = Method::lanczos, options.verify = false;
    options.nev = v.cols() - count;
    const auto rest = solve_eigen<T>(ctx_, problem, options);
    out_.triplets.operator_applications += rest.operator_applications;
    return orthonormal_basis<T>(ctx_, beside<T>(ctx_, u.cview(), rest.vectors.cview()).cview(), v.cols(),
                                options_.seed);
  }

  /// Does the number of singular values below the last, or below its cluster, agree?
  [[nodiscard]] bool is_counted(const CountBelow& count_below) const {
    FoundSet found;
    found.n = a_.cols, found.norm = norm_;
    found.values = out_.triplets.values, found.errors = out_.triplets.residual_norms;
    found.next_high = found.next_low = next_;
    return count_ends(found, Which::SA, {static_cast<index_t>(found.values.size()), 0}, count_below);
  }

  /// How the values were reached and whether they are all, in words.
  [[nodiscard]] std::string reason() const {
    const auto& t = out_.triplets;
    auto text = std::to_string(t.converged_count) + " of " + std::to_string(wanted_) +
                " singular triplets converged, residuals from the matrix itself";
    if (out_.stage == SvdStage::triangular)
      text += smallest_ ? ", through its triangular factor"
                        : ", through its triangular factor: the squares of A^H A had too few digits";
    if (out_.stage == SvdStage::deflated)
      text +=
          ", the small ones from what is left of A without the large ones: the squares of A^H A had too "
          "few digits";
    if (out_.stage == SvdStage::inverse) text += ", through a factorisation of [delta I, A; A^H, -delta I]";
    if (t.verified && t.verification == Verification::all_computed)
      return text + "; complete, for all singular values were computed";
    if (t.verified && t.verification == Verification::inertia)
      return text + "; complete by the inertia of an LDL^H factorisation";
    if (t.verified) return text + "; complete as far as a search from random blocks can tell";
    if (t.stop == StopReason::interrupted) return text + "; stopped on request";
    return text + "; not shown to be complete: raise --max-iter or --tol";
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
    t.verification = verification_, t.shift = std::nullopt;
    t.converged = t.converged_count == wanted_;
    if (t.stop == StopReason::converged && !t.converged) t.stop = StopReason::rounding;
    t.verified = t.converged && t.verification != Verification::none &&
                 (out_.stage != SvdStage::gram || settled(norm_));
    if (t.verified) t.stop = StopReason::converged;
    if (!t.verified && t.stop == StopReason::converged) t.stop = StopReason::not_verified;
    if (t.verified)
      sharpen_error_bounds<T>(t, [&](double sigma) {  // [0, A; A^H, 0] has zero for an eigenvalue, too
        const double apart = smallest_ ? next_ - sigma : sigma - next_;
        const double gap = wanted_ < a_.cols ? std::min(0.5 * apart, sigma) : sigma;
        return std::isnan(gap) ? 0 : gap;
      });
    t.reason = reason();
    if (transposed_) std::swap(t.vectors, out_.left);
  }

  const Context& ctx_;
  EigenOptions options_;
  bool smallest_, transposed_;
  Rectangular<T> a_;  ///< at least as many rows as columns
  HostView<const T> dense_;
  CsrView<T> sparse_;
  CsrMatrix<T> own_sparse_;
  index_t wanted_ = 0;
  double norm_ = 0, next_ = std::numeric_limits<double>::quiet_NaN();
  Verification verification_ = Verification::none;
  Verification searched_ = Verification::none;  ///< what the search through the inverse says of itself
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
