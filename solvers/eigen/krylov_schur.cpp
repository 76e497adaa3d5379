#include "tallskinny/solvers/eigen/krylov_schur.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tallskinny/gemm/backend/profile.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/eigen/schur.hpp"
#include "tallskinny/solvers/eigen/state.hpp"
#include "tallskinny/solvers/eigen/transform.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Up to this many rows the basis may hold the whole space: then everything is computed.
constexpr index_t whole_rows = 200;
/// Residuals of an inverse, relative to its eigenvalues, below which its vectors are near enough.
constexpr double purified = 1e-4;

/// Rises from the first wanted to the last.
double key_of(Part part, Complex z) {
  switch (part) {
    case Part::LM:
      return -std::abs(z);
    case Part::LR:
      return -z.real();
    case Part::SR:
      return z.real();
    case Part::LI:
      return -std::abs(z.imag());
    case Part::SI:
      return std::abs(z.imag());
  }
  return 0;
}

template <class T>
class KrylovSchur {
 public:
  KrylovSchur(const Context& ctx, const GeneralProblem<T>& problem, const GeneralOptions& options,
              HostView<const T> initial, const Checkpointing<T>& checkpointing)
      : ctx_(ctx),
        problem_(problem),
        options_(options),
        checkpointing_(checkpointing),
        n_(problem.a.rows()),
        nev_(std::min(options.common.nev, n_)),
        block_(std::clamp<index_t>(options.common.block_size > 0 ? options.common.block_size : 4, 1,
                                   std::max<index_t>(n_, 1))),
        width_(std::max(block_, std::min(initial.cols(), n_))),
        most_(most_columns()),
        basis_(ctx, problem.inverse ? *problem.inverse : problem.a, most_ + width_, options.common.seed,
               false),
        initial_(initial) {
    accept_.convergence = options.common.convergence, accept_.rows = n_;
    steps_allowed_ = options.common.max_iterations > 0 ? options.common.max_iterations : 20000;
  }

  GeneralResult run() {
    out_.block_size = block_, out_.max_basis = most_;
    if (checkpointing_.resume != nullptr) {
      StateArchive<T> archive(*checkpointing_.resume);
      exchange(archive);
    } else {
      if (problem_.inverse) accept_.norm = norm_of_a();
      basis_.start(initial_, block_);
    }
    for (; attempt_ < 4; ++attempt_) {
      accept_.tol = options_.common.tol * std::pow(0.1, attempt_);
      iterate();
      finish();
      if (out_.stop != StopReason::converged || out_.converged_count == wanted_) break;
      out_.stop = StopReason::rounding;  // estimates were met but the residuals from A are not
    }
    conclude();
    return std::move(out_);
  }

 private:
  enum class Stage { reached, entered, budget, interrupted };

  [[nodiscard]] index_t most_columns() const {
    if (n_ <= whole_rows) return n_;
    const index_t chosen = std::max(2 * nev_ + 8 * width_, nev_ + 20 * width_), least = nev_ + 1 + 4 * width_;
    const index_t asked = options_.common.max_basis;
    if (asked > 0)
      expects(asked >= std::min(least, n_), "--max-basis must be at least nev + 1 + 4 blocks (--block-size)");
    return std::min(n_, asked > 0 ? asked : chosen);
  }

  /// From below: the largest column of A V.
  [[nodiscard]] double norm_of_a() {
    KrylovBasis<T> basis(ctx_, problem_.a, 24, options_.common.seed ^ 0x9e3779b97f4a7c15u, false);
    basis.start(HostView<const T>{}, 2);
    while (basis.can_expand()) basis.expand();
    extra_applications_ += basis.applications();
    return basis.norm();
  }

  /// What must agree for a stored state to be this run's.
  [[nodiscard]] std::vector<double> identity() const {
    constexpr std::uint64_t low_half = 0xffffffffu;
    constexpr double format = 1;
    const auto& o = options_.common;
    const Complex shift = problem_.inverse ? Complex(problem_.shift) : Complex(0);
    return {format,
            is_complex<T> ? 1.0 : 0.0,
            static_cast<double>(n_),
            static_cast<double>(nev_),
            static_cast<double>(block_),
            static_cast<double>(most_),
            static_cast<double>(initial_.cols()),
            static_cast<double>(options_.part),
            static_cast<double>(o.convergence),
            o.tol,
            static_cast<double>(o.seed >> 32),
            static_cast<double>(o.seed & low_half),
            problem_.inverse ? 1.0 : 0.0,
            shift.real(),
            shift.imag()};
  }

