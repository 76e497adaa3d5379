// MATLAB's files of version 5, as libmatio writes them (fixtures/make_matlab.c).
#include "tallskinny/tests/io/support.hpp"

using namespace ts;
using namespace ts::test;

namespace {

bool reads_mat() {
  const Refusal r = refusal_of("matlab5.mat:/A");
  if (r.sentence.empty()) return true;
  // Without libmatio the sentence says how to get it.
  CHECK(r.says("libmatio-dev"));
  CHECK(r.says("'-v7.3'"));
  return false;
}

std::string bytes_of(const char* name) {
  std::ifstream in(fixture(name).file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("mat: variables of version 5, sparse and dense, real and complex") {
  if (!reads_mat()) return;
  CHECK(table_in("matlab5.mat:/A") == matrix_a());
  CHECK(table_in("matlab5.mat:/Z") == matrix_z());
  CHECK(table_in("matlab5.mat:/D") == matrix_d());
  CHECK(table_in("matlab5.mat:/F") == matrix_d());
  CHECK(table_in("matlab5.mat:/K") == matrix_d());
  CHECK(table_in("matlab5.mat:/ZD") == matrix_d().times({1, 1}));
  CHECK(table_in("matlab5.mat:/E") == Table(0, 3));
  const auto described = [](const char* name) { return io::describe(fixture(name)); };
  CHECK(described("matlab5.mat:/F").type == DType::float32);
  CHECK(described("matlab5.mat:/K").stored_type == "int16");
  const auto z = described("matlab5.mat:/Z");
  CHECK((z.sparse && z.type == DType::complex128 && z.nonzeros == 5 && z.rows == 4 && z.cols == 3));
  CHECK(z.convention == "MATLAB 5");
  CHECK(io::parse_location(fixture("matlab5.mat").file.string() + ":A").object == "A");
  CHECK(table_of(io::read_matrix({fixture("matlab5.mat").file, "A"})) == matrix_a());
}

TEST_CASE("mat: ranges, the transpose, and a field of a packed struct") {
  if (!reads_mat()) return;
  io::ReadOptions options;
  options.row_begin = 2, options.row_end = 4;
  CHECK(table_in("matlab5.mat:/A", options) == Table(2, 3, {0, -3, 0, 4, 0, 5.25}));
  CHECK(table_in("matlab5.mat:/D", options) == Table(2, 3, {6, 7, 8, 9, 10, 11}));
  options = {};
  options.transpose = true;
  CHECK(table_in("matlab5.mat:/A", options) == matrix_a().transposed());
  CHECK(table_in("matlab5.mat:/D", options) == matrix_d().transposed());
  CHECK(table_in("suitesparse5.mat") == matrix_a());
  CHECK(table_in("suitesparse5.mat:/Problem/A") == matrix_a());
  CHECK(table_in("suitesparse5.mat:/Problem/b") == matrix_d());
}

TEST_CASE("mat: what is there is listed, and what cannot be read is refused") {
  if (!reads_mat()) return;
  const auto all = io::list_objects(fixture("matlab5.mat").file);
  REQUIRE(all.size() == 7);  // not the text
  CHECK((all[0].where.object == "A" && all[0].sparse && all[0].nonzeros == 5));
  CHECK((all[2].where.object == "D" && !all[2].sparse && all[2].rows == 5));
  CHECK(refusal_of("matlab5.mat").says("holds several matrices; choose one as "));
  CHECK(refusal_of("matlab5.mat:/B").says("has no matrix 'B'; it has A (4 x 3 sparse), Z"));
  CHECK(refusal_of("matlab5.mat:/title").says("has no matrix 'title'"));
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& content, const std::string& object) {
    io::Location where = file_in(folder, "m.mat", content);
    where.object = object;
    return refusal_of([&] { (void)io::read_matrix(where); });
  };
  const std::string whole = bytes_of("matlab5.mat"), packed = bytes_of("suitesparse5.mat");
  CHECK_FALSE(refused(whole.substr(0, 300), "D").sentence.empty());
  CHECK_FALSE(refused(packed.substr(0, 200), "").sentence.empty());
  CHECK_FALSE(refused(whole.substr(0, 128), "").sentence.empty());
}

TEST_CASE("mat: damaged bytes do no harm") {
  if (!reads_mat()) return;
  const TemporaryFolder folder;
  for (const char* name : {"matlab5.mat", "suitesparse5.mat"}) {
    const std::string whole = bytes_of(name);
    for (std::size_t trial = 0; trial < 60; ++trial) {
      std::string content = whole;
      const std::size_t at = 128 + (trial * 7919) % (whole.size() - 128);
      content[at] = static_cast<char>(content[at] ^ (1 << trial % 8));
      if (trial % 3 == 0) content[at] = '\xff';
      const auto where = file_in(folder, "damaged.mat", content);
      try {
        for (const io::Description& d : io::list_objects(where.file)) (void)io::read_matrix(d.where);
      } catch (const Error& error) {
        CHECK((error.code() == Errc::bad_input || error.code() == Errc::out_of_memory));
      }
    }
  }
}
