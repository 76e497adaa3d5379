// How a product is computed where a library does it.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// A value as plans show it; no kernel is compiled with it.
struct ProductPolicy {
  /// Rows of a sum over rows that the library adds up in the type of the result; what they give is added in float64.
  /// 0: all of them.
  int slab_rows = 0;
  /// Columns of a Gram matrix's blocks, of which those on and above the diagonal are computed. 0: all of them.
  int panel = 0;
  /// A Gram matrix by the library's rank update of all rows (syrk, herk), which computes one triangle.
  bool rank_update = false;

  TS_POLICY_OF(ProductPolicy, "tallskinny/gemm/library/policy.hpp", "ts::cuda::ProductPolicy", slab_rows, panel,
               rank_update);
};

/// The algorithm of cuSPARSE for a sparse matrix times a block.
struct SparsePolicy {
  int csr_algorithm = 3;  ///< CUSPARSE_SPMM_CSR_ALG3

  TS_POLICY_OF(SparsePolicy, "tallskinny/gemm/library/policy.hpp", "ts::cuda::SparsePolicy", csr_algorithm);
};

}  // namespace ts::inline v0::cuda
