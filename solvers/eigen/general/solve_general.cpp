#include <algorithm>
#include <memory>
#include <utility>

#include "tallskinny/solvers/eigen/general/krylov_schur_detail.hpp"
#include "tallskinny/solvers/eigen/general/similar.hpp"
#include "tallskinny/solvers/eigen/general/whole.hpp"
#include "tallskinny/solvers/one_rank.hpp"

namespace ts::inline v0::solvers {

template <class T>
GeneralResult solve_general(const Context& ctx, const GeneralProblem<T>& problem, const GeneralOptions& options,
                            HostView<const T> initial, const Checkpointing<T>& checkpointing) {
  const UseHostMemory use(ctx.host_memory);
  expects_one_rank(ctx, "solve_general");
  const index_t n = problem.a.rows();
  expects(options.common.nev >= 1, "`nev` must be at least 1");
  expects(options.common.convergence != Convergence::root, "convergence `root` belongs to singular values");
  expects(initial.cols() == 0 || initial.rows() == n,
          "the block of initial vectors has another number of rows than the matrix");
  const auto& common = options.common;
  const bool take_over = may_take_over<T>(n, common), no_inverse = problem.target && !problem.inverse;
  expects(!problem.inverse || problem.target, "`inverse` belongs to a `target`");
  const bool real_part = problem.target || (options.part != GeneralWhich::LI && options.part != GeneralWhich::SI);
  const bool by_similar = problem.similar && real_part && common.method == Method::automatic && n > 0;
  expects(!no_inverse || by_similar || take_over || is_whole(n, common),
          "eigenvalues near a target are sought through a factorisation: the problem needs `inverse`");
  if (n == 0) {
    GeneralResult none;
    none.converged = none.verified = true, none.verification = Verification::all_computed;
    none.stop = StopReason::converged, none.reason = "the matrix has no rows, so no eigenvalues";
    return none;
  }
  if (by_similar) {
    GeneralResult found = solve_similar<T>(ctx, problem, options, checkpointing);
    const bool ends = found.verified || !common.verify || found.stop == StopReason::interrupted;
    if (ends || (no_inverse && !take_over && !is_whole(n, common))) return found;
  }
  Context own = ctx;
  if (n < threaded_rows) own.threads = 1;
  GeneralProblem<T> asked = problem;  // whose adjoint is made once
  if (problem.adjoint)
    asked.adjoint = [&problem, made = std::make_shared<std::optional<GeneralProblem<T>>>()] {
      if (!*made) *made = problem.adjoint();
      return **made;
    };
  const auto normal = [&] { return asked.adjoint && is_normal<T>(own, asked.a, asked.adjoint().a, common.seed); };
  GeneralResult result;
  if (is_whole(n, common) || no_inverse || (common.max_basis == 0 && take_over && !normal())) {
    solve_whole<T>(ctx, asked, options, result);
    return result;
  }
  KrylovSchur<T> search(own, asked, options, initial, checkpointing);
  if (take_over) search.left_to_dense = true, search.steps_allowed = std::min(search.steps_allowed, steps_before_whole);
  result = run(search);
  if (!result.verified && result.stop != StopReason::interrupted && take_over) {
    solve_whole<T>(ctx, asked, options, result);
    result.reason += "; the search did not settle it, and the dense solver took over";
  } else if (result.stop == StopReason::not_verified && search.hints.cols() > 0) {
    // A search from the invariant subspace that holds what is missing.
    const Checkpointing<T> none;
    KrylovSchur<T> from_hints(own, asked, options, search.hints.cview(), none);
    GeneralResult again = run(from_hints);
    again.operator_applications += result.operator_applications;
    again.verification_applications += result.operator_applications;
    again.iterations += result.iterations;
    result = std::move(again);
  }
  return result;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_general)

}  // namespace ts::inline v0::solvers
