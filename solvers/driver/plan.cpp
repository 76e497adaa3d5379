#include "tallskinny/solvers/driver/plan.hpp"

#include <algorithm>

#include "tallskinny/solvers/driver/svd.hpp"
#include "tallskinny/solvers/eigen/general/whole.hpp"

namespace ts::inline v0::solvers {

namespace {

/// The matrix is decomposed as a whole.
void take_whole(DenseTask task, const MatrixFacts& a, const EigenOptions& options, SearchPlan& plan) {
  plan.whole = task;
  plan.small = task != DenseTask::singular && options.method == Method::automatic && a.rows < whole_on_device_asked;
  plan.work = work_of_decomposition(task, a.rows, a.cols, a.element_bytes);
}

}  // namespace

SearchPlan plan_hermitian(const MatrixFacts& a, const HermitianRequest& request, const EigenOptions& options,
                          bool pencil, index_t initial) {
  const double entries = request.dense && !pencil ? static_cast<double>(a.entries) : 0;
  SearchPlan plan;
  plan.eigen = plan_eigen(a.rows, a.element_bytes, options, initial, entries);
  if (plan.eigen.method == Method::dense)
    take_whole(DenseTask::hermitian, a, options, plan);
  else if (search_of(request, plan.eigen).factorise != Factorise::needed)
    plan.work = work_of_search(plan.eigen, a.rows, a.element_bytes, a.bytes);
  // Memory and work of factors are known only after their analysis, and are mostly those of the processor.
  if (pencil) plan.work = {};
  return plan;
}

SearchPlan plan_general(const MatrixFacts& a, const GeneralRequest& request, const EigenOptions& options) {
  SearchPlan plan;
  if (is_whole(a.rows, options)) {
    take_whole(DenseTask::general, a, options, plan);
  } else if (!request.sigma) {
    plan.eigen.block_size = std::max(options.block_size, general_block);
    plan.eigen.max_basis = 2 * options.nev + 8 * plan.eigen.block_size;
    plan.work = work_of_search(plan.eigen, a.rows, a.element_bytes, a.bytes);
  }
  return plan;
}

SearchPlan plan_svd(const MatrixFacts& a, const EigenOptions& options) {
  const index_t shorter = std::min(a.rows, a.cols);
  SearchPlan plan;
  plan.eigen = plan_eigen(shorter, a.element_bytes, options);
  if (seeks_smallest(options.which)) return plan;
  if (!a.sparse && a.entries == a.rows * a.cols && svd_takes_whole(a.rows, a.cols, plan.eigen.nev)) {
    take_whole(DenseTask::singular, a, options, plan);
  } else {
    plan.work = work_of_search(plan.eigen, shorter, a.element_bytes, 2 * a.bytes);
    plan.work.sent = static_cast<double>(a.bytes);
  }
  return plan;
}

}  // namespace ts::inline v0::solvers