  void exchange(StateArchive<T>& archive) {
    auto stored = identity();
    archive(stored);
    if (stored != identity())
      throw Error(Errc::invalid_argument,
                  "the stored state belongs to a run on another matrix or with other options");
    archive(attempt_, accept_.norm, wanted_, found_applications_, extra_applications_, out_.restarts,
            out_.verification_rounds, out_.history);
    archive(cycle_.running, cycle_.last, cycle_.slack, cycle_.wanted);
    basis_.exchange(archive, cycle_.saved);
    basis_.exchange(archive);
  }

  /// Between two block steps: may another follow? The state is stored when it is time to, or when the run is
  /// about to end early; what is still tried then is no part of it.
  [[nodiscard]] Stage next_step() {
    Stage stage = Stage::reached;
    if (options_.common.stop && options_.common.stop())
      stage = Stage::interrupted;
    else if (basis_.steps() >= steps_allowed_)
      stage = Stage::budget;
    const bool ends = stage != Stage::reached;
    if (checkpointing_.write && !ended_ && (ends || (checkpointing_.due && checkpointing_.due()))) {
      SavedState<T> state;
      StateArchive<T> archive(state);
      exchange(archive);
      checkpointing_.write(state);
    }
    ended_ = ended_ || ends;
    return stage;
  }

  /// Rises from the first wanted Ritz value to the last.
  [[nodiscard]] double key(Complex ritz) const {
    return problem_.inverse ? -std::abs(ritz) : key_of(options_.part, ritz);
  }
  /// The eigenvalue of A that a Ritz value stands for.
  [[nodiscard]] Complex eigenvalue(Complex ritz) const {
    return problem_.inverse ? Complex(problem_.shift) + 1.0 / ritz : ritz;
  }
  /// The residual of a Ritz pair as a multiple of its bound.
  [[nodiscard]] double ratio(Complex ritz, double residual) const {
    if (!problem_.inverse || residual == 0) return accept_.ratio(std::abs(ritz), residual);
    const double nu = std::abs(ritz);
    return nu > 0 ? std::max(residual / nu / nu / accept_.bound(std::abs(eigenvalue(ritz))),
                             residual / nu / purified)
                  : std::numeric_limits<double>::infinity();
  }

  /// The Schur form of what V holds, wanted first, with the residuals of its eigenvectors.
  void decompose() {
    const Profile::Piece piece(ctx_, "projected problems", {}, std::nullopt);
    const auto& h = basis_.projected();
    if (!ortho::all_finite(h.cview()))
      throw Error(Errc::bad_input, "the operator gave NaN or Inf for a finite block");
    schur_ = schur_of<T>(h.cview());
    sort_schur(schur_, [this](Complex z) { return key(z); });
    wanted_ = whole_units(std::min(nev_, schur_.size()));
    for (index_t i = 0; i < schur_.size(); ++i) basis_.note_norm(std::abs(schur_.value(i)));
    if (!problem_.inverse) accept_.norm = basis_.norm();
    const index_t looked_at = whole_units(std::min(wanted_ + 1, schur_.size()));
    pairs_ = eigenvectors_of(schur_, looked_at);
    residuals_.assign(at(looked_at), 0.0);
    const auto& b = basis_.coupling();
    for (index_t j = 0; j < looked_at; ++j) {
      double sum = 0;
      for (index_t i = 0; i < b.rows(); ++i) {
        Complex c = 0;
        for (index_t l = 0; l < b.cols(); ++l) c += b(i, l) * pairs_.vectors(l, j);
        sum += std::norm(c);
      }
      residuals_[at(j)] = std::sqrt(sum);
    }
  }

  /// k, or k + 1 where k would separate a pair.
  [[nodiscard]] index_t whole_units(index_t k) const {
    index_t end = 0;
    for (const index_t size : schur_.units) {
      if (end >= k) break;
      end += size;
    }
    return end;
  }

  void look(bool verifying) {
    HistoryEntry entry{basis_.steps(), basis_.applications(), 0, 0, verifying};
    bool prefix = true;
    for (index_t j = 0; j < wanted_ && !verifying; ++j) {
      entry.ratios.push_back(ratio(schur_.value(j), residuals_[at(j)]));
      entry.worst = std::max(entry.worst, entry.ratios.back());
      prefix = prefix && entry.ratios.back() <= 1;
      entry.converged += prefix ? 1 : 0;
    }
    if (verifying) entry.converged = nev_;
    out_.history.push_back(entry);
    if (!options_.common.progress) return;
    Progress p;
    p.phase = verifying ? "verify" : "search";
    p.iteration = entry.iteration, p.max_iterations = steps_allowed_;
    p.operator_applications = entry.operator_applications, p.converged = entry.converged, p.wanted = nev_;
    p.worst = entry.worst, p.fraction = static_cast<double>(entry.converged) / static_cast<double>(nev_);
    options_.common.progress(p);
  }

