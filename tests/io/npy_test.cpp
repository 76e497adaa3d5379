#include "tallskinny/tests/io/support.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// An .npy of version 1 with this header dictionary and data.
std::string npy(std::string header, const std::string& data) {
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  return text + header + data;
}
Refusal refused_npy(const std::string& content) {
  TemporaryFolder folder;
  return refusal_of([&] { (void)io::read_matrix(file_in(folder, "a.npy", content)); });
}

}  // namespace

TEST_CASE("npy: both orders, both byte orders, integers and halves") {
  CHECK(table_in("c_order.npy") == matrix_d());
  CHECK(io::describe(fixture("c_order.npy")).type == DType::float32);
  CHECK(table_in("fortran.npy") == matrix_d());
  CHECK(io::describe(fixture("fortran.npy")).type == DType::complex128);
  CHECK(table_in("integers.npy") == matrix_d());
  CHECK(table_in("half.npy") == matrix_d());
  CHECK(io::describe(fixture("half.npy")).type == DType::float16);
  io::ReadOptions options;
  options.transpose = true;
  options.row_begin = 2;
  for (const char* name : {"c_order.npy", "fortran.npy", "integers.npy", "half.npy"})
    CHECK(table_in(name, options) == Table(1, 5, {2, 5, 8, 11, 14}));
}

TEST_CASE("npy: one dimension is a column, more than two are flattened, two bytes of nothing are bfloat16") {
  TemporaryFolder folder;
  const std::string bytes("\x01\x02\x03\x04\x05\x06\x07\x08", 8);
  const auto read = [&](const std::string& header) {
    return io::read_matrix(file_in(folder, "a.npy", npy(header, bytes)));
  };
  CHECK(table_of(read("{'descr': '|u1', 'fortran_order': False, 'shape': (8,), }")) ==
        Table(8, 1, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(table_of(read("{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2, 2), }")) ==
        Table(2, 4, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(read("{'descr': '<V2', 'fortran_order': False, 'shape': (2, 2)}").description.type == DType::bfloat16);
  CHECK(refused_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2), }", bytes)).says("Fortran"));
}

TEST_CASE("npy: what cannot be read is refused") {
  CHECK(refusal_of("strings.npy").says("NumPy type '<U1'"));
  CHECK(refused_npy(std::string("\x93NUMPY", 6)).says("truncated"));
  CHECK(refused_npy(npy("{'fortran_order': False, 'shape': (1,)}", "")).says("without 'descr'"));
  CHECK(refused_npy(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "")).says("named fields"));
  CHECK(refused_npy(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1)}", "12345678")).says("truncated"));
  CHECK(refused_npy(npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "12345678")).says("single number"));
  CHECK(refused_npy(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", ""))
            .says("impossible"));
  CHECK(refused_npy(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", ""))
            .says("truncated"));
  const std::string nan("\x00\x00\x00\x00\x00\x00\xf8\x7f", 8);
  CHECK(refused_npy(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", nan)).says("NaN at row 0"));
}
