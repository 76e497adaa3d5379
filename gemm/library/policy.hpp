// How a product is cut where cuBLAS computes it.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::cuda {

/// A value as plans show it; no kernel is compiled with it.
struct ProductPolicy {
  static constexpr char header[] = "tallskinny/gemm/library/policy.hpp";
  static constexpr char name[] = "ts::cuda::ProductPolicy";

  /// Rows of a sum over rows that the library adds up in the type of the result; what they give is added in float64.
  /// 0: all of them.
  int slab_rows = 0;
  /// Columns of a Gram matrix's blocks, of which those on and above the diagonal are computed. 0: all of them.
  int panel = 0;

  static constexpr void members(auto& p, auto each) { each("slab_rows", p.slab_rows), each("panel", p.panel); }
  friend bool operator==(const ProductPolicy&, const ProductPolicy&) = default;
};

}  // namespace ts::cuda