  void keep(index_t k) {
    const auto s = leading_basis<T>(schur_, k);
    basis_.compress(s.cview());
  }

  Stage search() {
    for (;;) {
      const Stage stage = next_step();
      const bool last = stage != Stage::reached || basis_.exhausted();
      if (!last && basis_.can_expand()) {
        basis_.expand();
        continue;
      }
      decompose();
      look(false);
      if (basis_.exhausted() || (schur_.size() >= nev_ && out_.history.back().converged >= wanted_))
        return Stage::reached;
      if (last) return stage;
      const index_t extra = (schur_.size() - wanted_) * 2 / 5;
      keep(whole_units(std::min(wanted_ + extra, schur_.size() - 2 * basis_.width())));
      ++out_.restarts;
    }
  }

  /// Locks the wanted; what follows starts from a fresh random block in their complement.
  void begin_verification() {
    cycle_.running = true, cycle_.wanted = wanted_;
    cycle_.last = key(schur_.value(wanted_ - 1));
    cycle_.slack = std::max(100 * unit_roundoff * basis_.norm(), residuals_[at(wanted_ - 1)]);
    keep(wanted_);
    cycle_.saved = basis_.save();
    basis_.lock_and_refresh(block_);
    ++out_.verification_rounds;
  }

  Stage verify() {
    // All columns of the random block miss what leads the complement with a probability of about this to
    // their number.
    const double trust = std::pow(1e-10, 1 / static_cast<double>(block_));
    Stage stage = Stage::reached;
    Matrix<T> missing(n_, 0);
    while (!basis_.exhausted()) {
      stage = next_step();
      if (stage != Stage::reached) break;
      if (!basis_.can_expand()) {
        decompose();
        keep(whole_units(schur_.size() / 2));
        ++out_.restarts;
      }
      basis_.expand();
      if (basis_.can_expand() && !basis_.exhausted() && basis_.size() % (2 * block_) != 0) continue;
      decompose();
      look(true);
      const double ahead = cycle_.last - key(schur_.value(0));  // positive: comes before the last wanted
      const bool settled = ratio(schur_.value(0), residuals_[0]) <= 1;
      if (ahead > cycle_.slack && (settled || residuals_[0] <= trust * ahead / pairs_.conditions[0])) {
        stage = Stage::entered;
        const index_t take = whole_units(1);
        const auto s = leading_basis<T>(schur_, take);
        missing = basis_.combine(s.cview()).to_host(ctx_);
        break;
      }
      if (settled || (ahead < 0 && residuals_[0] <= trust * -ahead / pairs_.conditions[0])) break;
    }
    if (schur_.size() > 0 && stage == Stage::reached && basis_.size() > 0)
      out_.next_value = eigenvalue(schur_.value(0));
    const auto saved = std::move(cycle_.saved);
    const index_t wanted = cycle_.wanted;
    cycle_ = {};
    basis_.unlock(saved);
    if (stage == Stage::entered) {
      // The new direction joins F while there is room for restarts; otherwise F, which is as small as the
      // tolerance, makes place.
      if (basis_.size() + 4 * (basis_.width() + missing.cols()) > most_) {
        typename KrylovBasis<T>::Saved bare{Matrix<T>(n_, 0), Matrix<T>::copy_of(saved.h.cview()),
                                            Matrix<T>(0, saved.h.cols()), block_};
        basis_.lock_and_refresh(0);
        basis_.unlock(bare);
      }
      basis_.widen(missing.cview());
    }
    decompose();
    wanted_ = stage == Stage::entered ? wanted_ : wanted;
    return stage;
  }

  void iterate() {
    for (;;) {
      const bool resumed = cycle_.running;  // taken up in the middle of a verification
      Stage stage = resumed ? Stage::reached : search();
      if (stage == Stage::reached) {
        out_.stop = StopReason::converged;
        if (!resumed) found_applications_ = basis_.applications();
        if (!resumed && basis_.exhausted()) {
          out_.verification = Verification::all_computed;
          return;
        }
        if (!options_.common.verify) return;
        if (!resumed) begin_verification();
        stage = verify();
        if (stage == Stage::entered) continue;
        if (stage == Stage::reached) {
          out_.verification = Verification::random_block;
          return;
        }
        out_.stop = stage == Stage::interrupted ? StopReason::interrupted : StopReason::not_verified;
        return;
      }
      out_.stop = stage == Stage::interrupted ? StopReason::interrupted : StopReason::max_iterations;
      return;
    }
  }

