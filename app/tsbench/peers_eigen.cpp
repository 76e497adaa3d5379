// Eigen as a user would compile it: for the processor at hand (CMake adds -march=native to this file).
// Its namespace is renamed, so that the linker cannot take code made for this processor into other files.
#define Eigen EigenForThisProcessor
#include <Eigen/Core>
#include <Eigen/SparseCore>
#undef Eigen

#include "tallskinny/app/tsbench/peers.hpp"

namespace ts::bench {

namespace eigen = EigenForThisProcessor;

namespace {

template <class T>
using Rows = eigen::Map<eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor>>;
template <class T>
using ConstRows = eigen::Map<const eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor>>;

/// C = A^H B; one function for all that use it, so that Eigen's templates are compiled once a type.
template <class T>
void inner(index_t n, const T* a, index_t p, const T* b, index_t q, T* c) {
  Rows<T>(c, p, q).noalias() = ConstRows<T>(a, n, p).adjoint() * ConstRows<T>(b, n, q);
}

/// C = A B
template <class T>
void outer(index_t n, const T* a, index_t p, const T* b, index_t q, T* c) {
  Rows<T>(c, n, q).noalias() = ConstRows<T>(a, n, p) * ConstRows<T>(b, p, q);
}

template <class T>
std::function<void()> peer(const Operands<T>& o) {
  const index_t n = o.problem.n, p = o.problem.p, q = o.problem.q;
  switch (o.problem.operation) {
    case Operation::tsmttsm:
      return [=] { inner<T>(n, o.x, p, o.y, q, o.result); };
    case Operation::gram:
      return [=] { inner<T>(n, o.x, p, o.x, p, o.result); };
    case Operation::tsmm:
      return [=] { outer<T>(n, o.x, p, o.small, q, o.out); };
    case Operation::tsmm_in_place:
      return [=] {
        eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor> product(n, q);
        outer<T>(n, o.out, p, o.small, q, product.data());
        Rows<T>(o.out, n, p).leftCols(q) = product;
      };
    case Operation::tsm2r:
      return [=] { outer<T>(n, o.x, p, o.y, q, o.out); };
    case Operation::inner_and_gram:
      return [=] {
        inner<T>(n, o.x, p, o.y, q, o.result);
        inner<T>(n, o.y, q, o.y, q, o.gram);
      };
    case Operation::project_out:
      return [=] {
        Rows<T>(o.out, n, q).noalias() -= ConstRows<T>(o.x, n, p) * ConstRows<T>(o.small, p, q);
        inner<T>(n, o.x, p, o.out, q, o.result);
        inner<T>(n, o.out, q, o.out, q, o.gram);
      };
    case Operation::column_norms:
      return [=] {
        const auto norms = ConstRows<T>(o.x, n, p).colwise().norm().eval();
        for (index_t j = 0; j < p; ++j) o.result[j] = norms(j);
      };
    case Operation::trsm:
      return [=] {
        Rows<T> x(o.out, n, p);
        ConstRows<T>(o.small, p, p)
            .template triangularView<eigen::Upper>()
            .template solveInPlace<eigen::OnTheRight>(x);
      };
    case Operation::spmm:
      if (o.sparse.nonzeros() > INT32_MAX) return {};  // Eigen's row pointers are of the type of the indices
      return [=, pointers = std::vector<std::int32_t>(o.sparse.pointers, o.sparse.pointers + n + 1)] {
        const eigen::Map<const eigen::SparseMatrix<T, eigen::RowMajor, std::int32_t>> a(
            n, p, o.sparse.nonzeros(), pointers.data(), o.sparse.indices, o.sparse.values);
        Rows<T>(o.out, n, q).noalias() = a * ConstRows<T>(o.x, p, q);
      };
  }
  return {};
}

/// Whether the processor has what this file was compiled for.
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
std::function<void()> eigen_peer(const Operands<T>& o) {
  if constexpr (std::is_same_v<T, result_t<T>>)
    if (processor_suffices()) return peer(o);
  return {};
}

void set_eigen_threads(int threads) {
  eigen::setNbThreads(threads);
}

std::string eigen_version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

#define TS_INSTANTIATE(T) template std::function<void()> eigen_peer<T>(const Operands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
