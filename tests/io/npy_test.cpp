#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/npy_output.hpp"
#include "tallskinny/tests/io/support.hpp"

using namespace ts;
using namespace ts::test;
using io::NpyOutput;

namespace {

/// An .npy of version 1 with this header dictionary and data.
std::string npy(std::string header, const std::string& data) {
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  return text + header + data;
}
Refusal refused_npy(const std::string& content) { return refusal_in("a.npy", content); }

template <class T>
void round_trip(const std::string& stored_type) {
  const TemporaryFolder folder;
  const std::string file = folder / "x.npy";
  std::vector<T> values;
  Table expected(3, 4);
  for (std::size_t e = 0; e < 12; ++e) {
    expected.values[e] = static_cast<double>(e) - 5;
    if constexpr (std::is_same_v<T, std::int32_t>)
      values.push_back(static_cast<std::int32_t>(e) - 5);
    else
      values.push_back(narrowed<T>(static_cast<double>(e) - 5));
  }
  NpyOutput<T> out(file, 3, 4);
  out.add(std::span<const T>(values).first(5));
  out.add(std::span<const T>(values).subspan(5));
  CHECK_FALSE(std::filesystem::exists(file));
  out.commit();
  CHECK(io::describe(io::parse_location(file)).stored_type == stored_type);
  CHECK(table_of(io::read_matrix(io::parse_location(file))) == expected);
  CHECK((std::filesystem::file_size(file) - values.size() * sizeof(T)) % 64 == 0);
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
  for (const char* name : {"c_order.npy", "fortran.npy", "integers.npy", "half.npy"})
    CHECK(table_in(name, {.transpose = true, .row_begin = 2}) == Table(1, 5, {2, 5, 8, 11, 14}));
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

TEST_CASE("npy: what is written is read") {
  round_trip<double>("<f8");
  round_trip<float>("<f4");
  round_trip<float16>("<f2");
  round_trip<std::int32_t>("<i4");
  const TemporaryFolder folder;
  NpyOutput<std::int32_t> list(folder / "list.npy", 2);
  list.add(std::vector<std::int32_t>{7, -8});
  list.commit();
  CHECK(io::read_vector(io::parse_location(folder / "list.npy")) == std::vector<double>{7, -8});
  NpyOutput<float> nothing(folder / "nothing.npy", 0, 5);
  nothing.commit();
  CHECK(io::describe(io::parse_location(folder / "nothing.npy")).cols == 5);
}

TEST_CASE("npy: a file that is not complete leaves the old one") {
  const TemporaryFolder folder;
  const std::string file = folder.file("x.npy", "old");
  {
    NpyOutput<float> out(file, 2, 2);
    out.add(std::vector<float>{1, 2, 3});
    CHECK(mentions(message_of([&] { out.commit(); }), "lacks elements"));
    CHECK(mentions(message_of([&] { out.add(std::vector<float>{1, 2}); }), "more elements"));
  }
  CHECK(content_of(file) == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(mentions(message_of([&] { NpyOutput<float>(folder / "none/x.npy", 1, 1); }), "none/x.npy"));
}
