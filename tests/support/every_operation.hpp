// Every operation of the engine on one set of operands in device memory: what is said of all operations is
// tested of all operations.
#pragma once

#include "tallskinny/gemm/device/convert.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/device.hpp"

namespace ts::test {

/// A matrix with a gap of `padding` elements between its lines, filled with numbers in [-1, 1), gaps too.
template <class T, Layout L>
class DeviceOperandOf {
 public:
  DeviceOperandOf(const cuda::Stream& stream, index_t rows, index_t cols, index_t padding, Values& values)
      : whole_(stream, rows + (L == Layout::col_major ? padding : 0), cols + (L == Layout::row_major ? padding : 0)),
        rows_(rows),
        cols_(cols),
        host_(stream.rehearsal() != nullptr ? 0 : static_cast<std::size_t>(whole_.rows() * whole_.cols())) {
    for (T& x : host_) {
      const double re = values.uniform();
      x = element<T>(re, values.uniform());
    }
    refill(stream);
    stream.synchronize();
  }
  [[nodiscard]] DeviceView<T, L> view() { return whole_.view().block(0, 0, rows_, cols_); }
  /// Restores the elements that the constructor set.
  void refill(const cuda::Stream& stream) {
    cuda::copy_bytes(stream, whole_.data(), host_.data(), host_.size() * sizeof(T));
  }
  /// Appends all bytes to `bits`.
  void append_to(std::vector<unsigned char>& bits, const cuda::Stream& stream) const {
    const std::size_t size = host_.size() * sizeof(T);
    bits.resize(bits.size() + size);
    cuda::copy_bytes(stream, bits.data() + bits.size() - size, whole_.data(), size);
    stream.synchronize();
  }

 private:
  DeviceMatrix<T, L> whole_;
  index_t rows_, cols_;
  std::vector<T> host_;
};

/// X and V are n x p, W and Y n x q. Small factors are row-major.
template <class T, Layout L = Layout::row_major>
class EveryOperation {
  using R = result_t<T>;
  template <class E>
  using Tall = DeviceOperandOf<E, L>;
  template <class E>
  using Small = DeviceOperandOf<E, Layout::row_major>;

 public:
  EveryOperation(const Context& ctx, index_t n, index_t p, index_t q, index_t padding)
      : ctx_(ctx),
        x_(ctx.stream, n, p, padding, values_),
        w_(ctx.stream, n, q, padding, values_),
        x_result_(ctx.stream, n, p, padding, values_),
        w_result_(ctx.stream, n, q, padding, values_),
        y_(ctx.stream, n, q, padding, values_),
        residual_(ctx.stream, n, q, padding, values_),
        d_(ctx.stream, 70, n, padding, values_),
        s_(ctx.stream, p, q, 0, values_),
        square_(ctx.stream, p, p, 0, values_),
        c_(ctx.stream, p, q, 0, values_),
        g_(ctx.stream, p, p, 0, values_),
        gw_(ctx.stream, q, q, 0, values_),
        s_next_(ctx.stream, p, q, 0, values_),
        yd_(ctx.stream, 70, q, 0, values_),
        norms_(ctx.stream, 1, p, 0, values_),
        theta_(ctx.stream, 1, q, 0, values_),
        other_(ctx.stream, n, p, 0, values_),
        sparse_host_(sparse(n, values_)),
        sparse_(ctx.stream, sparse_host_.view()) {
    sparse_.keep_transposed(ctx.stream, sparse_host_.view());
  }

  /// Restores operands that operations in place overwrite.
  void refill() {
    x_result_.refill(ctx_.stream), w_result_.refill(ctx_.stream);
    ctx_.stream.synchronize();
  }

  /// All operations, one after the other.
  void run() {
    const R one{1}, half = element<R>(0.5, 0.25);
    const auto x = x_.view(), w = w_.view();
    tsmttsm(ctx_, Op::adjoint, one, x, w, R{}, c_.view());
    gram(ctx_, Op::adjoint, one, x, R{}, g_.view());
    tsmm(ctx_, Op::none, half, x, s_.view(), R{}, y_.view());
    tsmm(ctx_, Op::none, half, x, s_.view(), one, y_.view());
    tsm2r(ctx_, Op::none, one, d_.view(), w, R{}, yd_.view());
    spmm(ctx_, Op::none, half, sparse_.view(), w, R{}, y_.view());
    spmm(ctx_, Op::adjoint, half, sparse_.view(), w, one, y_.view());
    column_norms(ctx_, x, norms_.view());
    convert(ctx_, x, other_.view());
    if constexpr (std::is_same_v<T, R>) {
      inner_and_gram(ctx_, x, w, s_next_.view(), gw_.view());
      project_out(ctx_, x, s_.view(), w_result_.view(), s_next_.view(), gw_.view());
      tsmm_in_place(ctx_, Op::none, half, x_result_.view(), square_.view());
      trsm(ctx_, x_result_.view(), g_.view());
      spmm_residual(ctx_, sparse_.view(), w, theta_.view(), residual_.view());
    }
  }

  /// Every bit of every result.
  [[nodiscard]] std::vector<unsigned char> bits() const {
    std::vector<unsigned char> all;
    const auto append = [&](const auto&... results) { (results.append_to(all, ctx_.stream), ...); };
    append(x_result_, w_result_, y_, residual_, c_, g_, gw_, s_next_, yd_, norms_, other_);
    return all;
  }

 private:
  /// Five entries a row, and one row of more entries than a warp should sum.
  static CsrMatrix<T> sparse(index_t n, Values& values) {
    return csr_by_rows<T>(n, n, [&](index_t i, auto add) {
      for (index_t e = 0; e < (i == n / 2 ? 5000 : 5); ++e) {
        const index_t column = values.below(n);
        const double re = values.uniform();
        add(column, element<T>(re, values.uniform()));
      }
    });
  }

  Context ctx_;
  Values values_{1};
  Tall<T> x_, w_;
  Tall<R> x_result_, w_result_, y_, residual_;
  Small<T> d_;
  Small<R> s_, square_, c_, g_, gw_, s_next_, yd_;
  Small<real_t<T>> norms_;
  Small<double> theta_;
  DeviceOperandOf<T, L == Layout::row_major ? Layout::col_major : Layout::row_major> other_;
  CsrMatrix<T> sparse_host_;
  DeviceCsrMatrix<T> sparse_;
};

}  // namespace ts::test
