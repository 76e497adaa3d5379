// Lanczos<T>: another operator for an end of the spectrum that converges slowly.
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/hermitian/chebyshev.hpp"
#include "tallskinny/solvers/eigen/hermitian/lanczos.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Below this size a filter saves nothing that would be noticed; below this tolerance its rounding shows.
constexpr index_t filtered_rows = 20000;
constexpr double filtered_tolerance = 1e-12;
/// A first basis of A itself cannot justify a longer polynomial; a basis of a filter can.
constexpr index_t longest_first = 63, longest = 1023;

/// Rounding in A x moves what T_d is taken of by u, and T_d itself by u T_d' / T_d, about u d^2 / 4 at the
/// end that it lifts to cosh(4). In float64 what is allowed for the number of rows covers it.
template <class T>
double recurrence_noise(index_t degree) {
  const auto d = static_cast<double>(degree);
  return is_narrow<T> ? std::max(1.0, d * d / 4) : 1.0;
}

}  // namespace

/// Puts the operator that `transform` speaks of into the place of A.
template <class T>
void Lanczos<T>::install(const SpectralTransform& transform) {
  if (transform.kind == SpectralTransform::Kind::inverse) {
    const auto factor = problem_.invert(transform.sigma);
    expects(factor.has_value(), "A - sigma I was factorised before and cannot be factorised again");
    accept_.transform = transform, accept_.transform.sigma = factor->shift;
    basis_.replace_operator(factor->inverse, 1);
    // Of 1 / (lambda - sigma), with sigma beyond the end.
    which_ = options_.which == Which::SA ? Which::LA : Which::SA;
  } else {
    accept_.transform = transform;
    basis_.replace_operator(ChebyshevFilter<T>(problem_.a, transform), transform.degree,
                            recurrence_noise<T>(transform.degree));
    which_ = Which::LA;
  }
}

/// Where a factorisation is cheap: a shift beyond the wanted end, about as far as the wanted values are
/// apart, with a count that proves it to be beyond. The Ritz values are those of a full basis; a later, more
/// accurate one may bring the shift nearer.
template <class T>
std::optional<SpectralTransform> Lanczos<T>::worthwhile_inverse() const {
  constexpr double nearer = 8;
  if (!problem_.invert || !problem_.count_below || options_.method != Method::automatic) return std::nullopt;
  const index_t m = ritz_.size(), edge = std::min(plan_.nev + plan_.block_size, m - 1);
  const auto& now = accept_.transform;
  const double leading = now.eigenvalue(ritz_.values[at(which_ == Which::SA ? 0 : m - 1)]);
  double away = leading - now.eigenvalue(ritz_.values[at(which_ == Which::SA ? edge : m - 1 - edge)]);
  for (int attempt = 0; attempt < 3 && away != 0; ++attempt, away *= nearer) {
    if (accept_.transformed() && std::abs(away) * nearer > std::abs(leading - now.sigma)) break;
    const double sigma = leading + away;
    const auto below = problem_.count_below(sigma, std::abs(away) / 4);
    if (!below) break;
    if (*below != (options_.which == Which::SA ? 0 : basis_.rows())) continue;
    SpectralTransform transform;
    transform.kind = SpectralTransform::Kind::inverse, transform.sigma = sigma;
    return transform;
  }
  return std::nullopt;
}

/// A filter for the wanted end; nothing when it would not pay.
template <class T>
std::optional<SpectralTransform> Lanczos<T>::worthwhile_filter() const {
  if (accept_.transform.kind == SpectralTransform::Kind::chebyshev) return worthwhile_longer_filter();
  if (accept_.transformed()) return std::nullopt;
  if (options_.method != Method::automatic && options_.method != Method::chebyshev) return std::nullopt;
  const OperatorFacts facts = problem_.a.facts();
  if (options_.method == Method::automatic) {
    // A step costs about max_basis flops for each element of its block, an application the entries of a row.
    const bool cheap = facts.entries >= 0 && facts.entries < plan_.max_basis * problem_.a.rows();
    if (!cheap || problem_.a.rows() < filtered_rows || options_.tol < filtered_tolerance) return std::nullopt;
  }
  // Ritz values bound the eigenvalues of the same number from inside (Cauchy): none wanted is damped.
  const index_t m = ritz_.size(), edge = std::min(plan_.nev + plan_.block_size, m - 1);
  if (which_ == Which::SA) {
    const double far = std::min(facts.high, ritz_.values[at(m - 1)] + ritz_.residuals[at(m - 1)]);
    return choose_filter(ritz_.values[0], ritz_.values[at(edge)], far, longest_first);
  }
  const double far = std::max(facts.low, ritz_.values[0] - ritz_.residuals[0]);
  return choose_filter(ritz_.values[at(m - 1)], ritz_.values[at(m - 1 - edge)], far, longest_first);
}

/// The edge of the first filter stems from a basis of A itself, which resolves the end of a large spectrum
/// poorly. A basis of the filter knows it better, and one of a longer filter better still. Starting anew pays
/// soon where products with A cost little beside a block step, as they do on a device, and anywhere when the
/// polynomial was far too short.
template <class T>
std::optional<SpectralTransform> Lanczos<T>::worthwhile_longer_filter() const {
  const index_t longer = problem_.a.space() == Space::host ? 4 : 2;
  const auto& now = accept_.transform;
  const index_t m = ritz_.size(), edge = std::min(plan_.nev + plan_.block_size, m - 1);
  const double far = now.centre - now.half_width;
  const auto next = choose_filter(now.eigenvalue(ritz_.values[at(m - 1)]),
                                  now.eigenvalue(ritz_.values[at(m - 1 - edge)]), far, longest);
  return next && next->degree >= longer * now.degree ? next : std::nullopt;
}

/// When the basis is full: does an end of the spectrum that converges slowly deserve another operator? Starts
/// anew with it if so.
template <class T>
bool Lanczos<T>::transform_operator() {
  constexpr int most = 6;
  if (problem_.inverse || (which_ != Which::SA && which_ != Which::LA)) return false;
  const bool filtered = accept_.transform.kind == SpectralTransform::Kind::chebyshev;
  std::optional<SpectralTransform> transform;
  if (transforms_ < most) transform = worthwhile_inverse();
  if (!transform && (filtered || transforms_ < most)) transform = worthwhile_filter();
  transforms_ = transform ? transforms_ + 1 : most;
  if (!transform) return false;
  install(*transform);
  basis_.start(initial_, plan_.block_size);
  return true;
}

#define TS_INSTANTIATE(T)                                      \
  template void Lanczos<T>::install(const SpectralTransform&); \
  template bool Lanczos<T>::transform_operator();
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
