// What specialises the kernels of this room, and their arguments.
#pragma once

#include "tallskinny/gemm/device/arguments.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// `lines` lines of `width` results each, `ld` apart.
template <class Result>
struct ScaleArguments {
  Result* a;
  index_t lines, width, ld;
  Result beta;
};

/// device/scale.cuh
struct ScalePolicy {
  template <class Result>
  using Arguments = ScaleArguments<Result>;

  DType type = DType::float64;  ///< a result type
  int vector = 1;               ///< elements moved at once, a divisor of width
  int alignment = 8;            ///< of these, in bytes

  static constexpr int threads = 256;

  TS_POLICY_OF(ScalePolicy, "tallskinny/gemm/device/policy.hpp", "ts::cuda::ScalePolicy", type, vector, alignment);
};

/// rows x cols elements; distances between neighbours in elements.
struct ConvertArguments {
  void* to;
  index_t to_ld;
  const void* from;
  index_t from_ld, rows, cols;
};

/// device/convert.cuh
struct ConvertPolicy {
  int bytes = 8, alignment = 8;  ///< of an element
  bool from_rows = true;         ///< neighbours of a row are contiguous in `from`, else those of a column

  static constexpr int threads = 256;
  static constexpr int tile_rows = 128, tile_cols = 16;
  [[nodiscard]] constexpr int shared_bytes() const { return (tile_rows + 1) * tile_cols * bytes; }  ///< static

  TS_POLICY(ConvertPolicy, ConvertArguments, "gemm/device/policy.hpp", bytes, alignment, from_rows);
};

/// C = alpha (the sum of `count` parts of `size` numbers, in their order) + beta C, rows x columns.
template <class Result>
struct SumPartsArguments {
  const void* parts;
  index_t size, count;
  index_t imaginary;  ///< how much later than real ones imaginary numbers lie
  Result* c;
  index_t row_stride, column_stride;
  Result* mirror;  ///< unless null, where the (conjugate) transpose of C goes, too
  index_t rows, columns;
  ScalarArgument alpha, beta;
  int adjoint;
  int triangle;  ///< what is on and above the diagonal is computed and mirrored
};

/// device/sum_parts.cuh
struct SumPartsPolicy {
  template <class Result>
  using Arguments = SumPartsArguments<Result>;

  DType type = DType::float64;  ///< of C
  bool of_results = false;  ///< parts hold numbers of C's type; else float64, real and imaginary parts by themselves

  static constexpr int threads = 256;

  TS_POLICY_OF(SumPartsPolicy, "tallskinny/gemm/device/policy.hpp", "ts::cuda::SumPartsPolicy", type, of_results);
};

}  // namespace ts::inline v0::cuda
