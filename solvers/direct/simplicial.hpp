// L D L^H without pivots, row by row: for factors of few entries a row. For the .cpp files of this folder alone.
#pragma once

#include <functional>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/direct/cholesky.hpp"
#include "tallskinny/solvers/direct/direct_solver.hpp"

namespace ts::inline v0::solvers {

inline constexpr std::string_view simplicial_name = "a simplicial L D L^H";
/// Factors of more flops gain from blocks of columns.
[[nodiscard]] constexpr double most_simplicial(index_t rows) {
  constexpr double flops_of_row = 4000, flops_of_all = 5e6;
  const double of_rows = flops_of_row * static_cast<double>(rows);
  return of_rows > flops_of_all ? of_rows : flops_of_all;
}

/// Factors of a Hermitian matrix by an approximate minimum degree order. Source: Davis 2005, "Algorithm 849: A concise
/// sparse Cholesky factorization package". T: double or std::complex<double>.
template <class T>
class Simplicial final : public DirectSolver<T> {
 public:
  /// @param order as of another one; without, an order is sought
  /// @param most_flops with more nothing is analysed, and affordable() is false
  Simplicial(CsrView<T> a, const std::vector<int>& order, double most_flops);

  [[nodiscard]] bool affordable() const noexcept { return affordable_; }
  [[nodiscard]] FactorEstimate estimate() const noexcept override { return estimate_; }
  [[nodiscard]] std::vector<int> order() const override;
  [[nodiscard]] bool factorise(CsrView<T> a) override;
  [[nodiscard]] double refine(const Context&, CsrView<T> a, double enough) override;
  /// Its bits do not depend on the number of threads.
  void solve(const Context&, Op, PlacedView<const T> b, PlacedView<T> x) const override;
  using DirectSolver<T>::solve;
  void solve_once(const Context&, PlacedView<const T> b, PlacedView<T> x) const override;
  /// With L D^(1/2), where definite().
  void apply(const Context&, CholeskyStep step, HostView<const T> b, HostView<T> x) const;
  [[nodiscard]] bool definite() const;
  [[nodiscard]] double moved_pivots() const noexcept override { return moved_; }
  [[nodiscard]] std::optional<index_t> negative() const override;

 private:
  /// Calls use(i) for the places i < k of entries of row k of L, along the elimination tree; marks them in seen_.
  template <class Use>
  void walk(CsrView<T> a, index_t k, const Use& use);
  /// @param least magnitude of a pivot; 0: none is moved
  [[nodiscard]] bool factorise(CsrView<T> a, double least);
  template <class Width>
  void lower(T* w, Width p, bool plus) const;
  template <class Width>
  void upper(T* w, Width p, bool plus) const;
  /// Rows over a function of the pivots.
  void scale(Matrix<T>& w, const std::function<double(double)>& of_pivot) const;
  /// Blocks in the order of the factor, and back.
  [[nodiscard]] Matrix<T> taken(HostView<const T> b, bool ordered) const;
  void left(const Matrix<T>& work, bool ordered, HostView<T> x) const;

  index_t n_;
  bool affordable_ = false;
  FactorEstimate estimate_;
  std::vector<std::int32_t> old_, place_, parent_, seen_;  ///< the row that is the k-th, and where a row is
  std::vector<index_t> starts_, ends_;                     ///< of the columns of L
  std::vector<std::int32_t> rows_;
  std::vector<T> values_;
  std::vector<double> pivots_;
  double moved_ = 0;     ///< the most that a pivot was
  int steps_ = 0;        ///< of refinement in a solve
  CsrMatrix<T> matrix_;  ///< for these
};

}  // namespace ts::inline v0::solvers
