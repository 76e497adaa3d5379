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

template <class T>
std::function<void()> peer(const Operands<T>& o) {
  const index_t n = o.problem.n, p = o.problem.p, q = o.problem.q;
  switch (o.problem.operation) {
    case Operation::tsmttsm:
      return [=] {
        Rows<T>(o.result, p, q).noalias() = ConstRows<T>(o.x, n, p).adjoint() * ConstRows<T>(o.y, n, q);
      };
    case Operation::gram:
      return [=] {
        Rows<T>(o.result, p, p).noalias() = ConstRows<T>(o.x, n, p).adjoint() * ConstRows<T>(o.x, n, p);
      };
    case Operation::tsmm:
      return [=] { Rows<T>(o.out, n, q).noalias() = ConstRows<T>(o.x, n, p) * ConstRows<T>(o.small, p, q); };
    case Operation::tsmm_in_place:
      return [=] {
        Rows<T> x(o.out, n, p);
        x.leftCols(q) = (x * ConstRows<T>(o.small, p, q)).eval();
      };
    case Operation::tsm2r:
      return [=] { Rows<T>(o.out, n, q).noalias() = ConstRows<T>(o.x, n, p) * ConstRows<T>(o.y, p, q); };
    case Operation::inner_and_gram:
      return [=] {
        const ConstRows<T> v(o.x, n, p), w(o.y, n, q);
        Rows<T>(o.result, p, q).noalias() = v.adjoint() * w;
        Rows<T>(o.gram, q, q).noalias() = w.adjoint() * w;
      };
    case Operation::project_out:
      return [=] {
        const ConstRows<T> v(o.x, n, p);
        Rows<T> w(o.out, n, q);
        w.noalias() -= v * ConstRows<T>(o.small, p, q);
        Rows<T>(o.result, p, q).noalias() = v.adjoint() * w;
        Rows<T>(o.gram, q, q).noalias() = w.adjoint() * w;
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