  /// X = V Y, through an inverse X = V Y + F B Y / nu (a step of inverse iteration), and its residuals, from
  /// A.
  void finish() {
    const index_t k = std::min(wanted_, schur_.size());
    out_.values.clear(), out_.residual_norms.assign(at(k), 0.0), out_.converged_pairs.assign(at(k), false);
    out_.conditions.assign(pairs_.conditions.begin(), pairs_.conditions.begin() + k);
    out_.vectors = Matrix<Complex>(n_, k);
    // Parts of the coefficients in the arithmetic of the operator: [Re Y, Im Y], or Y itself.
    const index_t m = schur_.size(), f = basis_.width(), parts = is_complex<T> ? k : 2 * k;
    Matrix<T> y(m, parts), c(f, parts), ax(n_, parts);
    const auto put = [&](Matrix<T>& to, index_t i, index_t j, Complex z) {
      if constexpr (is_complex<T>)
        to(i, j) = z;
      else
        to(i, j) = z.real(), to(i, k + j) = z.imag();
    };
    for (index_t j = 0; j < k; ++j) {
      for (index_t i = 0; i < m; ++i) put(y, i, j, pairs_.vectors(i, j));
      for (index_t i = 0; i < f; ++i) {
        Complex sum = 0;
        for (index_t l = 0; l < m; ++l) sum += basis_.coupling()(i, l) * pairs_.vectors(l, j);
        put(c, i, j, problem_.inverse ? sum / schur_.value(j) : 0);
      }
    }
    const auto x =
        (problem_.inverse ? basis_.combine(y.cview(), c.cview()) : basis_.combine(y.cview())).to_host(ctx_);
    problem_.a.apply(ctx_, x.cview(), ax.view());
    extra_applications_ += parts;
    const auto entry = [&](const Matrix<T>& z, index_t i, index_t j) -> Complex {
      if constexpr (is_complex<T>)
        return z(i, j);
      else
        return {z(i, j), z(i, k + j)};
    };
    out_.converged_count = 0;
    for (index_t j = 0; j < k; ++j) {
      double squares = 0, off = 0;
      for (index_t i = 0; i < n_; ++i) squares += std::norm(entry(x, i, j));
      const double length = std::sqrt(squares);
      const Complex theta = eigenvalue(schur_.value(j));
      for (index_t i = 0; i < n_; ++i) {
        out_.vectors(i, j) = entry(x, i, j) / length;
        off += std::norm((entry(ax, i, j) - theta * entry(x, i, j)) / length);
      }
      out_.values.push_back(theta);
      out_.residual_norms[at(j)] = std::sqrt(off);
      Acceptance asked = accept_;
      asked.tol = options_.common.tol;
      out_.converged_pairs[at(j)] = out_.residual_norms[at(j)] <= asked.bound(std::abs(theta));
      out_.converged_count += out_.converged_pairs[at(j)] ? 1 : 0;
    }
  }

