// A simplicial L D L^H and Eigen's supernodal L U: the reference, and what is left where no other library is.
#include <Eigen/SparseLU>

#include "tallskinny/solvers/direct/backends.hpp"
#include "tallskinny/solvers/direct/eigen_sparse.hpp"
#include "tallskinny/solvers/direct/simplicial.hpp"
#include "tallskinny/solvers/ranks/rows_product.hpp"

namespace ts::inline v0::solvers {

namespace {

using detail::Column;
using detail::Sparse;

template <class T>
class EigenSolver final : public DirectSolver<T> {
 public:
  EigenSolver(CsrView<T> a, FactorKind kind) : kind_(kind) {
    if (kind_ == FactorKind::lu) {
      lu_.analyzePattern(detail::sparse_of(a));
      return;
    }
    ldl_.emplace(a, std::vector<int>(), inf);
    estimate_.flops = ldl_->estimate().flops, estimate_.bytes = ldl_->estimate().bytes;
  }

  [[nodiscard]] FactorEstimate estimate() const noexcept override { return estimate_; }

  [[nodiscard]] bool factorise(CsrView<T> a) override {
    pivoted_ = kind_ == FactorKind::lu;
    const bool turns = !pivoted_;
    if (turns) {
      constexpr double stable = 1e-13;  // as good as with pivots
      if (ldl_->factorise(a) && backward_error<T>(one_thread(), a, *this) < stable) return true;
      pivoted_ = true;
    }
    const Sparse<T> columns = detail::sparse_of(a);
    if (turns) lu_.analyzePattern(columns);
    lu_.factorize(columns);
    return lu_.info() == Eigen::Success;
  }

  /// Column by column: the bits do not depend on the number of threads.
  void solve(const Context& ctx, Op op, PlacedView<const T> right_sides, PlacedView<T> solutions) const override {
    if (!pivoted_) return ldl_->solve(ctx, op, right_sides, solutions);
    on_host(ctx, right_sides, solutions, [&](HostView<const T> b, HostView<T> x) {
      detail::apply_columns<T>(
          ctx,
          [&](const Column<T>& right) -> Column<T> {
            if (op == Op::adjoint) return lu_.adjoint().solve(right);
            return lu_.solve(right);
          },
          b, x);
    });
  }

  [[nodiscard]] std::optional<index_t> negative() const override {
    if (pivoted_) return std::nullopt;
    return ldl_->negative();
  }

 private:
  FactorKind kind_;
  FactorEstimate estimate_{"Eigen"};
  std::optional<Simplicial<T>> ldl_;
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
