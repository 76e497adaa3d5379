#include <fstream>

#include "tallskinny/tests/io/support.hpp"

using namespace ts;
using namespace ts::test;

namespace {

std::string archive_of(const char* name) {
  std::ifstream in(fixture(name).file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Refusal refused_npz(const std::string& content, const std::string& object = "") {
  TemporaryFolder folder;
  io::Location where = file_in(folder, "a.npz", content);
  where.object = object;
  return refusal_of([&] { (void)io::read_matrix(where); });
}

/// The archive with `to` in place of the last `from`.
std::string with(std::string content, const std::string& from, const std::string& to) {
  const auto at = content.rfind(from);
  REQUIRE(at != std::string::npos);
  return content.replace(at, from.size(), to);
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
  io::ReadOptions options;
  options.transpose = true, options.row_begin = 1;
  CHECK(table_in("sparse_csr.npz", options) == Table(2, 4, {0, 0, -3, 0, 2, 0, 0, 5.25}));
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
  CHECK(all[1].problem.find("NumPy type '<U1'") != std::string::npos);
  CHECK(io::list_objects(fixture("sparse_csr.npz").file).size() == 1);
}

TEST_CASE("npz: what cannot be read is refused") {
  const auto arrays = archive_of("arrays.npz"), of_csc = archive_of("sparse_csc.npz");
  CHECK(refused_npz(arrays).says("holds several arrays; name one: "));
  CHECK(refused_npz(arrays, "e").says("has no array 'e'; it has d, words, v"));
  CHECK(refused_npz(arrays.substr(0, arrays.size() / 2)).says("zip archive without a directory"));
  CHECK(refused_npz(with(arrays, std::string("PK\x05\x06\0\0\0\0\3\0\3\0", 12),
                         std::string("PK\x05\x06\0\0\0\0\3\0\x09\0", 12)))
            .says("directory cannot be read"));
  // Of the first member in the directory: another method, an encrypted one, more bytes than deflate can make.
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