  void conclude() {
    auto& r = out_;
    r.iterations = basis_.steps(), r.norm = accept_.norm, r.seconds = basis_.seconds();
    r.operator_applications = basis_.applications() + extra_applications_;
    if (found_applications_ > 0) r.verification_applications = basis_.applications() - found_applications_;
    r.converged = r.converged_count == wanted_ && wanted_ >= nev_;
    if (r.converged && r.stop == StopReason::rounding) r.stop = StopReason::converged;
    if (!r.converged && r.stop == StopReason::converged) r.stop = StopReason::rounding;
    // An eigenvalue that rounding of A alone moves, to first order, by a thousandth of ||A|| is not known,
    // however small its residual.
    constexpr double hopeless = 1e-3 / unit_roundoff;
    const double worst =
        r.conditions.empty() ? 1 : *std::max_element(r.conditions.begin(), r.conditions.end());
    r.verified = r.converged && r.verification != Verification::none && worst < hopeless;
    const bool displaced = r.verified && !nearest_hold();
    if (displaced) r.verified = false, r.stop = StopReason::not_verified;
    r.reason = std::to_string(r.converged_count) + " of " + std::to_string(wanted_) + " pairs converged";
    if (wanted_ > nev_) r.reason += " (one more than asked for, so as not to separate a conjugate pair)";
    if (r.stop == StopReason::max_iterations)
      r.reason += " within the block steps allowed: raise --max-iter or --max-basis";
    if (r.stop == StopReason::interrupted) r.reason += "; stopped on request";
    if (r.stop == StopReason::rounding) r.reason += "; residuals do not get smaller: ask for a larger --tol";
    if (displaced)
      r.reason +=
          ", but the shift that had to be moved is too far from the target to tell whether they are the "
          "nearest "
          "to it: choose another --sigma";
    else if (r.stop == StopReason::not_verified)
      r.reason +=
          ", but the block steps allowed ended before a search for missing values did: raise --max-iter";
    if (r.verified && r.verification == Verification::all_computed)
      r.reason += "; complete, for the whole spectrum was computed";
    else if (r.verified)
      r.reason +=
          "; complete as far as a search from fresh random blocks can tell, which for a matrix far from "
          "normal is "
          "less than for a Hermitian one";
    if (!(worst < hopeless))
      r.reason +=
          "; the matrix is so far from normal that rounding decides where these eigenvalues are: none can be "
          "vouched for";
    else if (worst > 1e4)
      r.reason +=
          "; eigenvalues are ill-conditioned: errors may be larger than the residuals by the numbers given "
          "as conditions";
  }

  /// The nearest to a shift that was moved: are they the nearest to the target as well, but for the
  /// tolerance?
  [[nodiscard]] bool nearest_hold() const {
    if (!problem_.inverse || !problem_.target || out_.verification == Verification::all_computed) return true;
    const double moved = std::abs(problem_.shift - *problem_.target);
    if (moved == 0) return true;
    double farthest = 0, bound = accept_.rounding();
    for (const Complex v : out_.values) {
      farthest = std::max(farthest, std::abs(v - *problem_.target));
      bound = std::max(bound, accept_.bound(std::abs(v)));
    }
    if (2 * moved <= bound) return true;
    return farthest <= std::abs(out_.next_value - Complex(problem_.shift)) - moved + bound;
  }

  /// A cycle from a fresh random block, while it lasts.
  struct Cycle {
    bool running = false;
    double last = 0, slack = 0;  ///< the key of the last wanted, and how far it may be off
    index_t wanted = 0;
    typename KrylovBasis<T>::Saved saved;
  };

  const Context& ctx_;
  const GeneralProblem<T>& problem_;
  const GeneralOptions& options_;
  const Checkpointing<T>& checkpointing_;
  index_t n_, nev_, block_, width_, most_;
  KrylovBasis<T> basis_;
  HostView<const T> initial_;
  Acceptance accept_;
  Schur schur_;
  SchurVectors pairs_;
  std::vector<double> residuals_;
  Cycle cycle_;
  bool ended_ = false;  ///< no block step may follow
  int attempt_ = 0;     ///< each asks for residuals ten times smaller than the one before
  index_t wanted_ = 0, steps_allowed_ = 0, found_applications_ = 0, extra_applications_ = 0;
  GeneralResult out_;
};

}  // namespace

template <class T>
GeneralResult solve_general(const Context& ctx, const GeneralProblem<T>& problem,
                            const GeneralOptions& options, HostView<const T> initial,
                            const Checkpointing<T>& checkpointing) {
  const index_t n = problem.a.rows();
  expects(options.common.nev >= 1, "--nev must be at least 1");
  expects(options.common.convergence != Convergence::root, "convergence `root` belongs to singular values");
  expects(initial.cols() == 0 || initial.rows() == n,
          "the block of initial vectors has another number of rows than the matrix");
  expects(problem.target.has_value() == problem.inverse.has_value(),
          "eigenvalues near a target are sought through a factorisation: the problem needs `inverse`");
  if (n == 0) {
    GeneralResult none;
    none.converged = none.verified = true, none.verification = Verification::all_computed;
    none.stop = StopReason::converged, none.reason = "the matrix has no rows, so no eigenvalues";
    return none;
  }
  Context own = ctx;
  if (n < threaded_rows) own.threads = 1;
  return KrylovSchur<T>(own, problem, options, initial, checkpointing).run();
}

#define TS_INSTANTIATE(T)                                                                                  \
  template GeneralResult solve_general<T>(const Context&, const GeneralProblem<T>&, const GeneralOptions&, \
                                          HostView<const T>, const Checkpointing<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
