// The GPU of this machine, if there is one: operands go there and come back with everything around them.
#pragma once

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/tests/support/operands.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

/// True if there is a GPU: for tests that are repeated there. A test that needs a GPU is one of its own, with the tag
/// [gpu] (see needs.hpp).
inline bool has_device() {
  static const bool any = !cuda::list_devices().devices.empty();
  return any;
}

/// A stream on the first device, the same for the whole program. @throws Error(no_device) without one.
inline const cuda::Stream& device_stream() {
  static const cuda::Stream stream(0);
  return stream;
}

/// Notes kernels instead of launching them.
inline Context rehearsing_context(const cuda::DeviceInfo& device) {
  return Context{.stream = cuda::Stream::rehearsing(device)};
}

inline Context device_context(Determinism determinism = Determinism::run_to_run) {
  return Context{.determinism = determinism, .stream = device_stream()};
}

/// An operand's whole buffer on the device while this lives; taken back at its end.
template <class T>
class OnDevice {
 public:
  OnDevice(const cuda::Stream& stream, Operand<T>& operand)
      : stream_(stream), operand_(operand), memory_(stream, operand.buffer().size() * sizeof(T)) {
    cuda::copy_bytes(stream, memory_.data(), operand.buffer().data(), memory_.bytes());
    stream.synchronize();
  }
  /// operand = what is on the device now.
  void take_back() {
    cuda::copy_bytes(stream_, operand_.buffer().data(), memory_.data(), memory_.bytes());
    stream_.synchronize();
  }
  template <class F>
  void with_view(F&& use) {
    operand_.with_view([&]<Layout L>(HostView<T, L> v) {
      T* const data = static_cast<T*>(memory_.data()) + (v.data() - operand_.buffer().data());
      use(DeviceView<T, L>::unchecked(data, v.rows(), v.cols(), v.ld()));
    });
  }

 private:
  const cuda::Stream& stream_;
  Operand<T>& operand_;
  cuda::Memory memory_;
};

/// use(view of a, view of b, ...) with the operands on the device.
template <class F, class... T>
void with_device_views(const cuda::Stream& stream, F&& use, Operand<T>&... operands) {
  std::tuple<OnDevice<T>...> there{OnDevice<T>(stream, operands)...};
  std::apply([&](OnDevice<T>&... each) { with_views(use, each...); }, there);
  std::apply([](OnDevice<T>&... each) { (each.take_back(), ...); }, there);
}

/// Calls use(view of a, view of b, ...) with every operand's own layout, on the device of ctx.stream if it
/// has one, else where they are.
template <class F, class... T>
void with_views(const Context& ctx, F&& use, Operand<T>&... operands) {
  if (ctx.stream)
    with_device_views(ctx.stream, use, operands...);
  else
    with_views(use, operands...);
}

/// Calls `use` with the view of a sparse matrix before those of the operands.
template <class F, class S, class I, class... T>
void with_views(const Context& ctx, F&& use, const CsrMatrix<S, I>& a, Operand<T>&... operands) {
  if (ctx.stream) {
    DeviceCsrMatrix<S, I> there(ctx.stream, a.view());
    there.keep_transposed(ctx.stream, a.view());
    with_device_views(
        ctx.stream, [&](auto... views) { use(there.view(), views...); }, operands...);
  } else {
    with_views([&](auto... views) { use(a.view(), views...); }, operands...);
  }
}

}  // namespace ts::test
