#include "tallskinny/gemm/runtime/openblas.hpp"

#include <algorithm>

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

TEST_CASE("OpenBLAS has one thread while that is asked for, and its own again afterwards") {
  const auto& library = lapack_library();
  CHECK(&library == &lapack_library());
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  if (!library.bind(threads, "openblas_get_num_threads") || !library.bind(set_threads, "openblas_set_num_threads")) {
    const OneBlasThread nothing;  // without OpenBLAS there is nothing to do
    return;
  }
  const int before = threads();
  set_threads(2);
  {
    const OneBlasThread one;
    CHECK(threads() == 1);
    {
      const OneBlasThread again;
      CHECK(threads() == 1);
    }
    CHECK(threads() == 1);
  }
  CHECK(threads() == 2);
  set_threads(before);
}

TEST_CASE("LAPACK has a name where there is one") {
  const std::string name = lapack_name();
  CHECK(name.empty() != lapack_library().loaded());
  const char* (*config)() = nullptr;
  if (!lapack_library().bind(config, "openblas_get_config")) return;
  CHECK(name.starts_with("LAPACK (OpenBLAS "));
  CHECK(std::count(name.begin(), name.end(), ' ') == 2);
}
