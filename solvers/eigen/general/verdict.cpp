// What may be said of eigenpairs of a matrix that need not be Hermitian.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "tallskinny/solvers/eigen/general/krylov_schur_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

/// An eigenvalue that rounding of A alone moves, to first order, by a millionth of ||A|| is not known,
/// however small its residual.
constexpr double hopeless = 1e-6 / unit_roundoff;
/// Conditions from which on the reader is told.
constexpr double doubtful = 1e4;

/// Why a set whose pairs have converged is not vouched for.
std::string doubt(const GeneralResult& r, const GeneralVerdict& v) {
  constexpr const char* compute_all = "`method` dense computes the whole spectrum";
  using Asked = AdjointCheck::Finding;
  if (v.displaced)
    return ", but the shift that had to be moved is too far from the target to tell whether they are the "
           "nearest to it: choose another `target`";
  if (v.inside)
    return std::string(
               ", but the smallest imaginary parts lie inside of the spectrum, where no search can "
               "tell that none is missing: ") +
           compute_all + ", `target` seeks near a number";
  if (v.companion == Companion::Finding::missing)
    return ", but a Hermitian matrix with the same eigenvectors has others before them: raise `max_basis`";
  if (v.companion)
    return ", but a Hermitian matrix with the same eigenvectors, which tells whether others come before "
           "them, could not be solved";
  if (v.adjoint == Asked::others)
    return std::string(", but a search with the adjoint matrix finds other eigenvalues, as happens far from normal: ") +
           compute_all;
  if (v.adjoint == Asked::unfinished)
    return std::string(
               ", but a search with the adjoint matrix did not converge: raise `max_iterations` or `max_basis`; ") +
           compute_all;
  if (r.verification != Verification::random_block)
    return ", but the block steps allowed ended before a search for missing values did: raise `max_iterations`";
  return std::string(
             ", and fresh random blocks find no others; but of a matrix that is not normal no search "
             "can tell that none is missing: ") +
         compute_all;
}

std::string reason_of(const GeneralResult& r, const GeneralVerdict& v, index_t nev, double worst, double moved) {
  const auto wanted = static_cast<index_t>(r.values.size());
  std::string text =
      std::to_string(r.converged_count) + " of " + std::to_string(std::max(wanted, nev)) + " pairs converged";
  if (wanted > nev) text += " (one more than asked for, so as not to separate a conjugate pair)";
  if (r.stop == StopReason::max_iterations)
    text += " within the block steps allowed: raise `max_iterations` or `max_basis`";
  if (r.stop == StopReason::interrupted) text += "; stopped on request";
  if (r.stop == StopReason::rounding) text += "; residuals do not get smaller: ask for a larger `tol`";
  if (r.stop == StopReason::not_verified) text += doubt(r, v);
  if (r.verified && v.whole) text += "; complete, for the whole spectrum was computed";
  if (r.verified && !v.whole && v.similar)
    text += "; complete, as a Hermitian matrix that differs by a diagonal scaling alone has no others";
  else if (r.verified && !v.whole)
    text +=
        "; complete as far as block Lanczos can tell for a Hermitian matrix with the same eigenvectors, as "
        "there is one where A A^H = A^H A";
  if (!(moved < hopeless))
    text +=
        "; the matrix is so far from normal that rounding decides where these eigenvalues are: none can be vouched for";
  else if (!(worst < doubtful))
    text +=
        "; eigenvalues are ill-conditioned: errors may be larger than the residuals by the numbers given as conditions";
  return text;
}

/// Vectors of a normal matrix, by their residuals and the distances to other values. What residuals do not tell apart
/// counts as one.
void estimate_vectors(GeneralResult& r, const std::function<double(Complex)>& outside) {
  const std::size_t k = r.values.size();
  std::vector<std::size_t> cluster(k);
  std::iota(cluster.begin(), cluster.end(), std::size_t{0});
  const auto apart = [&r](std::size_t i, std::size_t j) {
    return std::abs(r.values[i] - r.values[j]) - r.residual_norms[i] - r.residual_norms[j];
  };
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (apart(i, j) <= std::max(2 * (r.residual_norms[i] + r.residual_norms[j]), 200 * unit_roundoff * r.norm))
        std::replace(cluster.begin(), cluster.end(), cluster[i], cluster[j]);
  for (std::size_t i = 0; i < k; ++i) {
    double gap = outside(r.values[i]);
    for (std::size_t j = 0; j < k; ++j)
      if (cluster[j] != cluster[i]) gap = std::min(gap, apart(i, j));
    const double sine = (r.residual_norms[i] + 64 * unit_roundoff * r.norm) / gap;
    r.vector_errors[i] = gap > 0 && sine < 1 ? sine : nan;
  }
}

}  // namespace

void conclude(GeneralResult& r, const GeneralVerdict& v, index_t nev) {
  const auto wanted = static_cast<index_t>(r.values.size());
  r.converged = r.converged_count == wanted && wanted >= nev;
  if (r.converged && r.stop == StopReason::rounding) r.stop = StopReason::converged;
  if (!r.converged && r.stop == StopReason::converged) r.stop = StopReason::rounding;
  r.backward_errors.clear();
  for (const double residual : r.residual_norms) r.backward_errors.push_back(residual > 0 ? residual / r.norm : 0);
  double worst = 1;
  for (const double condition : r.conditions) worst = std::isnan(condition) ? inf : std::max(worst, condition);
  const double moved = v.amplification.value_or(worst);
  const bool proved = v.whole || v.similar || (v.companion == Companion::Finding::agrees && !v.displaced);
  if (proved && !v.whole && !v.similar) r.verification = Verification::normal;
  r.verified = r.converged && r.verification != Verification::none && proved && moved < hopeless;
  r.vector_errors.assign(r.values.size(), nan);
  if (r.verified && !v.whole && v.outside) estimate_vectors(r, v.outside);
  if (r.converged && r.verification != Verification::none && !proved && r.stop == StopReason::converged)
    r.stop = StopReason::not_verified;
  if (v.companion == Companion::Finding::interrupted || v.adjoint == AdjointCheck::Finding::interrupted)
    r.stop = StopReason::interrupted, r.verified = false;
  r.reason = reason_of(r, v, nev, worst, moved);
}

}  // namespace ts::inline v0::solvers
