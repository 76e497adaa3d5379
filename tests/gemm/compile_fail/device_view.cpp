// A host operation on a host view compiles; with TS_EXPECT_FAILURE the same call on a device view must not.
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

void gram_of(double* memory, ts::HostView<double> g) {
#if defined(TS_EXPECT_FAILURE)
  const ts::DeviceView<double> a(memory, 10, 2);
#else
  const ts::HostView<double> a(memory, 10, 2);
#endif
  ts::gram(ts::Context{}, ts::Op::adjoint, 1.0, a, 0.0, g);
}
