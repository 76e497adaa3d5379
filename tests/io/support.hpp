// Helpers of the tests of io: fixtures, the matrices in them, temporary folders, error messages.
#pragma once

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/tests/support/matrix_files.hpp"

namespace ts::test {

/// NAME of tests/io/fixtures/files.tar.gz; "scipy.h5:/csr" names an object in it.
inline io::Location fixture(const std::string& name) {
  const auto colon = name.find(":/");
  return {std::filesystem::path(TS_IO_FIXTURES) / name.substr(0, colon),
          colon == std::string::npos ? "" : name.substr(colon + 1)};
}

/// Any matrix as a dense complex one, for comparison.
struct Table {
  index_t rows = 0, cols = 0;
  std::vector<std::complex<double>> values;

  Table(index_t r, index_t c) : rows(r), cols(c), values(static_cast<std::size_t>(r * c)) {}
  Table(index_t r, index_t c, std::vector<std::complex<double>> v) : rows(r), cols(c), values(std::move(v)) {}
  std::complex<double>& operator()(index_t i, index_t j) { return values[static_cast<std::size_t>(i * cols + j)]; }
  std::complex<double> operator()(index_t i, index_t j) const { return values[static_cast<std::size_t>(i * cols + j)]; }
  friend bool operator==(const Table&, const Table&) = default;

  [[nodiscard]] Table transposed() const {
    Table t(cols, rows);
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < cols; ++j) t(j, i) = (*this)(i, j);
    return t;
  }
  [[nodiscard]] Table times(std::complex<double> factor) const {
    Table t = *this;
    for (auto& v : t.values) v *= factor;
    return t;
  }
};

inline Table table_of(const io::SparseMatrix& sparse) {
  return std::visit(
      [](const auto& a) {
        Table t(a.rows, a.cols);
        for_each_entry(a.view(), [&](index_t i, index_t j, const auto& x) { t(i, j) += x; });
        return t;
      },
      sparse);
}
inline Table table_of(const io::DenseMatrix& dense) {
  return std::visit(
      []<class T>(const Matrix<T>& a) {
        Table t(a.rows(), a.cols());
        for_each_entry(a.cview(), [&](index_t i, index_t j, const T& x) { t(i, j) = to_wide(x); });
        return t;
      },
      dense);
}
inline Table table_of(const io::MatrixFile& file) {
  return std::visit([](const auto& m) { return table_of(m); }, file.matrix);
}
inline Table table_in(const std::string& name, const io::ReadOptions& options = {}) {
  return table_of(io::read_matrix(fixture(name), options));
}

/// Each of these objects of a fixture is this matrix.
inline void check_all(const std::string& file, const Table& expected, std::initializer_list<const char*> objects) {
  for (const char* object : objects) {
    INFO(file << ":/" << object);
    CHECK(table_in(file + ":/" + object) == expected);
  }
}

// The matrices of tests/io/fixtures/make_fixtures.py.
inline Table matrix_a() { return {4, 3, {1.5, 0, 2, 0, 0, 0, 0, -3, 0, 4, 0, 5.25}}; }
inline Table matrix_k() { return {4, 3, {1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 0, 5}}; }
inline Table matrix_z() { return matrix_a().times({1, 0.5}); }
inline Table matrix_s() { return {3, 3, {2, 1, 0, 0, 3, 0, 4, 0, 5}}; }
inline Table matrix_d() {
  Table d(5, 3);
  for (index_t i = 0; i < 15; ++i) d.values[static_cast<std::size_t>(i)] = static_cast<double>(i);
  return d;
}

/// The sentence and code of the Error that `body` throws; "" if it throws none.
struct Refusal {
  std::string sentence;
  Errc code = Errc::interrupted;
  [[nodiscard]] bool says(const std::string& words) const { return mentions(sentence, words); }
};
inline Refusal refusal_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return {error.what(), error.code()};
  }
  return {};
}
inline Refusal refusal_of(const io::Location& where, const io::ReadOptions& options = {}) {
  return refusal_of([&] { (void)io::read_matrix(where, options); });
}
inline Refusal refusal_of(const std::string& name, const io::ReadOptions& options = {}) {
  return refusal_of(fixture(name), options);
}
inline void check_refusal(const Refusal& refused, Errc code, const std::vector<std::string>& words) {
  INFO(refused.sentence);
  CHECK(refused.code == code);
  for (const std::string& part : words) CHECK(refused.says(part));
}

/// Writes a file with this content and gives its place.
inline io::Location file_in(const TemporaryFolder& folder, const std::string& name, const std::string& content,
                            const std::string& object = "") {
  return {folder.file(name, content), object};
}
/// Why a file with this content is not read.
inline Refusal refusal_in(const std::string& name, const std::string& content, const std::string& object = "",
                          const io::ReadOptions& options = {}) {
  const TemporaryFolder folder;
  return refusal_of(file_in(folder, name, content, object), options);
}
inline std::string bytes_of(const std::string& name) { return content_of(fixture(name).file); }

}  // namespace ts::test
