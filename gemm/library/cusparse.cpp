#include "tallskinny/gemm/library/calls.hpp"

#include <cusparse.h>

#include <map>
#include <tuple>
#include <vector>

#include "tallskinny/gemm/library/data_type.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/vendor_library.hpp"

namespace ts::inline v0::cuda {

namespace {

struct Cusparse : VendorLibrary {
  decltype(&cusparseCreate) create = find("cusparseCreate");
  decltype(&cusparseDestroy) destroy = find("cusparseDestroy");
  decltype(&cusparseSetStream) set_stream = find("cusparseSetStream");
  decltype(&cusparseCreateCsr) make_csr = find("cusparseCreateCsr");
  decltype(&cusparseDestroySpMat) drop_csr = find("cusparseDestroySpMat");
  decltype(&cusparseCreateDnMat) make_dense = find("cusparseCreateDnMat");
  decltype(&cusparseDestroyDnMat) drop_dense = find("cusparseDestroyDnMat");
  decltype(&cusparseSpMM_bufferSize) buffer_bytes = find("cusparseSpMM_bufferSize");
  decltype(&cusparseSpMM_preprocess) prepare = find("cusparseSpMM_preprocess");
  decltype(&cusparseSpMM) multiply = find("cusparseSpMM");

  Cusparse() : VendorLibrary({"libcusparse.so.12"}) {}
};

const Cusparse& cusparse() {
  static const Cusparse library;
  return library;
}

void check(cusparseStatus_t status) { expect_success("cuSPARSE", static_cast<int>(status)); }

/// Of a stream.
struct SparseHandle {
  explicit SparseHandle(const Stream& stream) {
    stream.with_device([&] { check(cusparse().create(&handle)); });
    check(cusparse().set_stream(handle, stream.handle()));
  }
  ~SparseHandle() { cusparse().destroy(handle); }
  SparseHandle(const SparseHandle&) = delete;
  SparseHandle& operator=(const SparseHandle&) = delete;
  cusparseHandle_t handle = nullptr;
};

struct Dense {
  template <class T>
  explicit Dense(const DeviceStrided<T>& v) {
    using Element = std::remove_const_t<T>;
    check(cusparse().make_dense(&matrix, v.rows, v.cols, v.row_stride, const_cast<Element*>(v.data),
                                data_type<Element>(), CUSPARSE_ORDER_ROW));
  }
  ~Dense() { cusparse().drop_dense(matrix); }
  Dense(const Dense&) = delete;
  Dense& operator=(const Dense&) = delete;
  cusparseDnMatDescr_t matrix = nullptr;
};

/// The row pointers of a matrix in the type of its column numbers, which the library wants of both.
template <class I>
struct Pointers {
  template <class T>
  Pointers(const Stream& stream, const CsrView<T, Space::device, I>& a) : data(a.pointers) {
    if constexpr (sizeof(I) < sizeof(index_t)) {
      const auto count = static_cast<std::size_t>(a.rows) + 1;
      std::vector<index_t> pointers(count);
      copy_bytes(stream, pointers.data(), a.pointers, count * sizeof(index_t));
      stream.synchronize();
      const std::vector<I> narrow(pointers.begin(), pointers.end());
      memory = Memory(stream, count * sizeof(I));
      copy_bytes(stream, memory.data(), narrow.data(), memory.bytes());
      stream.synchronize();
      data = memory.data();
    }
  }
  Memory memory;
  const void* data;
};

struct Sparse {
  template <class T, class I>
  Sparse(const CsrView<T, Space::device, I>& a, const void* pointers) {
    const auto type = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    check(cusparse().make_csr(&matrix, a.rows, a.cols, a.stored, const_cast<void*>(pointers), const_cast<I*>(a.indices),
                              const_cast<T*>(a.values), type, type, CUSPARSE_INDEX_BASE_ZERO, data_type<T>()));
  }
  ~Sparse() { cusparse().drop_csr(matrix); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  cusparseSpMatDescr_t matrix = nullptr;
};

/// One product as the library is asked for it.
template <class R>
struct Asked {
  static constexpr auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr auto algorithm = CUSPARSE_SPMM_CSR_ALG3;
  cusparseHandle_t handle;
  const Dense &x, &y;
  alignas(16) R alpha;  // the library reads pairs of float64 sixteen bytes at once
  alignas(16) R beta;

  template <class Function, class... More>
  void call(Function function, const Sparse& a, More... more) const {
    check(
        function(handle, none, none, &alpha, a.matrix, x.matrix, &beta, y.matrix, data_type<R>(), algorithm, more...));
  }
};

/// A, prepared for one width and the distances of rows.
struct Prepared {
  template <class T, class I, class R>
  Prepared(const Stream& stream, const CsrView<T, Space::device, I>& view, const Asked<R>& asked)
      : a(view, view.kept->template get<Pointers<I>>(stream, view).data) {
    std::size_t bytes = 0;
    asked.call(cusparse().buffer_bytes, a, &bytes);
    buffer = Memory(stream, std::max<std::size_t>(bytes, 256));
    asked.call(cusparse().prepare, a, buffer.data());
  }
  Sparse a;
  Memory buffer;
};

struct AllPrepared {
  std::map<std::tuple<index_t, index_t, index_t>, Prepared> all;
};

}  // namespace

bool cusparse_found() { return cusparse().complete(); }

template <class T, class I>
void multiply_by_cusparse(const Context& ctx, result_t<T> alpha, const CsrView<T, Space::device, I>& a,
                          DeviceStrided<const T> x, result_t<T> beta, DeviceStrided<result_t<T>> y) {
  const Stream& stream = ctx.stream;
  if (stream.rehearsal() != nullptr) return;
  stream.with_device([&] {
    const Dense there_x(x), there_y(y);
    const Asked<result_t<T>> asked{stream.kept<SparseHandle>().handle, there_x, there_y, alpha, beta};
    auto& all = a.kept->template get<AllPrepared>().all;
    const std::tuple key(x.cols, x.row_stride, y.row_stride);
    const Prepared& prepared = all.try_emplace(key, stream, a, asked).first->second;
    asked.call(cusparse().multiply, prepared.a, prepared.buffer.data());
  });
}

TS_FOR_EACH_TYPE(TS_INDEXED_FUNCTION, multiply_by_cusparse)
#undef TS_INSTANTIATE_INDEX

}  // namespace ts::inline v0::cuda
