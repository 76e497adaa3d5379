#include "tallskinny/solvers/direct/cholesky.hpp"

#include <array>
#include <numeric>
#include <span>

#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/solvers/direct/cholmod.hpp"
#include "tallskinny/solvers/direct/eigen_sparse.hpp"
#include "tallskinny/solvers/direct/simplicial.hpp"
#include "tallskinny/solvers/direct/supernodes.hpp"

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

/// A matrix of which most entries are stored, as one block, by LAPACK.
template <class T>
class OneBlock final : public CholeskyFactor<T> {
 public:
  explicit OneBlock(CsrView<T> m) : n_(m.rows), numbers_(at(n_)), values_(at(n_ * n_)) {
    std::iota(numbers_.begin(), numbers_.end(), std::int64_t{0});
    for_each_entry(m, [&](index_t i, index_t j, const T& x) { values_[at(j * n_ + i)] = x; });
    const int n = static_cast<int>(n_);
    int info = 1;
    const BlasThreads one(1);
    if (potrf() != nullptr) potrf()("L", &n, values_.data(), &n, &info, 1);
    definite_ = info == 0;
  }

  /// Where LAPACK is there and entries are more than a quarter of all.
  [[nodiscard]] static bool serves(CsrView<T> m) {
    constexpr index_t small = 128;
    return m.rows > small && 4 * m.nonzeros() > m.rows * m.rows && has_supernodes<T>() && potrf() != nullptr;
  }
  [[nodiscard]] bool definite() const { return definite_; }
  [[nodiscard]] std::string_view by() const noexcept override { return "LAPACK"; }
  void apply(const Context& ctx, CholeskyStep step, HostView<const T> x, HostView<T> y) const override {
    const std::array<std::int64_t, 2> all = {0, n_};
    solvers::apply<T>(ctx, {numbers_, all, all, std::span(all).first(1), numbers_, values_.data()}, step, x, y);
  }

 private:
  using Potrf = void(const char* uplo, const int* n, T* a, const int* lda, int* info, std::size_t);
  static Potrf* potrf() {
    static Potrf* const function = [] {
      Potrf* found = nullptr;
      return lapack_library().bind(found, is_complex<T> ? "zpotrf_" : "dpotrf_") ? found : nullptr;
    }();
    return function;
  }

  index_t n_;
  std::vector<std::int64_t> numbers_;  ///< 0 .. n - 1
  std::vector<T> values_;              ///< by columns
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
  if (backend == CholeskyBackend::best && OneBlock<T>::serves(m)) {
    auto block = std::make_unique<OneBlock<T>>(m);
    if (!block->definite()) return nullptr;
    return block;
  }
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
