// The state of block Lanczos between two block steps, to be stored and taken up again.
#include "tallskinny/solvers/eigen/hermitian/lanczos_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

/// What must agree for a stored state to be this run's.
template <class T>
std::vector<double> identity_of(const Lanczos<T>& run) {
  constexpr std::uint64_t low_half = 0xffffffffu;
  constexpr int format = 3;
  const EigenOptions& o = run.options;
  const bool inverts = run.problem.inverse.has_value();
  return as_numbers(format, is_complex<T>, run.krylov.all_rows(), run.plan.nev, run.plan.block_size, run.plan.max_basis,
                    run.initial.cols(), o.which, o.convergence, o.method, o.tol, o.seed >> 32, o.seed & low_half,
                    inverts, inverts ? run.problem.shift : 0.0);
}

}  // namespace

template <class T>
void exchange(Lanczos<T>& run, StateArchive<T>& archive) {
  expect_same_run(archive, identity_of(run));
  auto& t = run.accept.transform;
  archive(t.kind, t.sigma, t.centre, t.half_width, t.degree);
  if (archive.loading() && !run.problem.inverse && run.accept.transformed()) install(run, SpectralTransform(t));
  auto& c = run.course;
  archive(run.accept.norm, run.accept.largest, run.pairs.next_low, run.pairs.next_high, c.next_look, c.search_steps,
          c.search_applications, c.refine_until, c.norm_applications, c.started, c.transforms, c.steps_before,
          c.tol_factor);
  auto& cycle = run.cycle;
  archive(cycle.running, cycle.limits.low, cycle.limits.high, cycle.slack, cycle.hidden);
  run.krylov.exchange(archive, cycle.saved);
  archive(run.record.restarts, run.record.verification_rounds, run.record.history);
  run.krylov.exchange(archive);
}

template <class T>
Stage may_step(Lanczos<T>& run) {
  const KrylovWork& done = run.krylov.work();
  const bool spent = done.steps >= run.plan.max_iterations ||
                     (run.plan.max_applications > 0 && done.applications >= run.plan.max_applications);
  return next_step(run.ctx, run.options, spent, run.checkpointing, run.course.ended, [&] {
    SavedState<T> state;
    StateArchive<T> archive(state);
    exchange(run, archive);
    run.checkpointing.write(state);
  });
}

#define TS_INSTANTIATE(T) template void exchange<T>(Lanczos<T>&, StateArchive<T>&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, may_step)

}  // namespace ts::inline v0::solvers
