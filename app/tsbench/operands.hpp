// The operands of one measured case, in host or device memory, which ours and every peer read; their values; and the
// operation, once.
#pragma once

#include "tallskinny/app/tsbench/case.hpp"
#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::bench {

// Deterministic numbers in [-1, 1), the same on the host and on a GPU (kernels/bench_fill.cuh).
inline double uniform_at(std::uint64_t key) {
  std::uint64_t z = (key + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

template <class T>
T value_at(std::uint64_t key) {
  if constexpr (is_complex<T>)
    return narrowed<T>({uniform_at(key), uniform_at(~key)});
  else
    return narrowed<T>(uniform_at(key));
}

/// Which operand means what follows Problem: x and y are the tall inputs, out the tall result; row-major are small,
/// the small factor, and result and gram, what reductions give. Norms of columns are reals, packed into result.
template <class T, Space S>
struct Operands {
  using R = result_t<T>;
  Problem problem;
  Strided<const T, S> x, y;
  Strided<R, S> out;
  Strided<const R, S> small;
  Strided<R, S> result, gram;
  CsrView<T, S> sparse;
  SparsePattern pattern;
  const std::int32_t* short_pointers = nullptr;  ///< of sparse in device memory: row pointers of 32 bits
};
template <class T>
using HostOperands = Operands<T, Space::host>;
template <class T>
using DeviceOperands = Operands<T, Space::device>;

/// Bytes of the operands of a case; small ones of what any operation may need.
struct OperandBytes {
  std::size_t x = 0, y = 0, out = 0, small = 0;
};
[[nodiscard]] OperandBytes operand_bytes(const Case& c);

/// Where operands begin; addresses of nothing, aligned as memory is, will do for planning.
struct Places {
  std::byte *x = address(1), *y = address(2), *out = address(3), *small = address(4), *result = address(5),
            *gram = address(6);
  [[nodiscard]] static std::byte* address(std::uintptr_t number) {
    return reinterpret_cast<std::byte*>(number << 44);  // NOLINT(performance-no-int-to-ptr): never followed
  }
};
/// The operands of a case but for its sparse matrix.
template <class T, Space S>
[[nodiscard]] Operands<T, S> operands_at(const Case& c, const Places& at) {
  using R = result_t<T>;
  const Problem& p = c.problem;
  const bool sparse = p.operation == Operation::spmm, large = p.operation == Operation::tsm2r;
  const OperandBytes bytes = operand_bytes(c);
  const auto square = [](std::byte* place, index_t rows, index_t columns) {
    return Strided<R, S>(reinterpret_cast<R*>(place), rows, columns, columns, 1);
  };
  Operands<T, S> o;
  o.problem = p;
  if (!in_place(p.operation) || p.operation == Operation::project_out)
    o.x = c.tall<T, S>(reinterpret_cast<T*>(at.x), sparse ? p.p : p.n, sparse ? p.q : p.p);
  if (bytes.y > 0) o.y = c.tall<T, S>(reinterpret_cast<T*>(at.y), large ? p.p : p.n, p.q);
  if (bytes.out > 0) o.out = c.tall<R, S>(reinterpret_cast<R*>(at.out), p.n, out_width(p));
  o.small = square(at.small, p.p, p.operation == Operation::trsm ? p.p : p.q);
  o.result = square(at.result, p.p, p.operation == Operation::gram ? p.p : p.q);
  o.gram = square(at.gram, p.q, p.q);
  return o;
}

/// Where the tall operands' values begin: x(i, j) is value_at(first_key.x + i * columns + j).
inline constexpr struct { std::uint64_t x = 0, y = std::uint64_t{1} << 40, out = std::uint64_t{1} << 41; } first_key;

/// The small factor of `problem`. For operations in place it is nearly the identity and upper triangular: they can be
/// repeated at will without growth.
template <class R>
void fill_small(Matrix<R>& m, const Problem& problem);

/// The operation on the place where the operands are; does not wait for a GPU.
template <class T, Space S>
void run(const Context& ctx, const Operands<T, S>& o);

/// The problem of a case, as the planner of GPU kernels is asked.
[[nodiscard]] cuda::GpuProblem gpu_problem_of(const Case& c, Determinism determinism);
/// The kernels that run() will start on a GPU, for compiling them with others. Needs no GPU.
[[nodiscard]] std::vector<cuda::KernelPlan> kernels_of(const Case& c, const cuda::DeviceInfo& device,
                                                       Determinism determinism);

}  // namespace ts::bench
