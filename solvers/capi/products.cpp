#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/capi/handles.hpp"
#include "tallskinny/solvers/driver/borrowed.hpp"

namespace {

using namespace ts;

template <class V>
inline constexpr bool is_dense = HostMatrix<V>;

/// The view of a dense matrix whose elements are T, its layout as two strides.
template <class T>
Strided<T> strided(const ts_matrix& m) {
  return capi::with_matrix<Strided<T>>(m, [](const auto& view) -> Strided<T> {
    using V = std::decay_t<decltype(view)>;
    if constexpr (is_dense<V>)
      if constexpr (std::is_same_v<typename V::value_type, T>) return Strided<T>(view);
    throw Error(Errc::invalid_argument, "the operands of a product have one element type, and are dense");
  });
}

/// work(a) with the strided view of a dense first operand.
template <class Work>
ts_status with_dense(const ts_context* ctx, const ts_matrix* a, const Work& work) {
  return capi::guarded([&] {
    expects(ctx != nullptr && a != nullptr, "the context or a matrix is null");
    capi::with_matrix<void>(*a, [&](const auto& view) {
      using V = std::decay_t<decltype(view)>;
      if constexpr (is_dense<V>)
        work(Strided<typename V::value_type>(view));
      else
        throw Error(Errc::invalid_argument, "this product takes dense matrices: ts_spmm takes a sparse one");
    });
  });
}

template <class T>
Strided<const T> read(const Strided<T>& a) {
  return a;
}

const ts_matrix& given(const ts_matrix* m) {
  expects(m != nullptr, "a matrix is null");
  return *m;
}

}  // namespace

ts_status ts_gram(ts_context* ctx, const ts_matrix* a, ts_matrix* c) {
  return with_dense(ctx, a, [&]<class T>(const Strided<T>& x) {
    detail::gram<T>(ctx->ctx, Op::adjoint, T{1}, read(x), T{0}, strided<T>(given(c)));
  });
}

ts_status ts_tsmttsm(ts_context* ctx, const ts_matrix* a, const ts_matrix* b, ts_matrix* c) {
  return with_dense(ctx, a, [&]<class T>(const Strided<T>& x) {
    detail::tsmttsm<T>(ctx->ctx, Op::adjoint, T{1}, read(x), read(strided<T>(given(b))), T{0}, strided<T>(given(c)));
  });
}

ts_status ts_tsmm(ts_context* ctx, const ts_matrix* x, const ts_matrix* s, ts_matrix* y) {
  return with_dense(ctx, x, [&]<class T>(const Strided<T>& tall) {
    detail::tsmm<T>(ctx->ctx, Op::none, T{1}, read(tall), read(strided<T>(given(s))), T{0}, strided<T>(given(y)));
  });
}

ts_status ts_spmm(ts_context* ctx, const ts_matrix* a, const ts_matrix* x, ts_matrix* y) {
  return capi::guarded([&] {
    expects(ctx != nullptr && a != nullptr, "the context or a matrix is null");
    const auto* sparse = std::get_if<capi::Sparse>(&a->matrix);
    expects(sparse != nullptr, "ts_spmm takes a sparse matrix: ts_tsmm takes dense ones");
    (void)solvers::check_csr(*sparse);
    detail::spmm<double>(ctx->ctx, Op::none, 1.0, *sparse, read(strided<double>(given(x))), 0.0,
                         strided<double>(given(y)));
  });
}
