// More than 2^31 elements. Takes some GiB of memory, so it runs only when asked for: test_gemm_operations
// [.large]
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/engine.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("sizes and offsets beyond 32 bits are right", "[.large]") {
  const index_t n = (index_t{1} << 31) + 5;
  auto x = Matrix<bfloat16>::zeros(n, 1);
  for (const index_t i : {index_t{0}, index_t{1} << 30, (index_t{1} << 31) - 1, index_t{1} << 31, n - 1})
    x(i, 0) = to_bfloat16(3);
  Matrix<float> g(1, 1);
  std::vector<float> norm(1);
  gram(Context{}, Op::adjoint, 1.0f, x.view(), 0.0f, g.view());
  CHECK(g(0, 0) == 45.0f);
  column_norms(Context{}, x.view(), std::span<float>(norm));
  CHECK(norm[0] == std::sqrt(45.0f));
  const HostView<bfloat16, Layout::col_major> tall(x.data(), n, 1);
  tsmttsm(Context{}, Op::transpose, 2.0f, tall, x.view(), 0.0f, g.view());
  CHECK(g(0, 0) == 90.0f);
}
