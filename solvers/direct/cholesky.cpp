#include "tallskinny/solvers/direct/cholesky.hpp"

#include "tallskinny/solvers/direct/cholmod.hpp"
#include "tallskinny/solvers/direct/eigen_sparse.hpp"
#include "tallskinny/solvers/direct/simplicial.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
class ByColumns final : public CholeskyFactor<T> {
 public:
  ByColumns(CsrView<T> m, double most_flops) : ldl_(m, {}, most_flops) {
    definite_ = ldl_.affordable() && ldl_.factorise(m) && ldl_.definite();
  }

  [[nodiscard]] bool affordable() const { return ldl_.affordable(); }
  [[nodiscard]] bool definite() const { return definite_; }
  [[nodiscard]] std::string_view by() const noexcept override { return simplicial_name; }
  void apply(const Context& ctx, CholeskyStep step, HostView<const T> x, HostView<T> y) const override {
    ldl_.apply(ctx, step, x, y);
  }

 private:
  Simplicial<T> ldl_;
  bool definite_ = false;
};

/// No entry stands twice.
template <class T>
bool rises(CsrView<T> m) {
  for (index_t i = 0; i < m.rows; ++i)
    for (index_t e = m.pointers[i] + 1; e < m.pointers[i + 1]; ++e)
      if (m.indices[e] <= m.indices[e - 1]) return false;
  return true;
}

/// Both triangles of columns as rows: those of a Hermitian matrix are the conjugates of its columns.
template <class T>
CsrMatrix<T> rows_of(const detail::Sparse<T>& columns) {
  CsrMatrix<T> rows{columns.rows(),
                    columns.cols(),
                    {columns.outerIndexPtr(), columns.outerIndexPtr() + columns.rows() + 1},
                    {columns.innerIndexPtr(), columns.innerIndexPtr() + columns.nonZeros()},
                    {columns.valuePtr(), columns.valuePtr() + columns.nonZeros()}};
  for (T& x : rows.values) x = conjugate(x);
  return rows;
}

}  // namespace

template <class T>
std::unique_ptr<CholeskyFactor<T>> cholesky(CsrView<T> m, CholeskyBackend backend) {
  expects(m.rows == m.cols, "a factorisation needs a square matrix");
  CsrMatrix<T> own;
  if (!rises(m)) own = rows_of<T>(detail::sparse_of(m)), m = own.view();
  const bool may_block = m.rows > 0 && backend != CholeskyBackend::by_columns;
  if (backend != CholeskyBackend::cholmod) {
    auto by_columns = std::make_unique<ByColumns<T>>(m, may_block ? most_simplicial(m.rows) : inf);
    if (by_columns->definite()) return by_columns;
    if (by_columns->affordable()) return nullptr;
  }
  auto blocks = factorise_by_cholmod<T>(m, detail::sparse_of(m));
  if (blocks) return std::move(*blocks);
  expects(backend == CholeskyBackend::best, "CHOLMOD was not found, or blocks do not pay for this matrix");
  return cholesky<T>(m, CholeskyBackend::by_columns);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, cholesky)

}  // namespace ts::inline v0::solvers
