// Gram matrices of memory that belongs to the program: a std::vector, columns of a wider array, and a GPU's.
#include <vector>

#include "tallskinny/app/examples/check.hpp"
#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

int main() {
  constexpr ts::index_t n = 10000, p = 4, ld = 10;
  std::vector<double> mine(n * ld);  // row by row, of which columns 3 .. 6 are meant
  const ts::HostView<double> all(mine.data(), n, ld);
  const auto x = all.cols(3, p);  // the same memory
  for (ts::index_t i = 0; i < n; ++i)
    for (ts::index_t j = 0; j < p; ++j) x(i, j) = i % p == j ? 2 : 0;

  ts::Context ctx;
  std::vector<double> g(p * p, -1.0);
  const ts::HostView<double> gram(g.data(), p, p);
  ts::gram(ctx, ts::Op::adjoint, 1.0, x, 0.0, gram);
  for (ts::index_t i = 0; i < p; ++i)
    for (ts::index_t j = 0; j < p; ++j) expect(gram(i, j) == (i == j ? 4.0 * n / p : 0), "the Gram matrix");

  if (ts::cuda::list_devices().devices.empty()) {
    std::puts("host: right; no GPU here");
    return 0;
  }
  const ts::cuda::Stream stream(0);
  ctx.stream = stream;
  ts::DeviceMatrix<double> there(stream, n, p), gram_there(stream, p, p);  // any device pointer makes a DeviceView
  ts::copy(stream, there.view(), x);
  ts::gram(ctx, ts::Op::adjoint, 1.0, ts::DeviceView<const double>(there.data(), n, p), 0.0, gram_there.view());
  const std::vector<double> of_host = g;
  ts::copy(stream, gram, gram_there.cview());
  stream.synchronize();
  expect(g == of_host, "the Gram matrix of the device");
  std::puts("host and device: right");
}
