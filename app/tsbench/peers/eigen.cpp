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
std::function<void(const HostOperands<T>&)> way(const HostOperands<T>& example) {
  using O = const HostOperands<T>&;
  const index_t n = example.problem.n, p = example.problem.p, q = example.problem.q;
  switch (example.problem.operation) {
    case Operation::tsmttsm: return [=](O o) { inner<T>(n, o.x.data, p, o.y.data, q, o.result.data); };
    case Operation::gram: return [=](O o) { inner<T>(n, o.x.data, p, o.x.data, p, o.result.data); };
    case Operation::tsmm: return [=](O o) { outer<T>(n, o.x.data, p, o.small.data, q, o.out.data); };
    case Operation::tsmm_in_place:
      return [=](O o) {
        eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor> product(n, q);
        outer<T>(n, o.out.data, p, o.small.data, q, product.data());
        Rows<T>(o.out.data, n, p).leftCols(q) = product;
      };
    case Operation::tsm2r: return [=](O o) { outer<T>(n, o.x.data, p, o.y.data, q, o.out.data); };
    case Operation::inner_and_gram:
      return [=](O o) {
        inner<T>(n, o.x.data, p, o.y.data, q, o.result.data);
        inner<T>(n, o.y.data, q, o.y.data, q, o.gram.data);
      };
    case Operation::project_out:
      return [=](O o) {
        Rows<T>(o.out.data, n, q).noalias() -= ConstRows<T>(o.x.data, n, p) * ConstRows<T>(o.small.data, p, q);
        inner<T>(n, o.x.data, p, o.out.data, q, o.result.data);
        inner<T>(n, o.out.data, q, o.out.data, q, o.gram.data);
      };
    case Operation::column_norms:
      return [=](O o) {
        const auto norms = ConstRows<T>(o.x.data, n, p).colwise().norm().eval();
        for (index_t j = 0; j < p; ++j) o.result.data[j] = norms(j);
      };
    case Operation::trsm:
      return [=](O o) {
        Rows<T> x(o.out.data, n, p);
        ConstRows<T>(o.small.data, p, p)
            .template triangularView<eigen::Upper>()
            .template solveInPlace<eigen::OnTheRight>(x);
      };
    case Operation::spmm: {
      const auto& a = example.sparse;
      if (a.nonzeros() > INT32_MAX) return {};  // Eigen's row pointers are of the type of the indices
      return [=, pointers = std::vector<std::int32_t>(a.pointers, a.pointers + n + 1)](O o) {
        const eigen::Map<const eigen::SparseMatrix<T, eigen::RowMajor, std::int32_t>> matrix(
            n, p, o.sparse.nonzeros(), pointers.data(), o.sparse.indices, o.sparse.values);
        Rows<T>(o.out.data, n, q).noalias() = matrix * ConstRows<T>(o.x.data, p, q);
      };
    }
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
std::function<void(const HostOperands<T>&)> eigen_way(const HostOperands<T>& example) {
  if constexpr (std::is_same_v<T, result_t<T>>)
    if (processor_suffices()) return way(example);
  return {};
}

void set_eigen_threads(int threads) { eigen::setNbThreads(threads); }

std::string eigen_version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

#define TS_INSTANTIATE(T) template std::function<void(const HostOperands<T>&)> eigen_way<T>(const HostOperands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
