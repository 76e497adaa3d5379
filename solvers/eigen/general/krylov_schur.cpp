#include "tallskinny/solvers/eigen/general/krylov_schur_detail.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/eigen/general/whole.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Residuals of an inverse, relative to its eigenvalues, below which its vectors are near enough.
constexpr double purified = 1e-4;

}  // namespace

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
KrylovSchur<T>::KrylovSchur(const Context& ctx, const GeneralProblem<T>& problem,
                            const GeneralOptions& options, HostView<const T> initial,
                            const Checkpointing<T>& checkpointing)
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
      basis_(ctx, problem.inverse ? *problem.inverse : problem.a, most_ + width_, options.common.seed, false),
      initial_(initial) {
  accept_.convergence = options.common.convergence, accept_.rows = n_;
  steps_allowed_ = options.common.max_iterations > 0 ? options.common.max_iterations : 20000;
}

template <class T>
GeneralResult KrylovSchur<T>::run() {
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
  weigh();
  conclude();
  return std::move(out_);
}

template <class T>
index_t KrylovSchur<T>::most_columns() const {
  const index_t asked = options_.common.max_basis;
  const index_t chosen = std::max(2 * nev_ + 8 * width_, nev_ + 20 * width_), least = nev_ + 1 + 4 * width_;
  if (asked > 0)
    expects(asked >= std::min(least, n_), "--max-basis must be at least nev + 1 + 4 blocks (--block-size)");
  return std::min(n_, asked > 0 ? asked : chosen);
}

template <class T>
double KrylovSchur<T>::norm_of_a() {
  KrylovBasis<T> basis(ctx_, problem_.a, 24, options_.common.seed ^ 0x9e3779b97f4a7c15u, false);
  basis.start(HostView<const T>{}, 2);
  while (basis.can_expand()) basis.expand();
  extra_applications_ += basis.applications();
  return basis.norm();
}

template <class T>
std::vector<double> KrylovSchur<T>::identity() const {
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

template <class T>
void KrylovSchur<T>::exchange(StateArchive<T>& archive) {
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

template <class T>
typename KrylovSchur<T>::Stage KrylovSchur<T>::next_step() {
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

template <class T>
double KrylovSchur<T>::key(Complex ritz) const {
  return problem_.inverse ? -std::abs(ritz) : key_of(options_.part, ritz);
}

template <class T>
double KrylovSchur<T>::ratio(Complex ritz, double residual) const {
  if (!problem_.inverse || residual == 0) return accept_.ratio(std::abs(ritz), residual);
  const double nu = std::abs(ritz);
  return nu > 0 ? std::max(residual / nu / nu / accept_.bound(std::abs(eigenvalue(ritz))),
                           residual / nu / purified)
                : std::numeric_limits<double>::infinity();
}

template <class T>
void KrylovSchur<T>::decompose() {
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

template <class T>
index_t KrylovSchur<T>::whole_units(index_t k) const {
  index_t end = 0;
  for (const index_t size : schur_.units) {
    if (end >= k) break;
    end += size;
  }
  return end;
}

template <class T>
void KrylovSchur<T>::look(bool verifying) {
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

template <class T>
typename KrylovSchur<T>::Stage KrylovSchur<T>::search() {
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

template <class T>
void KrylovSchur<T>::begin_verification() {
  cycle_.running = true, cycle_.wanted = wanted_;
  cycle_.last = key(schur_.value(wanted_ - 1));
  cycle_.slack = std::max(100 * unit_roundoff * basis_.norm(), residuals_[at(wanted_ - 1)]);
  keep(wanted_);
  cycle_.saved = basis_.save();
  basis_.lock_and_refresh(block_);
  ++out_.verification_rounds;
}

template <class T>
typename KrylovSchur<T>::Stage KrylovSchur<T>::verify() {
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

template <class T>
void KrylovSchur<T>::iterate() {
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
      if (is_inside()) {
        out_.stop = StopReason::not_verified;
        return;
      }
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

template <class T>
GeneralResult solve_general(const Context& ctx, const GeneralProblem<T>& problem,
                            const GeneralOptions& options, HostView<const T> initial,
                            const Checkpointing<T>& checkpointing) {
  expects_one_rank(ctx, "solve_general");
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
  const auto& common = options.common;
  const bool may_take_over = common.verify && common.max_iterations == 0 && n <= whole_takeover_rows<T>;
  GeneralProblem<T> asked = problem;  // whose adjoint is made once
  if (problem.adjoint)
    asked.adjoint = [&problem, made = std::make_shared<std::optional<GeneralProblem<T>>>()] {
      if (!*made) *made = problem.adjoint();
      return **made;
    };
  const auto normal = [&] {
    return asked.adjoint && is_normal<T>(own, asked.a, asked.adjoint().a, common.seed);
  };
  const bool small = common.max_basis == 0 && (n <= whole_rows || (may_take_over && !normal()));
  GeneralResult result;
  if (common.method == Method::dense || small) {
    solve_whole<T>(own, asked, options, result);
    return result;
  }
  KrylovSchur<T> search(own, asked, options, initial, checkpointing);
  if (may_take_over) search.leave_to_dense();
  result = search.run();
  if (!result.verified && result.stop != StopReason::interrupted && may_take_over) {
    solve_whole<T>(own, asked, options, result);
    result.reason += "; the search did not settle it, and the dense solver took over";
  } else if (result.stop == StopReason::not_verified && search.hints().cols() > 0) {
    // A search from the invariant subspace that holds what is missing.
    GeneralResult again = KrylovSchur<T>(own, asked, options, search.hints().cview(), {}).run();
    again.operator_applications += result.operator_applications;
    again.verification_applications += result.operator_applications;
    again.iterations += result.iterations;
    result = std::move(again);
  }
  return result;
}

#define TS_INSTANTIATE(T)                                                                                  \
  template class KrylovSchur<T>;                                                                           \
  template GeneralResult solve_general<T>(const Context&, const GeneralProblem<T>&, const GeneralOptions&, \
                                          HostView<const T>, const Checkpointing<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
