// Block Krylov-Schur: search and verification. Sources: Stewart 2002, "A Krylov-Schur algorithm for large
// eigenproblems"; Zhou and Saad 2008 (blocks).
#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur_detail.hpp"
#include "tallskinny/solvers/eigen/values/raised_basis.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Residuals of an inverse, relative to its eigenvalues, below which its vectors are near enough.
constexpr double purified = 1e-4;

index_t most_columns(const EigenOptions& options, index_t n, index_t nev, index_t width) {
  const index_t chosen = std::max(2 * nev + 8 * width, nev + 20 * width), least = nev + 1 + 4 * width;
  const index_t asked = options.max_basis;
  return std::min(n, asked > 0 ? std::max(asked, least) : chosen);
}

}  // namespace

double key_of(GeneralWhich part, Complex z) {
  switch (part) {
    case GeneralWhich::LM: return -std::abs(z);
    case GeneralWhich::LR: return -z.real();
    case GeneralWhich::SR: return z.real();
    case GeneralWhich::LI: return -std::abs(z.imag());
    case GeneralWhich::SI: return std::abs(z.imag());
  }
  return 0;
}

template <class T>
KrylovSchur<T>::KrylovSchur(const Context& context, const GeneralProblem<T>& to_solve, const GeneralOptions& as_asked,
                            HostView<const T> start, const Checkpointing<T>& checkpoints)
    : ctx(context),
      problem(to_solve),
      options(as_asked),
      initial(start),
      checkpointing(checkpoints),
      n(problem.a.rows()),
      nev(std::min(options.common.nev, n)),
      block(std::clamp<index_t>(options.common.block_size > 0 ? options.common.block_size : general_block, 1,
                                std::max<index_t>(n, 1))),
      width(std::max(block, std::min(initial.cols(), n))),
      most(most_columns(options.common, n, nev, width)),
      steps_allowed(options.common.max_iterations > 0 ? options.common.max_iterations : 20000),
      krylov(ctx, problem.inverse ? *problem.inverse : problem.a, most + width, options.common.seed, false) {
  accept.convergence = options.common.convergence, accept.rows = n;
  tell_raised_basis(ctx, options.common.max_basis, most);
}

