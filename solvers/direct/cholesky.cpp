#include "tallskinny/solvers/direct/cholesky.hpp"

#include <Eigen/SparseCholesky>

#include "tallskinny/solvers/direct/cholmod.hpp"
#include "tallskinny/solvers/direct/eigen_sparse.hpp"

namespace ts::inline v0::solvers {

namespace {

using detail::Column;
using detail::Sparse;

/// Eigen's, column by column.
template <class T>
class ByColumns final : public CholeskyFactor<T> {
 public:
  explicit ByColumns(const Sparse<T>& m) : llt_(m) {}

  [[nodiscard]] bool factorised() const { return llt_.info() == Eigen::Success; }
  [[nodiscard]] std::string_view by() const noexcept override { return "Eigen"; }

  void apply(const Context& ctx, CholeskyStep step, HostView<const T> x, HostView<T> y) const override {
    detail::apply_columns<T>(
        ctx, [&](const Column<T>& b) { return image(step, b); }, x, y);
  }

 private:
  [[nodiscard]] Column<T> image(CholeskyStep step, Column<T> b) const {
    switch (step) {
      case CholeskyStep::multiply: return llt_.permutationPinv() * Column<T>(llt_.matrixL() * b);
      case CholeskyStep::multiply_adjoint: return llt_.matrixU() * Column<T>(llt_.permutationP() * b);
      case CholeskyStep::solve:
        b = llt_.permutationP() * b;
        llt_.matrixL().solveInPlace(b);
        return b;
      case CholeskyStep::solve_adjoint: llt_.matrixU().solveInPlace(b); return llt_.permutationPinv() * b;
    }
    return b;
  }

  Eigen::SimplicialLLT<Sparse<T>, Eigen::Lower, Eigen::AMDOrdering<std::int64_t>> llt_;
};

}  // namespace

template <class T>
std::unique_ptr<CholeskyFactor<T>> cholesky(CsrView<T> m, CholeskyBody body) {
  expects(m.rows == m.cols, "a factorisation needs a square matrix");
  const Sparse<T> columns = detail::sparse_of(m);
  if (m.rows > 0 && body != CholeskyBody::eigen) {
    auto blocks = factorise_by_cholmod<T>(m, columns);
    if (blocks) return std::move(*blocks);
    expects(body == CholeskyBody::best, "CHOLMOD was not found, or blocks do not pay for this matrix");
  }
  auto by_columns = std::make_unique<ByColumns<T>>(columns);
  if (!by_columns->factorised()) return nullptr;
  return by_columns;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, cholesky)

}  // namespace ts::inline v0::solvers
