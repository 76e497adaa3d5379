#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/npy_output.hpp"
#include "tallskinny/tests/io/support.hpp"

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

namespace {

Refusal refused_npz(const std::string& content, const std::string& object = "") {
  return refusal_in("a.npz", content, object);
}

/// The archive with `to` in place of the last `from`.
std::string with(std::string content, const std::string& from, const std::string& to) {
  const auto at = content.rfind(from);
  REQUIRE(at != std::string::npos);
  return content.replace(at, from.size(), to);
}

/// An archive of these members, not packed. (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT)
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string archive, directory;
  const auto number = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int b = 0; b < bytes; ++b) text += static_cast<char>(value >> 8 * b & 0xff);
    return text;
  };
  for (const auto& [name, content] : members) {
    std::uint32_t crc = ~0u;
    for (const char c : content) {
      crc ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    }
    const std::string common = number(20, 2) + number(0, 8) + number(~crc, 4) + number(content.size(), 4) +
                               number(content.size(), 4) + number(name.size(), 2) + number(0, 2);
    directory += "PK\1\2" + number(20, 2) + common + number(0, 10) + number(archive.size(), 4) + name;
    archive += "PK\3\4" + common + name + content;
  }
  return archive + directory + "PK\5\6" + number(0, 4) + number(members.size(), 2) + number(members.size(), 2) +
         number(directory.size(), 4) + number(archive.size(), 4) + number(0, 2);
}

}  // namespace

TEST_CASE("npz: sparse matrices in every format of SciPy, packed or not") {
  CHECK(table_in("sparse_csr.npz") == matrix_a());
  CHECK(table_in("sparse_coo.npz") == matrix_a());
  CHECK(table_in("sparse_bsr.npz") == matrix_a());
  CHECK(table_in("sparse_csc.npz") == matrix_z());
  CHECK(table_in("sparse_dia.npz") == matrix_s());
  const io::Description d = io::describe(fixture("sparse_csc.npz"));
  CHECK((d.sparse && d.rows == 4 && d.cols == 3 && d.nonzeros == 5 && d.type == DType::complex64));
  CHECK(d.convention == "SciPy csc");
  CHECK(io::describe(fixture("sparse_coo.npz")).type == DType::float32);
  CHECK(table_in("sparse_csr.npz", {.transpose = true, .row_begin = 1}) == Table(2, 4, {0, 0, -3, 0, 2, 0, 0, 5.25}));
}

TEST_CASE("npz: sparse vectors are columns, and arrays of more dimensions are refused") {
  const Table column(4, 1, {0, 2.5, 0, -3});
  CHECK(table_in("sparse_vector_coo.npz") == column);
  CHECK(table_in("sparse_vector_csr.npz") == column);
  CHECK(table_in("sparse_vector_coo.npz", {.transpose = true}) == column.transposed());
  CHECK(refusal_of("sparse_cube.npz").says("sparse_cube.npz holds a sparse array of 3 dimensions: a matrix has two"));
  const auto vector = bytes_of("sparse_vector_csr.npz");
  CHECK(refused_npz(with(vector, "format.npy", "forma_.npy")).says("arrays; choose one as"));
}

TEST_CASE("npz: the directory of many arrays is read once, and few are listed") {
  constexpr int count = 2000;
  const TemporaryFolder folder;
  std::string npy = "\x93NUMPY\1";
  npy.append("\0\x46\0", 3) += "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }          \n";
  npy.append(8, '\0');
  std::vector<std::pair<std::string, std::string>> members;
  for (int i = 0; i < count; ++i) members.emplace_back("array" + std::to_string(i) + ".npy", npy);
  members.emplace_back("\xe9\xe2\x80\xae.npy", npy);
  const auto where = file_in(folder, "many.npz", zip_of(members));
  const auto bytes_read = [] {
    std::ifstream in("/proc/self/io");
    std::string word;
    index_t bytes = -1;
    in >> word >> bytes;
    return bytes;
  };
  const index_t before = bytes_read();
  REQUIRE(before > 0);
  index_t found = 0;
  io::visit_objects(where.file, {}, [&](const io::Description& d, const auto& read) {
    found += d.rows == 1 && table_of(read({})).rows == 1 ? 1 : 0;
  });
  CHECK(found == count + 1);
  CHECK(bytes_read() - before < 100 * static_cast<index_t>(std::filesystem::file_size(where.file)));
  const auto refused = refusal_of([&] { (void)io::describe(where); });
  CHECK(refused.says("array18, array19, and 1981 more"));
  const auto not_there = refusal_of([&] { (void)io::describe({where.file, "x"}); });
  CHECK(not_there.says("has no array 'x'; it has array0, "));
  CHECK(not_there.sentence.size() < 600);
  CHECK(io::list_objects(where.file).back().where.text().ends_with(":\\xe9\\xe2\\x80\\xae"));
}

TEST_CASE("npz: an array is named as the object; the only one needs no name") {
  CHECK(table_in("archive.npz") == matrix_d());
  CHECK(table_of(io::read_matrix({fixture("arrays.npz").file, "d"})) == matrix_d());
  CHECK(table_of(io::read_matrix({fixture("arrays.npz").file, "/d"})) == matrix_d());
  CHECK(io::read_vector({fixture("arrays.npz").file, "v"}) == std::vector<double>{0, 1, 2});
  CHECK(io::parse_location("missing.npz:d").object == "d");
  const auto all = io::list_objects(fixture("arrays.npz").file);
  REQUIRE(all.size() == 3);
  CHECK((all[0].where.object == "d" && all[0].type == DType::float32 && all[0].problem.empty()));
  CHECK(mentions(all[1].problem, "NumPy type '<U1'"));
  CHECK(io::list_objects(fixture("sparse_csr.npz").file).size() == 1);
}

TEST_CASE("npz: what cannot be read is refused") {
  const auto arrays = bytes_of("arrays.npz"), of_csc = bytes_of("sparse_csc.npz");
  CHECK(refused_npz(arrays).says("holds 3 arrays; choose one as "));
  CHECK(refused_npz(arrays).says("a.npz:NAME from d, words, v"));
  CHECK(refused_npz(arrays, "e").says("has no array 'e'; it has d, words, v"));
  CHECK(refused_npz(arrays.substr(0, arrays.size() / 2)).says("zip archive without a directory"));
  CHECK(refused_npz(with(arrays, std::string("PK\x05\x06\0\0\0\0\3\0\3\0", 12),
                         std::string("PK\x05\x06\0\0\0\0\3\0\x09\0", 12)))
            .says("directory cannot be read"));
  // Change the first member in the directory: another method, encryption, more bytes than deflate can make.
  const auto entry = arrays.find("PK\x01\x02");
  auto changed = arrays;
  changed[entry + 10] = 12;
  CHECK(refused_npz(changed, "d").says("packed by method 12"));
  changed = arrays, changed[entry + 8] |= 1;
  CHECK(refused_npz(changed, "d").says("an encrypted member 'd.npy'"));
  changed = arrays, changed[entry + 27] = 0x70;
  CHECK(refused_npz(changed, "d").says("a damaged member 'd.npy'"));
  changed = arrays, changed[entry + 16] ^= 1;
  CHECK(refused_npz(changed, "d").says("its checksum is another one"));
  // The three bytes of the format, and a pointer, of what is not packed.
  CHECK(refused_npz(with(of_csc, "csc", "lil")).says("in the format 'lil': store it as csr"));
}
