// What specialises the kernels of this room, and their arguments.
#pragma once

#include "tallskinny/gemm/core/csr_parts_policy.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// op(A) in compressed sparse rows with 64-bit row pointers.
struct SparseArgument {
  const index_t* pointers;
  const void *indices, *values;
};
/// Rows of X or Y.
template <class Pointer>
struct RowsOf {
  Pointer data;
  index_t row_stride, column_stride;
};
/// Y = alpha (op(A) + diagonal I) X + beta Y.
template <class Result>
struct SpmmArguments {
  SparseArgument a;
  RowsOf<const void*> x;
  RowsOf<void*> y;
  Result alpha, beta, diagonal;
  index_t rows;
  CsrParts parts;   ///< spmm_parts and spmm_splits
  Result* carries;  ///< of each part, its sum of the row that it does not end
};

/// `lanes` lanes share the q columns of a row of X or Y, `vector` elements each and passes() times over.
struct SpmmPolicy {
  template <class Result>
  using Arguments = SpmmArguments<Result>;

  DType type = DType::float64;
  int q = 1;
  int index_bytes = 4;     ///< of a column number
  bool conjugate = false;  ///< values count conjugated
  int vector = 1;
  int alignment = 8, out_alignment = 8;  ///< of rows of X and of Y
  bool strided = false;                  ///< X and Y may lie in any way (`vector` is 1 then), else they are row-major
  bool shifted = false;                  ///< `diagonal` is added to the diagonal of A
  bool by_parts = false;                 ///< a warp sums a part of the matrix, not whole rows
  int lanes = 1;                         ///< a power of two
  int split = 1;   ///< teams of lanes that share the entries of a row, a power of two; lanes x split <= 32; 0: by parts
  int unroll = 4;  ///< entries that a team has under way at the same time
  int blocks = 2;  ///< that a multiprocessor shall hold

  static constexpr int threads = 256;
  [[nodiscard]] constexpr int passes() const { return (q + vector * lanes - 1) / (vector * lanes); }
  [[nodiscard]] constexpr int group() const { return lanes * split; }
  /// Of a row of sums.
  [[nodiscard]] constexpr int row_bytes() const { return q * scalar_bytes(result_type_of(type)) * parts_of(type); }
  /// Of a part in shared memory: values, columns, and a byte for each unit.
  [[nodiscard]] constexpr int part_bytes() const {
    return csr_part * (scalar_bytes(type) * parts_of(type) + index_bytes + 1);
  }

  TS_POLICY_OF(SpmmPolicy, "tallskinny/gemm/spmm/policy.hpp", "ts::cuda::SpmmPolicy", type, q, index_bytes, conjugate,
               vector, alignment, out_alignment, strided, shifted, by_parts, lanes, split, unroll, blocks);
};

/// R = A X - X diag(theta).
struct ResidualArguments {
  SparseArgument a;
  RowsOf<const void*> x;
  RowsOf<void*> r;
  const double* theta;
  index_t rows, columns;
};

/// spmm/kernels/residual_rows.cuh: one kernel for every number of columns, `lanes` of them at a time, a lane each.
struct ResidualPolicy {
  DType type = DType::float64;  ///< one of the four result types
  int index_bytes = 4;          ///< of a column number
  int split = 1;                ///< teams of lanes that share the entries of a row: 1, 2 or 4

  static constexpr int threads = 256, lanes = 8, unroll = 4;
  static constexpr int longest_of_team = 256;  ///< entries: longer rows are a block's
  [[nodiscard]] constexpr int blocks() const { return type == DType::complex128 ? 2 : 3; }  ///< of a multiprocessor
  [[nodiscard]] constexpr int group() const { return lanes * split; }
  /// Static: the sums of each warp.
  [[nodiscard]] constexpr int shared_bytes() const { return threads / 32 * lanes * parts_of(type) * 16; }

  TS_POLICY(ResidualPolicy, ResidualArguments, "gemm/spmm/policy.hpp", type, index_bytes, split);
};

}  // namespace ts::inline v0::cuda
