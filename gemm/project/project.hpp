// The fused steps of block Gram-Schmidt: what would be three operations in one pass over V and W.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

namespace detail {
template <class T>
void inner_and_gram(const Context&, Strided<const T> v, Strided<const T> w, Strided<T> s, Strided<T> g);
template <class T>
void project_out(const Context&, Strided<const T> v, Strided<const T> s, Strided<T> w, Strided<T> s_next, Strided<T> g);
template <class T>
void inner_and_gram(const Context&, DeviceStrided<const T> v, DeviceStrided<const T> w, DeviceStrided<T> s,
                    DeviceStrided<T> g);
template <class T>
void project_out(const Context&, DeviceStrided<const T> v, DeviceStrided<const T> s, DeviceStrided<T> w,
                 DeviceStrided<T> s_next, DeviceStrided<T> g);
}  // namespace detail

/// S = V^H W and G = W^H W in one pass, with V n x m, W n x b, S m x b, G b x b (Hermitian, real diagonal).
/// The single reduction of BCGS-PIP (Carson, Lund, Rozloznik, Thomas 2021). T: one of the four result types.
/// Bytes: n (m + b) s. @throws Error(invalid_argument) for shapes that do not fit.
template <HostMatrix VV, HostMatrix VW, HostMatrix VS, HostMatrix VG>
void inner_and_gram(const Context& ctx, VV v, VW w, VS s, VG g) {
  using T = typename VW::value_type;
  detail::inner_and_gram<T>(ctx, Strided<const T>(v), Strided<const T>(w), Strided<T>(s), Strided<T>(g));
}

/// The same on the GPU of ctx.stream; does not wait for the result.
template <DeviceOperand VV, DeviceOperand VW, DeviceOperand VS, DeviceOperand VG>
void inner_and_gram(const Context& ctx, VV v, VW w, VS s, VG g) {
  using T = typename VW::value_type;
  detail::inner_and_gram<T>(ctx, DeviceStrided<const T>(v), DeviceStrided<const T>(w), DeviceStrided<T>(s),
                            DeviceStrided<T>(g));
}

/// W = W - V S, then S_next = V^H W and G = W^H W of the updated W, all in one pass over V and W: while a row
/// chunk of V is in cache it serves the update and the next projection. Shapes as above; s_next and g may
/// each be an empty view (0 x 0) when not wanted. Bytes: n (m + 2 b) s, where three separate operations would
/// move n (2 m + 4 b) s.
/// @throws Error(invalid_argument) for shapes that do not fit.
template <HostMatrix VV, HostMatrix VS, HostMatrix VW, HostMatrix VN, HostMatrix VG>
void project_out(const Context& ctx, VV v, VS s, VW w, VN s_next, VG g) {
  using T = typename VW::value_type;
  detail::project_out<T>(ctx, Strided<const T>(v), Strided<const T>(s), Strided<T>(w), Strided<T>(s_next),
                         Strided<T>(g));
}

/// The same on the GPU of ctx.stream; does not wait for the result. Blocks too wide for one kernel go through
/// several (64 columns of V against 32 of float64 take one), at the price of more passes.
template <DeviceOperand VV, DeviceOperand VS, DeviceOperand VW, DeviceOperand VN, DeviceOperand VG>
void project_out(const Context& ctx, VV v, VS s, VW w, VN s_next, VG g) {
  using T = typename VW::value_type;
  detail::project_out<T>(ctx, DeviceStrided<const T>(v), DeviceStrided<const T>(s), DeviceStrided<T>(w),
                         DeviceStrided<T>(s_next), DeviceStrided<T>(g));
}

}  // namespace ts::inline v0
