#include "tallskinny/gemm/copy/copy_rows.hpp"

#include "tallskinny/gemm/copy/policy.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::inline v0 {

cuda::KernelPlan cuda::plan_copy_rows(DType to, const Form& to_form, DType from, const Form& from_form, index_t rows,
                                      index_t width, const DeviceInfo& device, Listed listed) {
  // As many numbers at once as are 16 bytes in the narrower type.
  const Piece to_piece = widest_piece(size_of(to), to_form, width),
              from_piece = widest_piece(size_of(from), from_form, width);
  const int count = std::max(to_piece.count, from_piece.count);
  const auto alignment = [count](DType type, const Form& form) {
    return std::min({16, form.alignment, count * static_cast<int>(size_of(type))});
  };
  const index_t across = std::min<index_t>(width / count, 256);
  const CopyRowsPolicy policy{to,
                              from,
                              count,
                              alignment(to, to_form),
                              alignment(from, from_form),
                              listed == Listed::from,
                              listed == Listed::to};
  KernelPlan plan = plan_of("copy_rows", policy);
  plan.grid = grid_of(ceil_div(rows, 256 / across), index_t{4} * device.multiprocessors);
  plan.block = policy.threads;
  plan.budget = {64, 0};
  return plan;
}

namespace {

template <class To, class From>
void copy_listed(const Context& ctx, index_t rows, DeviceView<const From> from, DeviceView<To> to, cuda::Listed listed,
                 const std::int32_t* list) {
  if (rows == 0 || to.cols() == 0) return;
  const auto source = as_reals(from);
  const auto target = as_reals(to);
  using R = real_t<To>;
  using S = real_t<From>;
  const cuda::KernelPlan plan = cuda::plan_copy_rows(dtype_of<R>, cuda::form_of(DeviceStrided<R>(target)), dtype_of<S>,
                                                     cuda::form_of(DeviceStrided<const S>(source)), rows, target.cols(),
                                                     ctx.stream.device(), listed);
  cuda::launch_with<cuda::CopyRowsPolicy>(
      ctx, plan, {target.data(), target.ld(), source.data(), source.ld(), rows, target.cols(), list});
}

}  // namespace

template <class To, class From>
void copy_rows(const Context& ctx, DeviceView<const From> from, DeviceView<To> to) {
  detail::expect_shape("copy_rows", "the result", DeviceStrided<To>(to), from.rows(), from.cols(),
                       "the shape of what is copied");
  if constexpr (std::is_same_v<To, From>)
    if (to.ld() == to.cols() && from.ld() == from.cols()) return copy(ctx.stream, to, from);
  copy_listed<To, From>(ctx, from.rows(), from, to, cuda::Listed::none, nullptr);
}

template <class T>
void take_rows(const Context& ctx, DeviceView<const T> from, DeviceView<const std::int32_t> rows, DeviceView<T> to) {
  detail::expect_shape("take_rows", "the result", DeviceStrided<T>(to), rows.cols(), from.cols(),
                       "a row for each of the list, with the columns of what is copied");
  copy_listed<T, T>(ctx, rows.cols(), from, to, cuda::Listed::from, rows.data());
}

template <class T>
void put_rows(const Context& ctx, DeviceView<const T> from, DeviceView<const std::int32_t> rows, DeviceView<T> to) {
  detail::expect_shape("put_rows", "what is copied", DeviceStrided<const T>(from), rows.cols(), to.cols(),
                       "a row for each of the list, with the columns of the result");
  copy_listed<T, T>(ctx, rows.cols(), from, to, cuda::Listed::to, rows.data());
}

#define TS_INSTANTIATE(To, From) \
  template void copy_rows<To, From>(const Context&, DeviceView<const From>, DeviceView<To>);
TS_INSTANTIATE(double, double)
TS_INSTANTIATE(double, float)
TS_INSTANTIATE(float, double)
TS_INSTANTIATE(float, float)
TS_INSTANTIATE(std::complex<double>, std::complex<double>)
TS_INSTANTIATE(std::complex<double>, std::complex<float>)
TS_INSTANTIATE(std::complex<float>, std::complex<double>)
TS_INSTANTIATE(std::complex<float>, std::complex<float>)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, take_rows)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, put_rows)

}  // namespace ts::inline v0
