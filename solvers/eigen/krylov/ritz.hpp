// What methods build from a Krylov factorisation A V = V H + F B: Ritz pairs, restarts, blocks of vectors.
#pragma once

#include <cmath>
#include <vector>

#include "tallskinny/solvers/eigen/krylov/factorisation.hpp"

namespace ts::inline v0::solvers {

/// Ritz values in ascending order, their coefficients, and the norms ||B s_i|| of their residuals.
template <class T>
struct Ritz {
  std::vector<double> values;
  Matrix<T> coefficients;
  std::vector<double> residuals;

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(values.size()); }
};

/// Rayleigh-Ritz on span(V) for a Hermitian A: H s = theta s, ||A V s - theta V s|| = ||B s||.
template <class T>
[[nodiscard]] Ritz<T> ritz_of(KrylovFactorisation<T>&);

/// Thick restart: V <- V S for the chosen Ritz vectors S (ascending indices), H <- their values, B <- B S. F
/// stays. Source: Wu and Simon 2000, "Thick-restart Lanczos method for large symmetric eigenvalue problems".
template <class T>
void thick_restart(KrylovFactorisation<T>&, const Ritz<T>&, const std::vector<index_t>& keep);

/// V <- V S, H <- S^H H S, B <- B S, with S orthonormal and its span invariant under H. F stays. Source:
/// Stewart 2002.
template <class T>
void compress(KrylovFactorisation<T>&, HostView<const T> s);

/// Y = V S, n x S.cols(), where the basis is.
template <class T>
[[nodiscard]] PlacedMatrix<T> combine(const KrylovFactorisation<T>&, HostView<const T> s);
/// Y = V S + F C.
template <class T>
[[nodiscard]] PlacedMatrix<T> combine(const KrylovFactorisation<T>&, HostView<const T> s, HostView<const T> c);
/// Y = A X, counted.
template <class T>
[[nodiscard]] PlacedMatrix<T> image(KrylovFactorisation<T>&, PlacedView<const T> x);

/// b random columns miss an eigenvector that leads the complement with a probability of about
/// (residual / distance)^b: the quotient at which that is 1e-10.
[[nodiscard]] inline double trust_factor(index_t b) { return std::pow(1e-10, 1.0 / static_cast<double>(b)); }

/// The largest |Ritz value| or column norm that ten block steps of width 2 give: an estimate of ||A|| from
/// below.
/// @param applications grows by the columns that A was applied to.
template <class T>
[[nodiscard]] double estimate_norm(const Context&, const Operator<T>& a, std::uint64_t seed, index_t& applications);

/// The same, and the ends of the spectrum from inside; NaN where nothing is known of them.
struct SpectrumEnds {
  double norm = 0, low = nan, high = nan;
};
template <class T>
[[nodiscard]] SpectrumEnds estimate_ends(const Context&, const Operator<T>& a, std::uint64_t seed,
                                         index_t& applications);

}  // namespace ts::inline v0::solvers
