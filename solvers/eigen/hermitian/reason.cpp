#include "tallskinny/solvers/eigen/hermitian/reason.hpp"

#include "tallskinny/solvers/eigen/result/finish.hpp"

namespace ts::inline v0::solvers {

namespace {

/// What there is to say where a side of the target has fewer eigenvalues than were asked for.
template <class T>
std::string side_sentence(const EigenResult<T>& result, Which which, index_t asked) {
  const auto found = static_cast<index_t>(result.values.size());
  if (found >= asked) return {};
  const char* where = which == Which::SA ? "below" : which == Which::LA ? "above" : "on the sides of";
  return "; " + std::to_string(asked) + " were asked for, and only " + std::to_string(found) +
         (found == 1 ? " lies " : " lie ") + where + " the target" +
         (which == Which::BE ? ", half of them at most on each" : "");
}

/// How it ended. @param wanted pairs that there were to find.
template <class T>
std::string how_it_ended(const EigenResult<T>& result, const EigenOptions& options, index_t wanted) {
  std::string s;
  const auto counted = std::to_string(result.converged_count) + " of " + std::to_string(wanted);
  switch (result.stop) {
    case StopReason::converged: s = counted + " pairs converged"; break;
    case StopReason::max_iterations:
      s = counted + " pairs converged within the block steps allowed: raise `max_iterations` or `max_basis`";
      if (options.which == Which::SA || options.which == Which::SM) s += ", or look near a target with `target`";
      if (options.method != Method::automatic && !result.shift)
        s += ", or leave the choice to `method` auto, which takes an inverse where a factorisation is cheap";
      if (options.convergence == Convergence::rel) s += ", or be content with `convergence` norm";
      break;
    case StopReason::interrupted: s = "stopped on request with " + counted + " pairs converged"; break;
    case StopReason::not_verified:
      s = counted +
          " pairs converged, but the block steps allowed ended before a search for missing copies did: raise "
          "`max_iterations`";
      break;
    case StopReason::rounding:
      s = counted +
          " pairs reach the tolerance; the residuals of the others do not get smaller: rounding of "
          "the matrix product or of the factorisation stands in the way, ask for a larger `tol`";
      break;
  }
  return s;
}

std::string how_verified(Verification how) {
  if (how == Verification::all_computed) return "; complete, for the whole spectrum was computed";
  if (how == Verification::inertia) return "; complete by the inertia of an LDL^H factorisation";
  if (how == Verification::start_block)
    return "; complete as far as a search from a random block with columns to spare can tell";
  if (how == Verification::random_block) return "; complete as far as a search from fresh random blocks can tell";
  return {};
}

/// How many residuals are above what was asked for, and accepted because rounding of A x is no smaller.
template <class T>
index_t count_at_rounding(const EigenResult<T>& result, const EigenOptions& options) {
  // Without its floor the bound is what was asked for.
  const bool scaled = options.convergence == Convergence::norm || options.convergence == Convergence::root;
  const auto floorless = acceptance_of(options, scaled ? result.norm : 0, 0);
  index_t count = 0;
  for (std::size_t j = 0; j < result.values.size(); ++j)
    if (result.converged_pairs[j] && result.residual_norms[j] > floorless.bound(result.values[j])) ++count;
  return count;
}

}  // namespace

template <class T>
std::string cut_sentence(const EigenResult<T>& result, const std::string& quantity, bool centred) {
  if (result.cut_off == 0) return {};
  const bool both_sides = centred && result.cut_off > result.multiplicities.back();
  const std::string told = std::to_string(result.cut_off),
                    one = std::max(result.cut_off, result.copies_counted) == 1 ? "is" : "are",
                    of_last = both_sides ? "; eigenvalues as far out as the last, on both sides: "
                                         : "; of the last " + quantity + " there " + one + " ";
  if (result.copies_counted > 0)
    return of_last + std::to_string(result.copies_counted) +
           " copies by the inertia of LDL^H factorisations, of which `nev` leaves " + told;
  return of_last + "at least " + told + (result.cut_off == 1 ? " copy" : " copies") + ", cut off by `nev`";
}

template <class T>
void explain(const EigenOptions& options, const Circumstances& of, index_t n, EigenResult<T>& result) {
  const auto found = static_cast<index_t>(result.values.size());
  const auto converged = std::to_string(result.converged_count);
  std::string& s = result.reason;
  s = how_it_ended(result, options, of.sides ? found : of.asked);
  if (result.verified) s += how_verified(result.verification);
  if (options.nev > n)
    s += "; " + std::to_string(options.nev) + " eigenvalues were asked for, the matrix has " + std::to_string(n);
  if (const index_t count = count_at_rounding(result, options); count > 0)
    s += "; of " + std::to_string(count) +
         " of them the tolerance is below the rounding of the matrix product, which is what was reached";
  if (of.sides) s += side_sentence(result, options.which, of.asked);
  s += cut_sentence(result, "eigenvalue", options.which == Which::LM || options.which == Which::SM);
  if (result.taken_over) s += "; the iteration did not succeed, and the dense solver took over";
  if (of.undecided)
    s = converged +
        " pairs converged, but rounding does not tell the side of `target` for all that are wanted: an eigenvalue next "
        "to it drowns the others, choose another `target`";
  else if (of.displaced)
    s = converged +
        " pairs converged, but the shift that had to be moved is too far from `target` to tell "
        "whether they are the nearest to it: choose another `target`";
  if (result.narrow_applications == 0 && !of.hidden) return;
  const bool only_float32 = options.precision == Precision::float32;
  if (of.hidden)
    s = converged +
        " pairs converged, but the first eigenvalue outside of the set is too near to it for "
        "float32 to tell that none is missing: take `precision` mixed, or another `nev`";
  else if (only_float32 && result.stop == StopReason::rounding)
    s = converged + " of " + std::to_string(of.asked) +
        " pairs reach the tolerance; the residuals of the others do not get smaller in float32: ask "
        "for a larger `tol`, or take `precision` mixed";
  else
    s += only_float32 ? "; iterated in float32, residuals computed in float64"
                      : "; found in float32, refined in float64";
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, cut_sentence)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, explain)

}  // namespace ts::inline v0::solvers
