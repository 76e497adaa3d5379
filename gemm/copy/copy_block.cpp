#include "tallskinny/gemm/copy/copy_block.hpp"

#include <complex>

#include "tallskinny/gemm/copy/copy_rows.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0 {

namespace {

template <class To, class From>
void convert_rows(const Context& ctx, HostView<const From> from, HostView<To> to) {
  parallel_for(ctx.thread_count(), from.rows(), [&](index_t i) {
    for (index_t j = 0; j < from.cols(); ++j) to(i, j) = static_cast<To>(from(i, j));
  });
}

}  // namespace

template <class T>
void copy_block(const Context& ctx, PlacedView<const T> from, PlacedView<T> to) {
  const index_t n = from.rows(), p = from.cols();
  const auto bytes = static_cast<double>(n * p) * sizeof(T);
  constexpr Space host = Space::host, device = Space::device;
  const bool travels = from.space() != to.space();
  const Profile::Piece piece(ctx, travels ? "copies between host and device" : "copies", {bytes, bytes, 0},
                             travels ? std::nullopt : std::optional(dtype_of<T>), to.space());
  if (from.space() == host && to.space() == host) return convert_rows<T, T>(ctx, from.host(), to.host());
  if (!travels) return copy_rows<T, T>(ctx, from.template in<device>(), to.template in<device>());
  if (from.space() == host)
    copy(ctx.stream, to.template in<device>(), from.template in<host>());
  else
    copy(ctx.stream, to.template in<host>(), from.template in<device>());
  ctx.stream.synchronize();
}

template <class To, class From>
PlacedMatrix<To> cast(const Context& ctx, PlacedView<const From> x) {
  PlacedMatrix<To> y(ctx, x.space(), x.rows(), x.cols());
  const auto count = static_cast<double>(x.rows() * x.cols());
  const Profile::Piece piece(ctx, "changes of precision", {count * sizeof(From), count * sizeof(To), 0}, DType::float64,
                             x.space());
  if (x.space() == Space::device)
    copy_rows<To, From>(ctx, x.template in<Space::device>(), y.view().template in<Space::device>());
  else
    convert_rows<To, From>(ctx, x.host(), y.view().host());
  return y;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, copy_block)

#define TS_INSTANTIATE(To, From) template PlacedMatrix<To> cast<To, From>(const Context&, PlacedView<const From>);
TS_INSTANTIATE(double, float)
TS_INSTANTIATE(float, double)
TS_INSTANTIATE(std::complex<double>, std::complex<float>)
TS_INSTANTIATE(std::complex<float>, std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0
