#include "tallskinny/gemm/core/host_memory.hpp"

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/runtime/placed.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/counting_memory.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

TEST_CASE("matrices take their memory from the resource in use, and give it back to the same") {
  test::CountingMemory first, second;
  {
    Matrix<double> kept;
    {
      const UseHostMemory use(&first);
      kept = Matrix<double>(10, 3);
      CHECK((first.out == 1 && first.bytes == 240));
      const UseHostMemory inner(&second);
      const Matrix<float> other = Matrix<float>::zeros(4, 1);
      const UseHostMemory nothing(nullptr);
      CHECK(host_memory() == &second);
      CHECK((second.out == 1 && first.out == 1));
    }
    CHECK(host_memory() == own_host_memory());
    CHECK((first.out == 1 && second.out == 0));
    const Matrix<double> named(5, 5, &second);
    CHECK(second.out == 1);
  }
  CHECK((first.out == 0 && first.bytes == 0 && second.out == 0));
}

TEST_CASE("threads that work for one that uses a resource use it, too") {
  test::CountingMemory memory;
  const UseHostMemory use(&memory);
  parallel(4, [](int) { const Matrix<double> own(3, 3); });
  CHECK((memory.taken == 4 && memory.out == 0));
}

TEST_CASE("operations of a context with a resource take all their matrices from it") {
  test::CountingMemory mine, others;
  const UseHostMemory caught(&others);
  Context ctx;
  ctx.host_memory = &mine, ctx.threads = 2;
  constexpr index_t rows = 20000, width = 100;  // wide enough for every way that an operation has
  std::vector<double> x(rows * width, 1.0), y(rows * width), small(width * width, 0.5), norms(width);
  const HostView<const double> tall(x.data(), rows, width), s(small.data(), width, width);
  gram(ctx, Op::adjoint, 1.0, tall, 0.0, HostView<double>(small.data(), width, width));
  tsmm(ctx, Op::none, 1.0, tall, s, 0.0, HostView<double>(y.data(), rows, width));
  column_norms(ctx, tall, norms);
  const PlacedMatrix<double> placed(ctx, Space::host, 8, 2);
  CHECK((mine.taken > 2 && mine.out == 1));
  CHECK(others.taken == 0);
}

TEST_CASE("a resource that has no more is an error that names the bytes") {
  const Matrix<double> nothing(0, 5, std::pmr::null_memory_resource());
  CHECK(nothing.data() == nullptr);
  const auto refusal = test::message_of([] { const Matrix<double> m(3, 5, std::pmr::null_memory_resource()); });
  CHECK(refusal.find("120 bytes of host memory") != std::string::npos);
}
