// LOBPCG: locally optimal block preconditioned conjugate gradients.
#pragma once

#include "tallskinny/solvers/eigen/lanczos.hpp"

namespace ts::solvers {

/// The inverse of a Hermitian matrix's diagonal as a preconditioner; elements below u max|a_ii| count as
/// that.
template <class T>
class Jacobi {
 public:
  explicit Jacobi(std::vector<double> diagonal);
  [[nodiscard]] index_t rows() const noexcept { return static_cast<index_t>(inverse_.size()); }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const;

 private:
  std::vector<double> inverse_;
};

/// The lowest (SA) or highest (LA) eigenpairs: Rayleigh-Ritz on span[X, P, W] with W the preconditioned
/// residuals and P what the last step added to X. [X P W] is an orthonormal basis at all times (block
/// Gram-Schmidt drops directions that die), P the part of the new X outside the old one, orthonormalised in
/// the coefficients. Converged columns stay in X and get no W (soft locking). Then a fresh random block is
/// iterated in the complement of what was found, as in Lanczos: it brings something missing, or shows that
/// what comes next is outside. Sources: Knyazev 2001, "Toward the optimal preconditioned eigensolver";
/// Hetmaniuk and Lehoucq 2006, "Basis selection in LOBPCG" (P); Duersch, Shao, Yang, Gu 2018 (robust bases).
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
  /// Rayleigh-Ritz on the columns after the locked ones; keeps `width` of them as X.
  void project(index_t width);

  [[nodiscard]] HostView<T> s(index_t first, index_t count) { return s_.view().cols(l_ + first, count); }
  [[nodiscard]] HostView<T> as(index_t first, index_t count) { return as_.view().cols(l_ + first, count); }
  /// Positive where `value` lies further inside of the spectrum than `than`.
  [[nodiscard]] double inwards(double value, double than) const noexcept { return sign_ * (value - than); }

  Context ctx_;
  const EigenProblem<T>& problem_;
  const EigenOptions& options_;
  EigenPlan plan_;
  HostView<const T> initial_;
  double sign_;  ///< 1: lowest, -1: highest
  Acceptance accept_;
  Matrix<T> s_, as_;                        ///< [L X P W] and its image
  index_t l_ = 0, x_ = 0, p_ = 0;           ///< columns of L, X and P
  std::vector<double> values_, residuals_;  ///< of X, from the wanted end inwards
  index_t steps_ = 0, applications_ = 0, dead_ = 0, found_at_ = 0;
  std::uint64_t stream_ = 0;
  double next_ = 0;
};

}  // namespace ts::solvers
