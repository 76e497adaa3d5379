// Eigen's simplicial L D L^H and its supernodal L U: the reference, and what is left where no other library is.
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include "tallskinny/solvers/direct/bodies.hpp"
#include "tallskinny/solvers/direct/eigen_sparse.hpp"
#include "tallskinny/solvers/ranks/rows_product.hpp"

namespace ts::inline v0::solvers {

namespace {

using detail::Column;
using detail::Sparse;

/// Exposes the column counts of the factor, known after the symbolic analysis.
template <class T>
class Ldlt : public Eigen::SimplicialLDLT<Sparse<T>, Eigen::Lower, Eigen::AMDOrdering<std::int64_t>> {
 public:
  /// Of c entries in a column, c^2 flops.
  [[nodiscard]] FactorEstimate estimate() const {
    FactorEstimate sum{"Eigen"};
    for (Eigen::Index j = 0; j < this->m_nonZerosPerCol.size(); ++j) {
      const auto c = static_cast<double>(this->m_nonZerosPerCol[j]);
      sum.flops += (is_complex<T> ? 4 : 1) * c * c;
      sum.bytes += c * (sizeof(T) + sizeof(std::int64_t));
    }
    return sum;
  }
};

template <class T>
class EigenSolver final : public DirectSolver<T> {
 public:
  EigenSolver(CsrView<T> a, FactorKind kind) : kind_(kind) {
    const Sparse<T> columns = detail::sparse_of(a);
    if (kind_ == FactorKind::lu)
      lu_.analyzePattern(columns);
    else
      ldlt_.analyzePattern(columns), estimate_ = ldlt_.estimate();
  }

  [[nodiscard]] FactorEstimate estimate() const noexcept override { return estimate_; }

  [[nodiscard]] bool factorise(CsrView<T> a) override {
    const Sparse<T> columns = detail::sparse_of(a);
    pivoted_ = kind_ == FactorKind::lu;
    if (!pivoted_) {
      constexpr double stable = 1e-13;  // as good as with pivots
      ldlt_.factorize(columns);
      if (ldlt_.info() == Eigen::Success && backward_error<T>(one_thread(), a, *this) < stable) return true;
      pivoted_ = true;
      lu_.analyzePattern(columns);
    }
    lu_.factorize(columns);
    return lu_.info() == Eigen::Success;
  }

  /// Column by column: the bits do not depend on the number of threads.
  void solve(const Context& ctx, Op op, PlacedView<const T> right_sides, PlacedView<T> solutions) const override {
    on_host(ctx, right_sides, solutions, [&](HostView<const T> b, HostView<T> x) {
      detail::apply_columns<T>(
          ctx,
          [&](const Column<T>& right) -> Column<T> {
            if (!pivoted_) return ldlt_.solve(right);
            if (op == Op::adjoint) return lu_.adjoint().solve(right);
            return lu_.solve(right);
          },
          b, x);
    });
  }

  [[nodiscard]] std::optional<index_t> negative() const override {
    if (pivoted_) return std::nullopt;
    const auto d = ldlt_.vectorD();
    index_t count = 0;
    for (Eigen::Index i = 0; i < d.size(); ++i) {
      if (!std::isfinite(std::real(d(i))) || std::real(d(i)) == 0) return std::nullopt;
      count += std::real(d(i)) < 0 ? 1 : 0;
    }
    return count;
  }

 private:
  FactorKind kind_;
  FactorEstimate estimate_{"Eigen"};
  Ldlt<T> ldlt_;
  mutable Eigen::SparseLU<Sparse<T>, Eigen::COLAMDOrdering<std::int64_t>> lu_;  // adjoint() is no const member
  bool pivoted_ = false;
};

}  // namespace

template <class T>
std::unique_ptr<DirectSolver<T>> analyse_by_eigen(CsrView<T> a, FactorKind kind) {
  return std::make_unique<EigenSolver<T>>(a, kind);
}

template std::unique_ptr<DirectSolver<double>> analyse_by_eigen(CsrView<double>, FactorKind);
template std::unique_ptr<DirectSolver<std::complex<double>>> analyse_by_eigen(CsrView<std::complex<double>>,
                                                                              FactorKind);

}  // namespace ts::inline v0::solvers
