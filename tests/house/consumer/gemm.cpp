// The Gram matrix of a tall block.
#include <cstdio>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

int main() {
  const ts::Context ctx;
  auto x = ts::Matrix<double>::zeros(1000, 3);
  for (ts::index_t i = 0; i < x.rows(); ++i) x(i, i % 3) = 2.0;
  ts::Matrix<double> g(3, 3);
  ts::gram(ctx, ts::Op::adjoint, 1.0, x.view(), 0.0, g.view());
  std::printf("%g %g %g %g\n", g(0, 0), g(1, 1), g(2, 2), g(0, 1));
  return g(0, 0) == 1336.0 && g(1, 1) == 1332.0 && g(2, 2) == 1332.0 && g(0, 1) == 0.0 ? 0 : 1;
}
