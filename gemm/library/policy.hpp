// How a product is computed where a library does it.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::inline v0::cuda {

/// A value as plans show it; no kernel is compiled with it.
struct ProductPolicy {
  static constexpr char header[] = "tallskinny/gemm/library/policy.hpp";
  static constexpr char name[] = "ts::cuda::ProductPolicy";

  /// Rows of a sum over rows that the library adds up in the type of the result; what they give is added in float64.
  /// 0: all of them.
  int slab_rows = 0;
  /// Columns of a Gram matrix's blocks, of which those on and above the diagonal are computed. 0: all of them.
  int panel = 0;
  /// A Gram matrix by the library's rank update of all rows (syrk, herk), which computes one triangle.
  bool rank_update = false;

  static constexpr void members(auto& p, auto each) {
    each("slab_rows", p.slab_rows), each("panel", p.panel), each("rank_update", p.rank_update);
  }
  friend bool operator==(const ProductPolicy&, const ProductPolicy&) = default;
};

/// The algorithm of cuSPARSE for a sparse matrix times a block.
struct SparsePolicy {
  static constexpr char header[] = "tallskinny/gemm/library/policy.hpp";
  static constexpr char name[] = "ts::cuda::SparsePolicy";

  int csr_algorithm = 3;  ///< CUSPARSE_SPMM_CSR_ALG3

  static constexpr void members(auto& p, auto each) { each("csr_algorithm", p.csr_algorithm); }
  friend bool operator==(const SparsePolicy&, const SparsePolicy&) = default;
};

}  // namespace ts::inline v0::cuda
