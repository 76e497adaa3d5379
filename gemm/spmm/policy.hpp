// What specialises spmm/kernels/spmm_rows.cuh and spmm_long.cuh, and their arguments.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::cuda {

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
  unsigned* tickets;
  index_t rows, longest;   ///< spmm_rows: rows of Y, those with more entries than `longest` left out
  index_t ticket_count;    ///< spmm_rows: tickets to be set to zero
  const void* long_parts;  ///< spmm_long: the parts of long rows, ts::LongRowPart
  Result* partials;        ///< spmm_long: their sums
};

/// `lanes` lanes share the q columns of a row of X or Y, `vector` elements each and passes() times over.
struct SpmmPolicy {
  static constexpr char header[] = "tallskinny/gemm/spmm/policy.hpp";
  static constexpr char name[] = "ts::cuda::SpmmPolicy";
  template <class Result>
  using Arguments = SpmmArguments<Result>;

  DType type = DType::float64;
  int q = 1;
  int index_bytes = 4;     ///< of a column number
  bool conjugate = false;  ///< values count conjugated
  int vector = 1;
  int alignment = 8, out_alignment = 8;  ///< of rows of X and of Y
  bool strided = false;                  ///< X and Y may lie in any way (`vector` is 1 then), else they are row-major
  bool shifted = false;  ///< `diagonal` is added to the diagonal of A, and Y is read before the entries of A, not after
  int lanes = 1;         ///< a power of two
  int split = 1;         ///< teams of lanes that share the entries of a row, a power of two; lanes x split <= 32
  int unroll = 4;        ///< entries that a team has under way at the same time
  int blocks = 2;        ///< that a multiprocessor shall hold

  static constexpr int threads = 256;
  [[nodiscard]] constexpr int passes() const { return (q + vector * lanes - 1) / (vector * lanes); }
  [[nodiscard]] constexpr int group() const { return lanes * split; }
  /// Of a row of sums.
  [[nodiscard]] constexpr int row_bytes() const { return q * scalar_bytes(result_type_of(type)) * parts_of(type); }
  [[nodiscard]] constexpr int long_shared_bytes() const { return threads / lanes * row_bytes(); }

  static constexpr void members(auto& p, auto each) {
    each("type", p.type), each("q", p.q), each("index_bytes", p.index_bytes), each("conjugate", p.conjugate);
    each("vector", p.vector), each("alignment", p.alignment), each("out_alignment", p.out_alignment);
    each("strided", p.strided), each("shifted", p.shifted), each("lanes", p.lanes), each("split", p.split);
    each("unroll", p.unroll), each("blocks", p.blocks);
  }
  friend bool operator==(const SpmmPolicy&, const SpmmPolicy&) = default;
};

}  // namespace ts::cuda
