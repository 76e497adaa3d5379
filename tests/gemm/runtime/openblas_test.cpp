#include "tallskinny/gemm/runtime/openblas.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

TEST_CASE("OpenBLAS has as many threads as are asked for, and its own again afterwards") {
  const auto& library = lapack_library();
  CHECK(&library == &lapack_library());
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  if (!library.bind(threads, "openblas_get_num_threads") || !library.bind(set_threads, "openblas_set_num_threads")) {
    const BlasThreads nothing(1);  // without OpenBLAS there is nothing to do
    return;
  }
  const int before = threads();
  set_threads(2);
  {
    const BlasThreads one(1);
    CHECK(threads() == 1);
    {
      const BlasThreads within(3);  // the outer one holds
      CHECK(threads() == 1);
    }
    CHECK(threads() == 1);
  }
  CHECK(threads() == 2);
  CHECK_THROWS_AS(
      [] {
        const BlasThreads three(3);
        throw std::runtime_error("no");
      }(),
      std::runtime_error);
  CHECK(threads() == 2);
  // Threads of the program that want other numbers wait for each other.
  std::vector<int> seen(40);
  parallel_for(4, std::ssize(seen), [&](index_t i) {
    const BlasThreads some(1 + static_cast<int>(i % 2));
    seen[static_cast<std::size_t>(i)] = threads();
  });
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == 1 + static_cast<int>(i % 2));
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
