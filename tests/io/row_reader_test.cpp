#include "tallskinny/io/row_reader.hpp"

#include "tallskinny/io/npy_output.hpp"
#include "tallskinny/tests/io/support.hpp"

namespace {

/// Compares with read_matrix, for any real type.
template <class T>
void compare_as(const io::Location& where, const io::ReadOptions& options) {
  const auto whole = std::get<Matrix<T>>(io::read_dense(where, options));
  const io::RowReader reader(where, options);
  REQUIRE(reader.description().rows == whole.rows());
  for (const auto& [first, count] : {std::pair<index_t, index_t>{0, whole.rows()},
                                     {0, 1},
                                     {whole.rows() / 2, whole.rows() - whole.rows() / 2},
                                     {whole.rows(), 0}}) {
    Matrix<T> part(count, whole.cols());
    reader.read(first, count, true, part.data());
    CHECK(std::equal(part.data(), part.data() + count * whole.cols(), whole.data() + first * whole.cols()));
  }
}

void compare(const char* name, const io::ReadOptions& options = {}) {
  INFO(name);
  const io::Location where = fixture(name);
  switch (io::describe(where).type) {
    case DType::float32: return compare_as<float>(where, options);
    case DType::float16: return compare_as<float16>(where, options);
    case DType::bfloat16: return compare_as<bfloat16>(where, options);
    default: return compare_as<double>(where, options);
  }
}

}  // namespace

TEST_CASE("rows of .npy files, converted where they are integers or big-endian") {
  for (const char* name : {"c_order.npy", "integers.npy", "half.npy"}) compare(name);
  compare("c_order.npy", {.row_begin = 1, .row_end = 4});
  CHECK_FALSE(io::RowReader::reads(io::describe(fixture("fortran.npy")), {}));
  const TemporaryFolder folder;
  const std::string file = folder / "x.npy";
  io::NpyOutput<float> out(file, 2000000, 3);  // several threads read it
  std::vector<float> values(6000000);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = static_cast<float>(e % 1000003);
  values[5000001] = INFINITY;
  out.add(values);
  out.commit();
  const io::RowReader reader(io::parse_location(file), {});
  std::vector<float> read(values.size());
  reader.read(0, 2000000, false, read.data());
  CHECK(read == values);
  CHECK(mentions(message_of([&] { reader.read(1000000, 1000000, true, read.data()); }), "row 1666667, column 0"));
}

namespace {

constexpr index_t rows_in_chunks = 400, cols_in_chunks = 13;

double number_in_chunks(index_t i, index_t j) { return static_cast<double>((37 * i + 11 * j) % 101 - 50); }

/// Rows first .. first + count - 1 of a dataset of chunks.h5.
template <class T>
Matrix<T> in_chunks(const char* name, index_t first, index_t count, bool missing_as_fill = false) {
  const io::RowReader reader(fixture(std::string("chunks.h5:/") + name), {.missing_as_fill = missing_as_fill});
  Matrix<T> part(count, cols_in_chunks);
  reader.read(first, count, true, part.data());
  return part;
}

template <class T, class Expected>
void check_chunks(const char* name, const Expected& expected, bool missing_as_fill = false) {
  INFO(name);
  for (const auto& [first, count] :
       {std::pair<index_t, index_t>{0, rows_in_chunks}, {0, 1}, {63, 2}, {119, 162}, {399, 1}, {200, 0}}) {
    const Matrix<T> part = in_chunks<T>(name, first, count, missing_as_fill);
    CHECK(largest_of(count, cols_in_chunks, [&, f = first](index_t i, index_t j) {
            return std::abs(to_wide(part(i, j)) - expected(f + i, j));
          }) == 0);
  }
}

}  // namespace

TEST_CASE("compressed chunks of rows and columns are expanded") {
  check_chunks<float>("gzip", number_in_chunks);
  check_chunks<double>("shuffled", number_in_chunks);
  check_chunks<float>("lzf", number_in_chunks);
  check_chunks<float16>("half", number_in_chunks);
  check_chunks<float>("unfiltered", number_in_chunks);
  check_chunks<float>("skipped", number_in_chunks);  // filters left out for one chunk
  const auto between_gaps = [](index_t i, index_t j) {
    return i >= 120 && i < 280 && j >= 2 && j < 9 ? number_in_chunks(i, j) : 2.5;
  };
  check_chunks<float>("gaps", between_gaps, /*missing_as_fill=*/true);
}

