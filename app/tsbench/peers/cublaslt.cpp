// cuBLASLt: every algorithm that its heuristic proposes for a product.
#include <cublasLt.h>

#include "tallskinny/app/tsbench/peers/vendor.hpp"

namespace ts::bench {

namespace {

constexpr int most_algorithms = 16;
constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

struct Lt : VendorLibrary {
  decltype(&cublasLtCreate) create = find("cublasLtCreate");
  decltype(&cublasLtMatmulDescCreate) make_task = find("cublasLtMatmulDescCreate");
  decltype(&cublasLtMatmulDescSetAttribute) set_task = find("cublasLtMatmulDescSetAttribute");
  decltype(&cublasLtMatmulDescDestroy) drop_task = find("cublasLtMatmulDescDestroy");
  decltype(&cublasLtMatrixLayoutCreate) make_layout = find("cublasLtMatrixLayoutCreate");
  decltype(&cublasLtMatrixLayoutDestroy) drop_layout = find("cublasLtMatrixLayoutDestroy");
  decltype(&cublasLtMatmulPreferenceCreate) make_preference = find("cublasLtMatmulPreferenceCreate");
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = find("cublasLtMatmulPreferenceSetAttribute");
  decltype(&cublasLtMatmulPreferenceDestroy) drop_preference = find("cublasLtMatmulPreferenceDestroy");
  decltype(&cublasLtMatmulAlgoGetHeuristic) propose = find("cublasLtMatmulAlgoGetHeuristic");
  decltype(&cublasLtMatmul) multiply = find("cublasLtMatmul");
  cublasLtHandle_t handle = nullptr;  ///< none where the library is not there

  Lt() : VendorLibrary({"libcublasLt.so.13", "libcublasLt.so.12"}) {
    if (complete() && create(&handle) != CUBLAS_STATUS_SUCCESS) handle = nullptr;
  }
};

const Lt& lt() {
  static const Lt library;
  return library;
}

void check_lt(cublasStatus_t status) { expect_success("cuBLASLt", static_cast<int>(status)); }

/// A product of one shape as the library describes it.
template <class T>
class LtTask {
 public:
  explicit LtTask(const DenseProduct<T>& p) : m_(p.m), n_(p.n), k_(p.k) {
    check_lt(lt().make_task(&task_, compute_type<T>(), data_type<result_t<T>>()));
    check_lt(lt().set_task(task_, CUBLASLT_MATMUL_DESC_TRANSA, &p.op_a, sizeof p.op_a));
    check_lt(lt().set_task(task_, CUBLASLT_MATMUL_DESC_TRANSB, &p.op_b, sizeof p.op_b));
    const auto layout = [](cublasLtMatrixLayout_t* to, cudaDataType_t type, cublasOperation_t op, index_t rows,
                           index_t columns, index_t ld) {
      if (op != CUBLAS_OP_N) std::swap(rows, columns);
      check_lt(lt().make_layout(to, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), ld));
    };
    layout(&a_, data_type<T>(), p.op_a, p.m, p.k, p.lda);
    layout(&b_, data_type<T>(), p.op_b, p.k, p.n, p.ldb);
    layout(&c_, data_type<result_t<T>>(), CUBLAS_OP_N, p.m, p.n, p.ldc);
  }
  ~LtTask() {
    for (cublasLtMatrixLayout_t layout : {a_, b_, c_})
      if (layout != nullptr) lt().drop_layout(layout);
    if (task_ != nullptr) lt().drop_task(task_);
  }
  LtTask(const LtTask&) = delete;
  LtTask& operator=(const LtTask&) = delete;

  [[nodiscard]] bool fits(const DenseProduct<T>& p) const { return p.m == m_ && p.n == n_ && p.k == k_; }

  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> algorithms() const {
    cublasLtMatmulPreference_t preference = nullptr;
    check_lt(lt().make_preference(&preference));
    lt().set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes);
    std::array<cublasLtMatmulHeuristicResult_t, most_algorithms> found{};
    int count = 0;
    if (lt().propose(lt().handle, task_, a_, b_, c_, c_, preference, most_algorithms, found.data(), &count) !=
        CUBLAS_STATUS_SUCCESS)
      count = 0;
    lt().drop_preference(preference);
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < count; ++i)
      if (found[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
        algorithms.push_back(found[static_cast<std::size_t>(i)].algo);
    return algorithms;
  }

  void run(const Context& ctx, const DenseProduct<T>& p, const cublasLtMatmulAlgo_t& algorithm,
           const cuda::Memory& workspace) const {
    const result_t<T> one{1}, zero{};
    check_lt(lt().multiply(lt().handle, task_, &one, p.a, a_, p.b, b_, &zero, p.c, c_, p.c, c_, &algorithm,
                           workspace.data(), workspace.bytes(), ctx.stream.handle()));
  }

 private:
  index_t m_, n_, k_;
  cublasLtMatmulDesc_t task_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
};

}  // namespace

template <class T>
void add_cublaslt_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers) {
  const auto product = product_of(example);
  if (!product || lt().handle == nullptr) return;
  static const cuda::Memory workspace(ctx.stream, workspace_bytes);
  const LtTask<T> whole(*product);
  for (const cublasLtMatmulAlgo_t& algorithm : whole.algorithms()) {
    auto task = std::make_shared<std::unique_ptr<LtTask<T>>>();  // of the shape it last ran with
    peers.push_back({"vendor", "lt", [=](const DeviceOperands<T>& o) {
                       const DenseProduct<T> p = *product_of(o);
                       if (!*task || !(*task)->fits(p)) *task = std::make_unique<LtTask<T>>(p);
                       (*task)->run(ctx, p, algorithm, workspace);
                     }});
  }
}
#define TS_INSTANTIATE(T) \
  template void add_cublaslt_peers<T>(const Context&, const DeviceOperands<T>&, std::vector<DevicePeer<T>>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
