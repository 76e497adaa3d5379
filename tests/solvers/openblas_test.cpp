#include "tallskinny/solvers/openblas.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts::solvers;

TEST_CASE("OpenBLAS has the number of threads that is asked for, and its own again afterwards") {
  const auto& library = lapack_library();
  CHECK(&library == &lapack_library());
  int (*threads)() = nullptr;
  if (!library.bind(threads, "openblas_get_num_threads")) {
    const BlasThreads nothing(2);  // without OpenBLAS there is nothing to do
    return;
  }
  const int before = threads();
  {
    const BlasThreads two(2);
    CHECK(threads() == 2);
    {
      const BlasThreads none(0);
      CHECK(threads() == 1);
    }
    CHECK(threads() == 2);
  }
  CHECK(threads() == before);
}
