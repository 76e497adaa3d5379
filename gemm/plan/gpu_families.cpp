// The kernel families there are. A new one: its source in backend/cuda/kernels, its candidates in OP/cuda,
// its line here.
#include "tallskinny/gemm/backend/cuda/inner_kernel.hpp"
#include "tallskinny/gemm/backend/cuda/wide_plan.hpp"
#include "tallskinny/gemm/norms/cuda/column_norms_kernel.hpp"
#include "tallskinny/gemm/project/cuda/project_kernel.hpp"
#include "tallskinny/gemm/spmm/cuda/spmm_kernel.hpp"
#include "tallskinny/gemm/trsm/cuda/trsm_kernel.hpp"
#include "tallskinny/gemm/tsmm/cuda/tsmm_kernel.hpp"

namespace ts::cuda {

namespace {
constexpr Family every_family[] = {{"column_norms", column_norms_candidates},
                                   {"project", project_candidates},
                                   {"spmm_rows", spmm_candidates},
                                   {"trsm", trsm_candidates},
                                   {"tsmm", tsmm_candidates},
                                   {"tsmm_wide", wide_candidates},
                                   {"tsmttsm", inner_candidates}};
}

std::span<const Family> families() noexcept {
  return every_family;
}

}  // namespace ts::cuda