namespace {

/// What must agree for a stored state to be this run's.
template <class T>
std::vector<double> identity_of(const KrylovSchur<T>& run) {
  constexpr std::uint64_t low_half = 0xffffffffu;
  constexpr int format = 1;
  const EigenOptions& o = run.options.common;
  const Complex shift = run.problem.inverse ? Complex(run.problem.shift) : Complex(0);
  return as_numbers(format, is_complex<T>, run.n, run.nev, run.block, run.most, run.initial.cols(), run.options.part,
                    o.convergence, o.tol, o.seed >> 32, o.seed & low_half, run.problem.inverse.has_value(),
                    shift.real(), shift.imag());
}

template <class T>
Stage may_step(KrylovSchur<T>& run) {
  const bool spent = run.krylov.work().steps >= run.steps_allowed;
  return next_step(run.ctx, run.options.common, spent, run.checkpointing, run.ended, [&] {
    SavedState<T> state;
    StateArchive<T> archive(state);
    exchange(run, archive);
    run.checkpointing.write(state);
  });
}

/// Rises from the first wanted Ritz value to the last.
template <class T>
double key(const KrylovSchur<T>& run, Complex ritz) {
  return run.problem.inverse ? -std::abs(ritz) : key_of(run.options.part, ritz);
}

/// The residual of Ritz pair j as a multiple of its bound.
template <class T>
double ratio(const KrylovSchur<T>& run, index_t j) {
  const Complex ritz = run.schur.value(j);
  const double residual = run.residuals[at(j)], nu = std::abs(ritz);
  if (!run.problem.inverse || residual == 0) return run.accept.ratio(nu, residual);
  return nu > 0
             ? std::max(residual / nu / nu / run.accept.bound(std::abs(run.eigenvalue(ritz))), residual / nu / purified)
             : inf;
}

/// k, or k + 1 where k would separate a pair.
template <class T>
index_t whole_units(const KrylovSchur<T>& run, index_t k) {
  index_t end = 0;
  for (const index_t size : run.schur.units) {
    if (end >= k) break;
    end += size;
  }
  return end;
}

/// H = U T U^H, wanted first, and for the first eigenvectors y of H the residuals ||A V y - theta V y|| =
/// ||B y||.
template <class T>
void decompose(KrylovSchur<T>& run) {
  const Profile::Piece piece(run.ctx, "projected problems", {}, std::nullopt);
  const auto &h = run.krylov.h(), &b = run.krylov.b();
  if (!ortho::all_finite(h.cview())) throw Error(Errc::bad_input, "the operator gave NaN or Inf for a finite block");
  run.schur = schur_of<T>(h.cview());
  sort_schur(run.schur, [&run](Complex z) { return key(run, z); });
  run.wanted = whole_units(run, std::min(run.nev, run.schur.size()));
  for (index_t i = 0; i < run.schur.size(); ++i) run.krylov.note_norm(std::abs(run.schur.value(i)));
  if (!run.problem.inverse) run.accept.norm = run.krylov.norm();
  const index_t looked_at = whole_units(run, std::min(run.wanted + 1, run.schur.size()));
  run.pairs = eigenvectors_of(run.schur, looked_at);
  run.residuals.assign(at(looked_at), 0.0);
  for (index_t j = 0; j < looked_at; ++j) {
    double sum = 0;
    for (index_t i = 0; i < b.rows(); ++i) {
      Complex c = 0;
      for (index_t l = 0; l < b.cols(); ++l) c += b(i, l) * run.pairs.vectors(l, j);
      sum += std::norm(c);
    }
    run.residuals[at(j)] = std::sqrt(sum);
  }
}

/// Writes a look at the Ritz values into the history; how many of the wanted are converged.
template <class T>
index_t look(KrylovSchur<T>& run, bool verifying) {
  std::vector<double> ratios;
  for (index_t j = 0; j < run.wanted && !verifying; ++j) ratios.push_back(ratio(run, j));
  return note_look(run.krylov.work(), std::move(ratios), verifying, run.options.common, run.steps_allowed, run.nev,
                   run.out.history);
}

/// V <- V S with S an orthonormal basis of the first k Schur vectors.
template <class T>
void keep(KrylovSchur<T>& run, index_t k) {
  compress<T>(run.krylov, leading_basis<T>(run.schur, k).cview());
}

template <class T>
Stage search(KrylovSchur<T>& run) {
  for (;;) {
    const Stage stage = may_step(run);
    const bool last = stage != Stage::reached || run.krylov.exhausted();
    if (!last && run.krylov.can_expand()) {
      run.krylov.expand();  // A V = V H + F B, a block wider
      continue;
    }
    decompose(run);
    const index_t converged = look(run, false), m = run.schur.size();
    if (run.krylov.exhausted() || (m >= run.nev && converged >= run.wanted)) return Stage::reached;
    if (last) return stage;
    const index_t kept = run.wanted + (m - run.wanted) * 2 / 5;
    keep(run, whole_units(run, std::min(kept, m - 2 * run.krylov.width())));
    ++run.out.restarts;
  }
}

/// Locks the wanted; what follows starts from a fresh random block in their complement.
template <class T>
void begin_verification(KrylovSchur<T>& run) {
  const index_t last = run.wanted - 1;
  run.cycle.running = true, run.cycle.wanted = run.wanted;
  run.cycle.last = key(run, run.schur.value(last));
  run.cycle.slack = std::max(100 * unit_roundoff * run.krylov.norm(), run.residuals[at(last)]);
  keep(run, run.wanted);
  run.cycle.saved = run.krylov.lock(run.block);
  ++run.out.verification_rounds;
}

/// Steps of the cycle, until it shows that nothing comes before the last wanted, or that something does.
/// @param missing an invariant subspace with what does.
template <class T>
Stage run_cycle(KrylovSchur<T>& run, Matrix<T>& missing) {
  KrylovFactorisation<T>& krylov = run.krylov;
  const double trust = trust_factor(run.block);
  while (!krylov.exhausted()) {
    const Stage stage = may_step(run);
    if (stage != Stage::reached) return stage;
    if (!krylov.can_expand()) {
      decompose(run);
      keep(run, whole_units(run, run.schur.size() / 2));
      ++run.out.restarts;
    }
    krylov.expand();
    if (krylov.can_expand() && !krylov.exhausted() && krylov.size() % (2 * run.block) != 0) continue;
    decompose(run);
    look(run, true);
    const double ahead = run.cycle.last - key(run, run.schur.value(0));  // positive: before the last wanted
    const double r = run.residuals[0], condition = run.pairs.conditions[0];
    const bool settled = ratio(run, 0) <= 1;
    if (ahead > run.cycle.slack && (settled || r <= trust * ahead / condition)) {
      const auto s = leading_basis<T>(run.schur, whole_units(run, 1));
      missing = combine<T>(krylov, s.cview()).to_host(run.ctx);
      return Stage::entered;
    }
    if (settled || (ahead < 0 && r <= trust * -ahead / condition)) break;
  }
  return Stage::reached;
}

template <class T>
Stage verify(KrylovSchur<T>& run) {
  KrylovFactorisation<T>& krylov = run.krylov;
  Matrix<T> missing(run.n, 0);
  const Stage stage = run_cycle(run, missing);
  if (run.schur.size() > 0 && stage == Stage::reached && krylov.size() > 0)
    run.out.next_value = run.eigenvalue(run.schur.value(0));
  krylov.unlock(run.cycle.saved);
  const index_t wanted = run.cycle.wanted;
  run.cycle = {};
  if (stage == Stage::entered) {
    // The new direction joins F while there is place for restarts; otherwise F, which is as small as the
    // tolerance, makes place.
    if (krylov.size() + 4 * (krylov.width() + missing.cols()) > run.most) krylov.drop_residual(run.block);
    krylov.widen(missing.cview());
  }
  decompose(run);
  if (stage != Stage::entered) run.wanted = wanted;
  return stage;
}

}  // namespace

