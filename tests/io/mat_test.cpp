// MATLAB's files of version 5, as libmatio writes them (fixtures/make_matlab.c).
#include "tallskinny/tests/io/support.hpp"

namespace {

bool reads_mat() {
  const Refusal r = refusal_of("matlab5.mat:/A");
  if (r.sentence.empty()) return true;
  // Without libmatio the sentence says how to get it.
  CHECK(r.says("libmatio-dev"));
  CHECK(r.says("'-v7.3'"));
  return false;
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
  const io::ReadOptions some{.row_begin = 2, .row_end = 4}, turned{.transpose = true};
  CHECK(table_in("matlab5.mat:/A", some) == Table(2, 3, {0, -3, 0, 4, 0, 5.25}));
  CHECK(table_in("matlab5.mat:/D", some) == Table(2, 3, {6, 7, 8, 9, 10, 11}));
  CHECK(table_in("matlab5.mat:/A", turned) == matrix_a().transposed());
  CHECK(table_in("matlab5.mat:/D", turned) == matrix_d().transposed());
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
  const auto damaged = io::list_objects(fixture("lists_apart.mat").file);  // a byte of matlab5.mat changed
  REQUIRE_FALSE(damaged.empty());
  CHECK(damaged[0].problem.ends_with("lists_apart.mat:A has lists of lengths that do not fit together"));
  const std::string whole = bytes_of("matlab5.mat"), packed = bytes_of("suitesparse5.mat");
  CHECK_FALSE(refusal_in("m.mat", whole.substr(0, 300), "D").sentence.empty());
  CHECK_FALSE(refusal_in("m.mat", packed.substr(0, 200)).sentence.empty());
  CHECK_FALSE(refusal_in("m.mat", whole.substr(0, 128)).sentence.empty());
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

namespace {

/// A matrix in version 4. @param type a thousand for the highest byte first, tens for the type of elements, 2: sparse
template <class T>
std::string matrix_4(std::int32_t type, std::int32_t rows, std::int32_t cols, const std::string& name,
                     const std::vector<T>& real, const std::vector<T>& imaginary = {}) {
  std::string bytes;
  const auto put = [&bytes, big = type >= 1000](auto value) {
    std::array<char, sizeof(value)> own{};
    std::memcpy(own.data(), &value, sizeof(value));
    if (big) std::reverse(own.begin(), own.end());
    bytes.append(own.data(), own.size());
  };
  for (const std::int32_t field :
       {type, rows, cols, imaginary.empty() ? 0 : 1, static_cast<std::int32_t>(name.size() + 1)})
    put(field);
  bytes += name + '\0';
  for (const auto& list : {real, imaginary})
    for (const T value : list) put(value);
  return bytes;
}

}  // namespace

TEST_CASE("mat: version 4, in both orders of bytes") {
  if (!reads_mat()) return;
  const TemporaryFolder folder;
  const std::vector<double> columns = {1, 3, 5, 2, 4, 6};
  const Table expected(3, 2, {1, 2, 3, 4, 5, 6});
  for (const std::int32_t order : {0, 1000}) {
    CAPTURE(order);
    const auto file = file_in(folder, "old" + std::to_string(order) + ".mat",
                              matrix_4(order, 3, 2, "D", columns) +
                                  matrix_4<std::int16_t>(order + 30, 3, 2, "K", {1, 3, 5, 2, 4, 6}) +
                                  matrix_4(order, 3, 2, "Z", columns, columns) +
                                  // Rows and columns from 1, then the shape.
                                  matrix_4<double>(order + 2, 4, 3, "S", {1, 3, 2, 3, 1, 2, 2, 2, 1.5, -2, 7, 0}));
    const auto table = [&](const char* name) { return table_of(io::read_matrix({file.file, name})); };
    CHECK(table("D") == expected);
    CHECK(table("K") == expected);
    CHECK(table("Z") == expected.times({1, 1}));
    CHECK(table("S") == Table(3, 2, {1.5, 0, 0, 7, 0, -2}));
    CHECK(io::describe({file.file, "D"}).convention == "MATLAB 4");
    CHECK(io::describe({file.file, "S"}).sparse);
    CHECK(io::list_objects(file.file).size() == 4);
  }
  const auto short_one = file_in(folder, "short.mat", matrix_4(0, 3, 2, "D", columns).substr(0, 30));
  CHECK_FALSE(refusal_of(short_one).sentence.empty());
  // A name alone makes no matrix of it.
  CHECK(refusal_of(file_in(folder, "text.mat", "hello, hello, hello")).says("--format"));
}