TEST_CASE("what is wrong with chunks is told, and of several things the first") {
  const auto says = [](const char* name, index_t first, index_t count) {
    return message_of([&] { (void)in_chunks<float>(name, first, count); });
  };
  CHECK(mentions(says("nan", 0, rows_in_chunks), "311"));
  CHECK(mentions(says("nan", 320, 80), "360"));
  for (const char* name : {"damaged", "short", "damaged_lzf"}) {
    INFO(name);
    CHECK(mentions(says(name, 0, rows_in_chunks), "damaged"));
    CHECK(says(name, 0, 128).empty());
  }
}

TEST_CASE("rows are read as a whole matrix is, from every storage") {
  for (const char* name : {"dense.h5:/little_f4", "dense.h5:/big_f4", "dense.h5:/little_f8", "dense.h5:/little_i2",
                           "dense.h5:/little_f2", "dense.h5:/little_bf16", "dense.h5:/images"})
    compare(name);
  for (const char* name : {"filters.h5:/gzip", "filters.h5:/szip", "filters.h5:/columns"}) {
    compare(name);
    compare(name, {.row_begin = 63, .row_end = 130});
  }
}

TEST_CASE("many rows are read by several threads; the first that fails is told") {
  const TemporaryFolder folder;
  constexpr index_t n = 1 << 18, d = 33;  // 33 MiB
  auto x = Matrix<float>::zeros(n, d);
  for (index_t i = 0; i < n; ++i) x(i, i % d) = static_cast<float>(i);
  x(200000, 4) = x(250000, 1) = x(5, 3) = std::nanf("");
  const std::string file = write_h5(folder / "x.h5", "x", x);
  const io::Location where = io::parse_location(file);
  const io::RowReader reader(where, {});
  auto read = Matrix<float>(n - 6, d);
  CHECK(mentions(message_of([&] { reader.read(6, n - 6, true, read.data()); }), "row 200000, column 4"));
  reader.read(6, n - 6, false, read.data());
  CHECK(largest_of(n - 6, d, [&](index_t i, index_t j) {
          return std::isnan(x(i + 6, j)) ? 0 : std::abs(read(i, j) - x(i + 6, j));
        }) == 0);
  CHECK(mentions(message_of([&] { (void)io::read_matrix(where); }), "row 5, column 3"));

  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  CHECK(mentions(message_of([&] { reader.read(6, n - 6, false, read.data()); }), "truncated"));
}

TEST_CASE("what is not stored by rows is refused") {
  io::ReadOptions turned{.transpose = true};
  const io::Location where = fixture("dense.h5:/little_f4");
  CHECK(io::RowReader::reads(io::describe(where), {}));
  CHECK_FALSE(io::RowReader::reads(io::describe(where, turned), turned));
  CHECK_THROWS_AS(io::RowReader(where, turned), Error);
  CHECK_FALSE(io::RowReader::reads(io::describe(fixture("scipy.h5:/csr")), {}));
}

TEST_CASE("a file that is changed in place is refused; one that takes its name is not") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.npy";
  const auto write = [](const std::string& name) {
    io::NpyOutput<float> out(name, 10, 2);
    out.add(std::vector<float>(20, 1.0F));
    out.commit();
  };
  write(file);
  std::vector<float> rows(20);
  const io::RowReader reader(io::parse_location(file), {});
  reader.read(0, 10, true, rows.data());
  write(file);
  reader.read(0, 10, true, rows.data());
  const io::RowReader other(io::parse_location(file), {});
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::nanoseconds(1));
  const auto refused = refusal_of([&] { other.read(0, 10, true, rows.data()); });
  CHECK(refused.code == Errc::bad_input);
  CHECK(refused.says(file + " changed while it was read"));
}