template <class T>
void exchange(KrylovSchur<T>& run, StateArchive<T>& archive) {
  expect_same_run(archive, identity_of(run));
  auto& out = run.out;
  archive(run.attempt, run.accept.norm, run.wanted, run.found_applications, run.extra_applications, out.restarts,
          out.verification_rounds, out.history);
  archive(run.cycle.running, run.cycle.last, run.cycle.slack, run.cycle.wanted);
  run.krylov.exchange(archive, run.cycle.saved);
  run.krylov.exchange(archive);
}

template <class T>
void iterate(KrylovSchur<T>& run) {
  auto& out = run.out;
  for (;;) {
    if (!run.cycle.running) {  // otherwise taken up in the middle of a verification
      const Stage stage = search(run);
      out.stop = stop_of(stage, false);
      if (stage != Stage::reached) return;
      run.found_applications = run.krylov.work().applications;
      if (run.krylov.exhausted()) out.verification = Verification::all_computed;
      if (run.krylov.exhausted() || !run.options.common.verify) return;
      if (run.is_inside()) {
        out.stop = StopReason::not_verified;
        return;
      }
      begin_verification(run);
    }
    const Stage stage = verify(run);
    out.stop = stop_of(stage, true);
    if (stage == Stage::reached) out.verification = Verification::random_block;
    if (stage != Stage::entered) return;
  }
}

#define TS_INSTANTIATE(T) template void exchange<T>(KrylovSchur<T>&, StateArchive<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_SOLVER_TYPE(TS_STRUCT, KrylovSchur)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, iterate)

}  // namespace ts::inline v0::solvers
