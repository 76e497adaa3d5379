// LOBPCG and block Davidson: preconditioned methods for an end of the spectrum.
#pragma once

#include "tallskinny/solvers/eigen/hermitian/lanczos.hpp"

namespace ts::solvers {

/// Ritz vectors that are kept for `nev` wanted: the rate of convergence goes with the distance to the first
/// outside.
[[nodiscard]] constexpr index_t with_guards(index_t nev) noexcept {
  return nev + (nev / 5 > 2 ? nev / 5 : 2);
}

/// The lowest (SA) or highest (LA) eigenpairs: Rayleigh-Ritz on span[X, P, W] with W the preconditioned
/// residuals and P what the last step added to X. [X P W] is an orthonormal basis at all times (block
/// Gram-Schmidt drops directions that die), P the part of the new X outside the old one, orthonormalised in
/// the coefficients. Converged columns stay in X and get no W (soft locking). Then a fresh random block is
/// iterated in the complement of what was found, as in Lanczos: it brings something missing, or shows that
/// what comes next is outside. Sources: Knyazev 2001, "Toward the optimal preconditioned eigensolver";
/// Hetmaniuk and Lehoucq 2006, "Basis selection in LOBPCG" (P); Duersch, Shao, Yang, Gu 2018 (robust bases).
///
/// Method::davidson is the same with a basis that keeps growing by preconditioned residuals of the first
/// unconverged pairs until `max_basis`, and is then restarted with the Ritz vectors and those of the step
/// before: block GD+k. Source: Stathopoulos and Saad 1998, "Restarting techniques for the (Jacobi-)Davidson
/// symmetric eigenvalue methods"; Stathopoulos 2007.
template <class T>
class Lobpcg {
 public:
  Lobpcg(const Context&, const EigenProblem<T>&, const EigenOptions&, const EigenPlan&,
         HostView<const T> initial);

  LanczosOutcome<T> run(EigenResult<T>& record);
  /// Before another run, when true residuals turn out larger than their estimates.
  void tighten() { accept_.tol *= 0.1; }

 private:
  enum class Stage { reached, entered, budget, interrupted, stagnated };

  void start(HostView<const T> block);
  Stage search(EigenResult<T>& record);
  Stage verify(EigenResult<T>& record);
  [[nodiscard]] bool step();
  [[nodiscard]] Stage may_go_on() const;
  void look(EigenResult<T>& record, bool verifying) const;
  [[nodiscard]] bool count_settles() const;
  void reserve(index_t columns);
  /// Rayleigh-Ritz on the columns after the locked ones; `width` of the Ritz vectors are X.
  void project(index_t width);
  /// The first columns of the basis become X = S C, those after it an orthonormal basis of what `beside` has
  /// outside of X.
  void compress(const Matrix<T>& c, Matrix<T> beside);
  /// The same without anything beside X.
  void settle();

  [[nodiscard]] HostView<T> s(index_t first, index_t count) { return s_.view().cols(l_ + first, count); }
  [[nodiscard]] HostView<T> as(index_t first, index_t count) { return as_.view().cols(l_ + first, count); }
  [[nodiscard]] HostView<const T> x() { return c_.cols() > 0 ? current_.cview() : s(0, x_); }
  [[nodiscard]] HostView<const T> ax() { return c_.cols() > 0 ? image_.cview() : as(0, x_); }
  /// Positive where `value` lies further inside of the spectrum than `than`.
  [[nodiscard]] double inwards(double value, double than) const noexcept { return sign_ * (value - than); }

  Context ctx_;
  const EigenProblem<T>& problem_;
  const EigenOptions& options_;
  EigenPlan plan_;
  HostView<const T> initial_;
  double sign_;  ///< 1: lowest, -1: highest
  Acceptance accept_;
  index_t limit_, batch_;  ///< columns of a growing basis (LOBPCG: 0); of W
  Matrix<T> s_, as_;       ///< [L X P W] and its image
  /// Where the basis has grown since X was made its first columns: X = S C, A X.
  Matrix<T> c_, current_, image_;
  index_t l_ = 0, x_ = 0, p_ = 0;           ///< columns of L, X and P
  std::vector<double> values_, residuals_;  ///< of X, from the wanted end inwards
  index_t steps_ = 0, applications_ = 0, dead_ = 0, found_at_ = 0;
  std::uint64_t stream_ = 0;
  double next_ = 0;
};

}  // namespace ts::solvers
