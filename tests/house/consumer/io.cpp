// A matrix into an HDF5 file and back.
#include <cstdio>

#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"

int main() {
  auto x = ts::Matrix<double>::zeros(1000, 3);
  for (ts::index_t i = 0; i < x.rows(); ++i) x(i, i % 3) = static_cast<double>(i);
  ts::io::OutputFile file("consumer.h5", {.gzip = 1});
  file.write("x", x);
  file.commit();
  const auto back = ts::io::read_dense_as<double>(ts::io::parse_location("consumer.h5:/x"));
  std::printf("%s holds a matrix of %lld rows, the last ends with %g\n", file.contents().c_str(),
              static_cast<long long>(back.rows()), back(999, 0));
  return back.rows() == 1000 && back.cols() == 3 && back(999, 0) == 999.0 && back(998, 0) == 0.0 ? 0 : 1;
}
