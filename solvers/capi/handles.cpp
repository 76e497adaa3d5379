#include "tallskinny/solvers/capi/handles.hpp"

#include "tallskinny/gemm/core/error_name.hpp"

namespace {
thread_local std::string last_error;

using namespace ts;

template <Layout L>
capi::Dense<L> dense_of(const DLTensor& t) {
  if (holds<double>(t)) return dl_view<double, Space::host, L>(t);
  if (holds<float>(t)) return dl_view<float, Space::host, L>(t);
  if (holds<std::complex<double>>(t)) return dl_view<std::complex<double>, Space::host, L>(t);
  if (holds<std::complex<float>>(t)) return dl_view<std::complex<float>, Space::host, L>(t);
  throw Error(Errc::invalid_argument,
              "a DLPack tensor is of another type than float32, float64, complex64, complex128");
}

template <class Made>
ts_status make_matrix(ts_matrix** out, const Made& made) {
  return capi::guarded([&] {
    expects(out != nullptr, "`out` is null");
    auto matrix = std::make_unique<ts_matrix>();
    made(*matrix);
    *out = matrix.release();
  });
}

}  // namespace

ts_status ts::capi::failed(ts_status status, const char* sentence) noexcept {
  try {
    last_error = sentence;
  } catch (const std::exception&) {
    last_error.clear();
  }
  return status;
}

static_assert(TS_INTERRUPTED == static_cast<int>(ts::Errc::interrupted) + 1, "one status for each code");

const char* ts_version(void) { return TS_VERSION; }
const char* ts_last_error(void) { return last_error.c_str(); }

const char* ts_status_name(ts_status status) {
  return status == TS_OK ? "ok" : to_string(static_cast<Errc>(static_cast<int>(status) - 1));
}

ts_status ts_context_create(int threads, ts_context** out) {
  return capi::guarded([&] {
    expects(out != nullptr, "`out` is null");
    expects(threads >= 0, "`threads` is negative");
    auto made = std::make_unique<ts_context>();
    made->ctx.threads = threads;
    *out = made.release();
  });
}
ts_status ts_context_use_device(ts_context* ctx, int device) {
  return capi::guarded([&] {
    expects(ctx != nullptr, "the context is null");
    ctx->ctx.stream = cuda::Stream(device);
  });
}
void ts_context_destroy(ts_context* ctx) { delete ctx; }

ts_status ts_matrix_from_dlpack(DLManagedTensor* tensor, ts_matrix** out) {
  DLOwner owner(tensor);
  return make_matrix(out, [&](ts_matrix& m) {
    expects(tensor != nullptr, "the tensor is null");
    m.owner = std::move(owner);
    const DLTensor& t = tensor->dl_tensor;
    if (has_layout<Layout::row_major>(t))
      m.matrix = dense_of<Layout::row_major>(t);
    else
      m.matrix = dense_of<Layout::col_major>(t);
  });
}
ts_status ts_matrix_dense(double* data, int64_t rows, int64_t cols, int64_t ld, ts_matrix** out) {
  return make_matrix(
      out, [&](ts_matrix& m) { m.matrix = capi::Dense<Layout::row_major>(HostView<double>(data, rows, cols, ld)); });
}
ts_status ts_matrix_csr(int64_t rows, int64_t cols, const int64_t* pointers, const int32_t* columns,
                        const double* values, ts_matrix** out) {
  return make_matrix(out, [&](ts_matrix& m) {
    expects(rows >= 0 && cols >= 0, "a sparse matrix has negative rows or columns");
    expects(rows == 0 || pointers != nullptr, "a sparse matrix has rows but no row pointers");
    m.matrix = capi::Sparse{rows, cols, pointers, columns, values};
  });
}
ts_status ts_matrix_from_function(int64_t n, ts_apply apply, void* user, ts_matrix** out) {
  return make_matrix(out, [&](ts_matrix& m) {
    expects(n >= 0 && apply != nullptr, "a matrix that is a function has negative rows or no function");
    m.matrix = capi::Function{n, apply, user};
  });
}
void ts_matrix_destroy(ts_matrix* matrix) { delete matrix; }

int ts_result_converged(const ts_result* result) { return result != nullptr && result->converged ? 1 : 0; }
int ts_result_complete(const ts_result* result) { return result != nullptr && result->complete ? 1 : 0; }
const char* ts_result_reason(const ts_result* result) { return result == nullptr ? "" : result->reason.c_str(); }

ts_status ts_result_array(const ts_result* result, ts_array which, DLManagedTensor** out) {
  return capi::guarded([&] {
    expects(result != nullptr && out != nullptr, "the result or `out` is null");
    const auto found = result->arrays.find(which);
    expects(found != result->arrays.end(), "this result has no such array");
    const auto& a = found->second;
    *out = dl_tensor(result->owner, a.data, a.type, a.shape, a.dimensions);
  });
}
ts_status ts_result_number(const ts_result* result, ts_number which, double* out) {
  return capi::guarded([&] {
    expects(result != nullptr && out != nullptr, "the result or `out` is null");
    const auto found = result->numbers.find(which);
    expects(found != result->numbers.end(), "this result has no such number");
    *out = found->second;
  });
}
void ts_result_destroy(ts_result* result) { delete result; }
