// cuSPARSE: every algorithm for a sparse matrix times a block, and times a vector.
#include <cusparse.h>

#include <memory>

#include "tallskinny/app/tsbench/peers/vendor.hpp"

namespace ts::bench {

namespace {

struct Sparse : VendorLibrary {
  decltype(&cusparseCreate) create = find("cusparseCreate");
  decltype(&cusparseGetProperty) property = find("cusparseGetProperty");
  decltype(&cusparseSetStream) set_stream = find("cusparseSetStream");
  decltype(&cusparseCreateCsr) make_csr = find("cusparseCreateCsr");
  decltype(&cusparseDestroySpMat) drop_csr = find("cusparseDestroySpMat");
  decltype(&cusparseCreateDnMat) make_dense = find("cusparseCreateDnMat");
  decltype(&cusparseDestroyDnMat) drop_dense = find("cusparseDestroyDnMat");
  decltype(&cusparseCreateDnVec) make_vector = find("cusparseCreateDnVec");
  decltype(&cusparseDestroyDnVec) drop_vector = find("cusparseDestroyDnVec");
  decltype(&cusparseSpMM_bufferSize) block_bytes = find("cusparseSpMM_bufferSize");
  decltype(&cusparseSpMM_preprocess) block_prepare = find("cusparseSpMM_preprocess");
  decltype(&cusparseSpMM) block = find("cusparseSpMM");
  decltype(&cusparseSpMV_bufferSize) vector_bytes = find("cusparseSpMV_bufferSize");
  decltype(&cusparseSpMV) vector = find("cusparseSpMV");
  cusparseHandle_t handle = nullptr;  ///< none where the library is not there

  Sparse() : VendorLibrary({"libcusparse.so.12"}) {
    if (complete() && create(&handle) != CUSPARSE_STATUS_SUCCESS) handle = nullptr;
  }
};

const Sparse& sparse() {
  static const Sparse library;
  return library;
}

void check(cusparseStatus_t status) { expect_success("cuSPARSE", static_cast<int>(status)); }

/// The operands of one case as the library describes them, and the buffer that one algorithm wants.
template <class T>
class SparseTask {
 public:
  using R = result_t<T>;
  SparseTask(const Context& ctx, const DeviceOperands<T>& o, bool vector, int algorithm)
      : vector_(vector), algorithm_(algorithm) {
    check(sparse().set_stream(sparse().handle, ctx.stream.handle()));
    check(sparse().make_csr(&a_, o.sparse.rows, o.sparse.cols, o.sparse.stored,
                            const_cast<std::int32_t*>(o.short_pointers), const_cast<std::int32_t*>(o.sparse.indices),
                            const_cast<T*>(o.sparse.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, data_type<T>()));
    T* const x = const_cast<T*>(o.x.data);
    const cusparseOrder_t order = by_rows(o) ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    std::size_t bytes = 0;
    if (vector) {
      check(sparse().make_vector(&x_, o.x.rows, x, data_type<T>()));
      check(sparse().make_vector(&y_, o.out.rows, o.out.data, data_type<R>()));
      check(sparse().vector_bytes(sparse().handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, a_, x_, &zero_, y_,
                                  data_type<R>(), static_cast<cusparseSpMVAlg_t>(algorithm), &bytes));
      buffer_ = cuda::Memory(ctx.stream, std::max<std::size_t>(bytes, 256));
      return;
    }
    check(sparse().make_dense(&xs_, o.x.rows, o.x.cols, ld_of(o.x), x, data_type<T>(), order));
    check(sparse().make_dense(&ys_, o.out.rows, o.out.cols, ld_of(o.out), o.out.data, data_type<R>(), order));
    const auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const auto way = static_cast<cusparseSpMMAlg_t>(algorithm);
    check(sparse().block_bytes(sparse().handle, none, none, &one_, a_, xs_, &zero_, ys_, data_type<R>(), way, &bytes));
    buffer_ = cuda::Memory(ctx.stream, std::max<std::size_t>(bytes, 256));
    check(sparse().block_prepare(sparse().handle, none, none, &one_, a_, xs_, &zero_, ys_, data_type<R>(), way,
                                 buffer_.data()));
  }
  ~SparseTask() {
    if (x_ != nullptr) sparse().drop_vector(x_);
    if (y_ != nullptr) sparse().drop_vector(y_);
    if (xs_ != nullptr) sparse().drop_dense(xs_);
    if (ys_ != nullptr) sparse().drop_dense(ys_);
    if (a_ != nullptr) sparse().drop_csr(a_);
  }
  SparseTask(const SparseTask&) = delete;
  SparseTask& operator=(const SparseTask&) = delete;

  void run() const {
    const auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (vector_)
      check(sparse().vector(sparse().handle, none, &one_, a_, x_, &zero_, y_, data_type<R>(),
                            static_cast<cusparseSpMVAlg_t>(algorithm_), buffer_.data()));
    else
      check(sparse().block(sparse().handle, none, none, &one_, a_, xs_, &zero_, ys_, data_type<R>(),
                           static_cast<cusparseSpMMAlg_t>(algorithm_), buffer_.data()));
  }

 private:
  bool vector_;
  int algorithm_;
  alignas(16) R one_{1};  // as the library reads pairs of float64
  alignas(16) R zero_{};
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  cusparseDnMatDescr_t xs_ = nullptr, ys_ = nullptr;
  cuda::Memory buffer_;
};

}  // namespace

template <class T>
void add_cusparse_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers) {
  if (example.problem.operation != Operation::spmm || sparse().handle == nullptr) return;
  const auto add = [&](const char* name, bool vector, int algorithm) {
    auto tasks = std::make_shared<std::vector<std::pair<const void*, std::unique_ptr<SparseTask<T>>>>>();
    peers.push_back({"vendor", name, [=](const DeviceOperands<T>& o) {  // one task for each set of operands
                       for (const auto& [data, task] : *tasks)
                         if (data == o.x.data) return task->run();
                       tasks->emplace_back(o.x.data, std::make_unique<SparseTask<T>>(ctx, o, vector, algorithm));
                       tasks->back().second->run();
                     }});
  };
  add("spmm1", false, CUSPARSE_SPMM_CSR_ALG1);
  add("spmm2", false, CUSPARSE_SPMM_CSR_ALG2);
  add("spmm3", false, CUSPARSE_SPMM_CSR_ALG3);
  if (example.x.cols == 1 && example.x.row_stride == 1 && example.out.row_stride == 1) {
    add("spmv1", true, CUSPARSE_SPMV_CSR_ALG1);
    add("spmv2", true, CUSPARSE_SPMV_CSR_ALG2);
  }
}
#define TS_INSTANTIATE(T) \
  template void add_cusparse_peers<T>(const Context&, const DeviceOperands<T>&, std::vector<DevicePeer<T>>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

std::string cusparse_version() { return sparse().handle != nullptr ? version_by(sparse().property) : std::string(); }

}  // namespace ts::bench
