// The kernel families there are. A new one: its source in OP/kernels, its candidates in OP/plan.cpp,
// its line here.
#include "tallskinny/gemm/library/plan.hpp"
#include "tallskinny/gemm/norms/plan.hpp"
#include "tallskinny/gemm/project/plan.hpp"
#include "tallskinny/gemm/spmm/plan.hpp"
#include "tallskinny/gemm/trsm/plan.hpp"
#include "tallskinny/gemm/tsmm/plan.hpp"
#include "tallskinny/gemm/tsmttsm/plan.hpp"

namespace ts::inline v0::cuda {

namespace {
constexpr Family every_family[] = {{"column_norms", column_norms_candidates},
                                   {"project", project_candidates},
                                   {"spmm_rows", spmm_candidates},
                                   {"trsm", trsm_candidates},
                                   {"tsmm", tsmm_candidates},
                                   {"tsmm_wide", wide_candidates},
                                   {"tsmttsm", inner_candidates}};
constexpr Family every_library[] = {{"cublas", cublas_candidates}, {"cusparse", cusparse_candidates}};
}  // namespace

std::span<const Family> families() noexcept { return every_family; }
std::span<const Family> libraries() noexcept { return every_library; }

}  // namespace ts::inline v0::cuda
