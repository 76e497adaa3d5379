// Eigen as a user would compile it: for the processor at hand (CMake adds -march=native to this file).
// Its namespace is renamed, so that the linker cannot take code made for this processor into other files.
#define Eigen EigenForThisProcessor
#include <Eigen/Core>
#include <Eigen/SparseCore>
#undef Eigen

#include "tallskinny/app/tsbench/peers/peers.hpp"

namespace ts::bench {

namespace eigen = EigenForThisProcessor;

namespace {

template <class T>
using Rows = eigen::Map<eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor>>;
template <class T>
using ConstRows = eigen::Map<const eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor>>;

template <class T>
void multiply(Product product, index_t m, index_t n, index_t k, const T* a, const T* b, T* c) {
  const ConstRows<T> left(a, product == Product::inner ? k : m, product == Product::inner ? m : k), right(b, k, n);
  if (product == Product::inner)
    Rows<T>(c, m, n).noalias() = left.adjoint() * right;
  else if (product == Product::plain)
    Rows<T>(c, m, n).noalias() = left * right;
  else
    Rows<T>(c, m, n).noalias() -= left * right;
}

template <class T>
void gram(index_t p, index_t n, const T* a, T* c) {
  multiply<T>(Product::inner, p, p, n, a, a, c);
}

template <class T>
void norms(index_t n, index_t p, const T* x, T* to) {
  const auto found = ConstRows<T>(x, n, p).colwise().norm().eval();
  for (index_t j = 0; j < p; ++j) to[j] = found(j);
}

template <class T>
void solve(index_t n, index_t p, const T* r, T* x) {
  Rows<T> block(x, n, p);
  ConstRows<T>(r, p, p).template triangularView<eigen::Upper>().template solveInPlace<eigen::OnTheRight>(block);
}

template <class T>
void multiply_in_place(index_t n, index_t p, const T* s, index_t q, T* x) {
  eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor> product(n, q);
  multiply<T>(Product::plain, n, q, p, x, s, product.data());
  Rows<T>(x, n, p).leftCols(q) = product;
}

template <class T>
void sparse(const HostOperands<T>& o, const std::int32_t* row_pointers) {
  const index_t n = o.problem.n, p = o.problem.p, q = o.problem.q;
  const eigen::Map<const eigen::SparseMatrix<T, eigen::RowMajor, std::int32_t>> matrix(
      n, p, o.sparse.nonzeros(), row_pointers, o.sparse.indices, o.sparse.values);
  Rows<T>(o.out.data, n, q).noalias() = matrix * ConstRows<T>(o.x.data, p, q);
}

/// True if the processor has the instructions that this file was compiled for.
bool processor_suffices() {
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f")) return false;
#endif
#if defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) return false;
#endif
  return true;
}

}  // namespace

template <class T>
const HostLibrary<T>* eigen_library() {
  static constexpr HostLibrary<T> library = {multiply<T>, gram<T>, norms<T>, solve<T>, multiply_in_place<T>, sparse<T>};
  return processor_suffices() ? &library : nullptr;
}
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, eigen_library)

void set_eigen_threads(int threads) { eigen::setNbThreads(threads); }

std::string eigen_version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

}  // namespace ts::bench
