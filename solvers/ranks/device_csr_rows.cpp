#include "tallskinny/solvers/ranks/device_csr_rows.hpp"

#include <complex>
#include <memory>

#include "tallskinny/gemm/copy/copy_rows.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/solvers/ranks/halo_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

DeviceMatrix<std::int32_t> list_on_device(const cuda::Stream& stream, std::span<const std::int32_t> list) {
  DeviceMatrix<std::int32_t> there(stream, 1, std::ssize(list));
  copy(stream, there.view(), HostView<const std::int32_t>(list.data(), 1, std::ssize(list)));
  stream.synchronize();
  return there;
}

std::vector<std::int32_t> joined(std::span<const std::int32_t> first, std::span<const std::int32_t> second) {
  std::vector<std::int32_t> both(first.begin(), first.end());
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

template <class T>
CsrView<T, Space::device> part_of(const DeviceCsrMatrix<T>& matrix, index_t of_row) {
  CsrView<T, Space::device> a = matrix.view();
  a.facts.of_row = of_row;
  return a;
}

}  // namespace

template <class T>
DeviceCsrRows<T>::DeviceCsrRows(const Context& ctx, const HaloParts<T>& parts)
    : inner_(ctx.stream, parts.inner),
      outer_(ctx.stream, parts.outer),
      of_row_(parts.of_row),
      outer_rows_(list_on_device(ctx.stream, parts.outer_rows)),
      own_(list_on_device(ctx.stream, joined(parts.outer_rows, parts.others))),
      sent_(list_on_device(ctx.stream, parts.sent)),
      to_(parts.to.begin(), parts.to.end()),
      from_(parts.from.begin(), parts.from.end()),
      beside_(ctx.stream.urgent()),
      ready_(ctx.stream),
      done_(ctx.stream) {
  beside_.use_libraries(false);
  (void)block(ctx, sends_, sent_.cols(), 1), (void)block(ctx, copies_, outer_.cols(), 1);
  ctx.stream.synchronize();  // what was allocated in its order is there for the second stream
  exchange(ctx, 1)->wait();  // ways between GPUs are made when something goes there for the first time
  beside_.synchronize();
}

/// Begins to send rows of sends_ and to receive those of the halo in copies_, which have so many columns.
template <class T>
std::unique_ptr<Exchange> DeviceCsrRows<T>::exchange(const Context& ctx, index_t cols) {
  T* const sends = block(ctx, sends_, sent_.cols(), cols).data();
  T* const halo = block(ctx, copies_, outer_.cols(), cols).data() + own_.cols() * cols;
  const auto [out, in] = detail::halo_pieces<T>(to_, sends, from_, halo, cols);
  return ctx.communicator->begin_exchange(beside_, out, in);
}

/// rows x cols of memory that the second stream uses between ready_ and done_: so the order of ctx.stream, in which it
/// is allocated and released, holds for both.
template <class T>
DeviceView<T> DeviceCsrRows<T>::block(const Context& ctx, DeviceMatrix<T>& memory, index_t rows, index_t cols) const {
  if (memory.rows() * memory.cols() < rows * cols) {
    memory = {};
    memory = DeviceMatrix<T>(ctx.stream, rows, cols);
  }
  return DeviceView<T>(memory.data(), rows, cols);
}

/// product(ctx, A, X, Y) for inner_ with x and y themselves; beside it, once the halo is there, for outer_ with copies.
/// `adds`: it reads Y.
template <class T>
template <class Product>
void DeviceCsrRows<T>::in_two_parts(const Context& ctx, DeviceView<const T> x, DeviceView<T> y, bool adds,
                                    const Product& product) {
  const index_t cols = y.cols(), outer = outer_.rows();
  if (cols == 0) return;
  Context beside = ctx;
  beside.stream = beside_;
  const auto sends = block(ctx, sends_, sent_.cols(), cols), copies = block(ctx, copies_, outer_.cols(), cols),
             results = block(ctx, results_, outer, cols);
  if (adds) take_rows<T>(ctx, y, outer_rows_.cview(), results);  // before the product writes Y
  ready_.record(ctx.stream);
  ready_.precede(beside_);
  take_rows<T>(beside, x, sent_.cview(), sends);
  const std::unique_ptr<Exchange> under_way = exchange(ctx, cols);
  take_rows<T>(beside, x, own_.cview(), copies.rows(0, own_.cols()));
  product(ctx, part_of(inner_, of_row_), x, y);
  under_way->wait();
  if (outer > 0) product(beside, part_of(outer_, of_row_), DeviceView<const T>(copies), results);
  done_.record(beside_);
  done_.precede(ctx.stream);
  put_rows<T>(ctx, results, outer_rows_.cview(), y);
}

template <class T>
void DeviceCsrRows<T>::apply(const Context& ctx, DeviceView<const T> x, DeviceView<T> y) {
  in_two_parts(ctx, x, y, false, [](const Context& c, const auto& a, DeviceView<const T> from, DeviceView<T> to) {
    spmm(c, Op::none, T{1}, a, from, T{0}, to);
  });
}

template <class T>
void DeviceCsrRows<T>::update(const Context& ctx, T alpha, T shift, DeviceView<const T> x, T beta, DeviceView<T> y) {
  in_two_parts(ctx, x, y, beta != T{0},
               [=](const Context& c, const auto& a, DeviceView<const T> from, DeviceView<T> to) {
                 spmm_shifted(c, alpha, a, shift, from, beta, to);
               });
}

template <class T>
void DeviceCsrRows<T>::residual(const Context& ctx, DeviceView<const T> x, DeviceView<const double> theta,
                                DeviceView<T> r) {
  in_two_parts(ctx, x, r, false, [=](const Context& c, const auto& a, DeviceView<const T> from, DeviceView<T> to) {
    spmm_residual(c, a, from, theta, to);
  });
}

TS_FOR_EACH_RESULT_TYPE(TS_CLASS, DeviceCsrRows)

}  // namespace ts::inline v0::solvers
