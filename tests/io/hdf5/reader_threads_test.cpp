// Not for the sanitizers: clang 14's do not take the lock of their allocator at fork().
#include <atomic>
#include <cstdlib>
#include <thread>

#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/io/support.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("files are opened while other threads are inside HDF5") {
  const TemporaryFolder folder;
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    const Matrix<double> a = Matrix<double>::zeros(1000, 8);
    while (!stop) {
      io::OutputFile out(folder / "out.h5", {.gzip = 1});
      for (int i = 0; i < 20; ++i) out.write("a" + std::to_string(i), a);
      out.commit();
      ++written;
    }
  });
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      for (int i = 0; i < 40; ++i)
        if (table_in("dense.h5:/little_f4").rows == 0) std::abort();
    });
  for (std::thread& reader : readers) reader.join();
  while (written == 0) std::this_thread::yield();
  stop = true;
  writer.join();
  CHECK(io::read_dense_as<double>({folder / "out.h5", "/a19"}).rows() == 1000);
}
