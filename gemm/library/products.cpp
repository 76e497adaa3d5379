#include "tallskinny/gemm/library/products.hpp"

#include <algorithm>
#include <optional>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/parts.hpp"
#include "tallskinny/gemm/library/calls.hpp"
#include "tallskinny/gemm/library/policy.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::inline v0::cuda {

namespace {

constexpr std::size_t most_workspace = std::size_t{256} << 20;

struct PlannedLibrary {
  PlannedLibrary(const GpuProblem& problem, const DeviceInfo& device)
      : choice(library_choice(problem, device, kept_plan<RankedKernels>(problem, device)->candidates)) {}
  std::optional<LibraryChoice> choice;
};

/// The policy by which a library that is there serves.
template <class Policy>
std::optional<Policy> policy_for(const Context& ctx, const GpuProblem& problem, bool (*found)()) {
  const DeviceInfo& device = ctx.stream.device();
  if (!device.libraries || !is_tuned(problem) || ctx.communicator->size() > 1) return {};
  const auto planned = kept_plan<PlannedLibrary>(problem, device);
  return planned->choice && found() ? std::optional(policy_of<Policy>(planned->choice->kernel)) : std::nullopt;
}

/// C = alpha op(A) B + beta C in slabs of rows.
template <class T>
struct InSlabs {
  using R = result_t<T>;
  const Context& ctx;
  index_t slab;  ///< rows
  Op op;
  R alpha, beta;
  bool rank_update;  ///< of all rows, where B is A

  void operator()(DeviceStrided<const T> a, DeviceStrided<const T> b, DeviceStrided<R> c, R* mirror,
                  bool triangle) const {
    const index_t n = a.rows, size = a.cols * b.cols;
    const auto most = static_cast<index_t>(most_workspace / (static_cast<std::size_t>(size) * sizeof(R)));
    const index_t parts = std::clamp<index_t>(most, 1, ceil_div(n, slab));
    auto* const sums = static_cast<R*>(ctx.stream.workspace(static_cast<std::size_t>(parts * size) * sizeof(R)));
    for (index_t first = 0; first < n; first += parts * slab) {
      const index_t rows = std::min(parts * slab, n - first), whole = rows / slab, left = rows - whole * slab;
      const auto add = [&](index_t count, index_t from, index_t rows_each, R* to) {
        if (count == 0 || rows_each == 0) return;
        if constexpr (std::is_same_v<real_t<T>, double>)
          if (rank_update) return rank_update_by_cublas<T>(ctx, op, a, to);
        multiply_by_cublas<T>(ctx, R{1},
                              {a.block(from, 0, rows_each, a.cols).transposed(),
                               b.block(from, 0, rows_each, b.cols),
                               op == Op::adjoint,
                               {to, a.cols, b.cols, b.cols, 1},
                               count,
                               rows_each * a.row_stride,
                               rows_each * b.row_stride,
                               size},
                              R{});
      };
      add(whole, first, slab, sums), add(1, first + whole * slab, left, sums + whole * size);
      const index_t count = whole + (left > 0 ? 1 : 0);
      add_parts_of_results<R>(ctx, {sums, static_cast<std::size_t>(count * size)}, op, alpha, first == 0 ? beta : R{1},
                              c, mirror, triangle);
    }
  }
};

}  // namespace

template <class T>
bool inner_by_library(const Context& ctx, const GpuProblem& problem, Op op, result_t<T> alpha, DeviceStrided<const T> a,
                      DeviceStrided<const T> b, result_t<T> beta, DeviceStrided<result_t<T>> c) {
  const auto policy = policy_for<ProductPolicy>(ctx, problem, cublas_found);
  if (!policy || !cublas_takes<T>({a.transposed(), b, op == Op::adjoint, {nullptr, a.cols, b.cols, b.cols, 1}}))
    return false;
  const InSlabs<T> product{
      ctx, policy->slab_rows > 0 ? policy->slab_rows : a.rows, op, alpha, beta, policy->rank_update};
  if (problem.problem.operation != Operation::gram) {
    product(a, b, c, nullptr, false);
    return true;
  }
  const index_t n = a.rows, columns = a.cols, width = policy->panel > 0 ? policy->panel : columns;
  for (index_t i = 0; i < columns; i += width)
    for (index_t j = i; j < columns; j += width) {
      const index_t p = std::min(width, columns - i), q = std::min(width, columns - j);
      product(a.block(0, i, n, p), a.block(0, j, n, q), c.block(i, j, p, q),
              i == j ? nullptr : c.block(j, i, q, p).data, i == j);
    }
  return true;
}

template <class T>
bool product_by_library(const Context& ctx, const GpuProblem& problem, bool conjugate, result_t<T> alpha,
                        DeviceStrided<const T> a, DeviceStrided<const T> b, result_t<T> beta,
                        DeviceStrided<result_t<T>> y) {
  const Products<T> products{a, b, conjugate, y};
  if (!policy_for<ProductPolicy>(ctx, problem, cublas_found) || !cublas_takes(products)) return false;
  multiply_by_cublas<T>(ctx, alpha, products, beta);
  return true;
}

template <class T, class I>
bool spmm_by_library(const Context& ctx, const GpuProblem& problem, result_t<T> alpha,
                     const CsrView<T, Space::device, I>& a, DeviceStrided<const T> x, result_t<T> beta,
                     DeviceStrided<result_t<T>> y) {
  if (a.kept == nullptr || !policy_for<SparsePolicy>(ctx, problem, cusparse_found)) return false;
  multiply_by_cusparse<T, I>(ctx, alpha, a, x, beta, y);
  return true;
}

TS_FOR_EACH_TYPE(TS_INDEXED_FUNCTION, spmm_by_library)
#undef TS_INSTANTIATE_INDEX

TS_FOR_EACH_TYPE(TS_FUNCTION, inner_by_library)
TS_FOR_EACH_TYPE(TS_FUNCTION, product_by_library)

}  // namespace ts::inline v0::cuda
