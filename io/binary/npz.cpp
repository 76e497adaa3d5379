// Archives of NumPy arrays: one dense matrix of several, or a sparse matrix as scipy.sparse.save_npz writes it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "tallskinny/io/binary/npy.hpp"
#include "tallskinny/io/binary/zip.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/matrix/pairs.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

/// The arrays of an archive by name, without ".npy".
class Npz {
 public:
  explicit Npz(std::filesystem::path file) : file_(std::move(file)), archive_(file_) {
    for (const auto& member : archive_.members()) {
      if (!member.name.ends_with(suffix)) continue;
      const std::string name = member.name.substr(0, member.name.size() - suffix.size());
      if (arrays_.try_emplace(name, &member).second) names_.push_back(name);
    }
  }
  Npz(const Npz&) = delete;
  Npz& operator=(const Npz&) = delete;

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }  ///< as in the directory
  [[nodiscard]] bool has(const std::string& array) const { return arrays_.contains(array); }
  /// @throws Error(bad_input) for an array that is not there.
  [[nodiscard]] const ZipArchive::Member& member(const std::string& array) const {
    if (const auto found = arrays_.find(array); found != arrays_.end()) return *found->second;
    refuse("has no array '" + array + "'; it has " + (names_.empty() ? "none" : listed(names_)));
  }
  /// The bytes of an array: those in the file, or unpacked ones. `whole`: not only the header is needed.
  [[nodiscard]] NpyBytes array(const std::string& name, bool whole, std::uint64_t memory_limit) const {
    constexpr std::uint64_t of_header = std::uint64_t{1} << 16;
    const ZipArchive::Member& m = member(name);
    if (!m.deflated) {
      NpyBytes there = npy_bytes(file_);
      return {text(name), m.size,
              [read = there.read, begin = archive_.data_of(m), size = m.size, name = text(name)](
                  std::uint64_t offset, std::span<std::byte> out) {
                if (offset > size || out.size() > size - offset) io::refuse(name, "could not be read to its end");
                read(begin + offset, out);
              }};
    }
    if (whole) require_memory(m.size, memory_limit, text(name));
    auto bytes = std::make_shared<const std::vector<std::byte>>(archive_.unpacked(m, whole ? UINT64_MAX : of_header));
    return {text(name), m.size, [bytes, name = text(name)](std::uint64_t offset, std::span<std::byte> out) {
              if (offset > bytes->size() || out.size() > bytes->size() - offset)
                io::refuse(name, "could not be read to its end");
              std::copy_n(bytes->data() + offset, out.size(), out.data());
            }};
  }
  /// A list of whole numbers, exact below 2^53. @throws Error(bad_input) for others.
  [[nodiscard]] std::vector<index_t> integers(const std::string& name, const ReadOptions& options) const {
    const Matrix<double> values = numbers(name, options);
    std::vector<index_t> found(static_cast<std::size_t>(values.rows() * values.cols()));
    for (std::size_t q = 0; q < found.size(); ++q) {
      const double value = values.data()[q];
      if (!(std::abs(value) < 0x1p53) || value != std::floor(value))
        refuse("has numbers in '" + name + "' that are no integers");
      found[q] = static_cast<index_t>(value);
    }
    return found;
  }
  [[nodiscard]] DenseMatrix values(const std::string& name, const ReadOptions& options) const {
    ReadOptions how = options.of_another_file();
    how.check_finite = false;
    MatrixFile read = read_npy(array(name, true, options.memory_limit), {file_, name}, how);
    return std::move(std::get<DenseMatrix>(read.matrix));
  }
  /// A text of one array, like the name of a format.
  [[nodiscard]] std::string word(const std::string& name) const {
    const NpyBytes npy = array(name, true, 0);
    const auto [header, start] = npy_header_text(npy);
    std::string found;
    if (npy.size - start > 64) refuse("has no short text in '" + name + "'");
    std::vector<std::byte> bytes(npy.size - start);
    npy.read(start, bytes);
    for (const std::byte b : bytes)  // of four-byte characters three bytes are zero
      if (b != std::byte{}) found += static_cast<char>(b);
    return found;
  }
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
  [[nodiscard]] std::string text(const std::string& array) const { return Location{file_, array}.text(); }
  [[noreturn]] void refuse(const std::string& cause) const { io::refuse(file_, printable(cause)); }

 private:
  static inline const std::string suffix = ".npy";

  [[nodiscard]] Matrix<double> numbers(const std::string& name, const ReadOptions& options) const {
    DenseMatrix any = values(name, options);
    if (auto* doubles = std::get_if<Matrix<double>>(&any)) return std::move(*doubles);
    refuse("has numbers in '" + name + "' that are no integers");
  }

  std::filesystem::path file_;
  ZipArchive archive_;
  std::vector<std::string> names_;
  std::map<std::string, const ZipArchive::Member*> arrays_;
};

bool holds_sparse(const Npz& npz) { return npz.has("format") && npz.has("shape") && npz.has("data"); }

/// A matrix of scipy.sparse, https://docs.scipy.org/doc/scipy/reference/generated/scipy.sparse.save_npz.html
struct SciPyMatrix {
  std::string format;      ///< csr, csc, coo, bsr, dia
  index_t rows, cols = 1;  ///< a vector is a column
  bool vector;
  NpyHeader data;

  SciPyMatrix(const Npz& npz, const ReadOptions& options)
      : format(npz.word("format")), data(parse_npy_header(npz.array("data", false, 0))) {
    const auto shape = npz.integers("shape", options);
    if (shape.size() > 2)
      npz.refuse(joined("holds a sparse array of ", shape.size(),
                        " dimensions: a matrix has two (reshape it, as in a.reshape(a.shape[0], -1))"));
    if (shape.empty() || *std::min_element(shape.begin(), shape.end()) < 0) npz.refuse("has no sizes in 'shape'");
    vector = shape.size() == 1, rows = shape[0];
    if (!vector) cols = shape[1];
    if (vector && format != "csr" && format != "coo")
      npz.refuse("has one size in 'shape', which is that of no " + format);
    if (format != "csr" && format != "csc" && format != "coo" && format != "bsr" && format != "dia")
      npz.refuse("holds a sparse matrix in the format '" + format + "': store it as csr");
    const std::size_t dimensions = format == "bsr" ? 3 : format == "dia" ? 2 : 1;
    if (data.shape.size() != dimensions || data.by_columns)
      npz.refuse("has 'data' of another shape than " + format + " has");
  }
  [[nodiscard]] index_t entries() const { return data.rows * data.cols; }
};

Description description_of(const SciPyMatrix& m, const Npz& npz, const ReadOptions& options) {
  Description d;
  d.where = {npz.file(), ""};
  d.convention = "SciPy " + m.format;
  d.stored_type = m.data.stored_type;
  const index_t size = m.data.kind == 'c' ? m.data.bytes / 2 : m.data.bytes;
  const bool narrow = (m.data.kind == 'f' || m.data.kind == 'c') && size == 4;
  d.type =
      m.data.kind == 'c' ? (narrow ? DType::complex64 : DType::complex128) : (narrow ? DType::float32 : DType::float64);
  set_sparse(d, m.rows, m.cols, m.entries(), options);
  return d;
}

/// Calls add(row, column, place of its value) for each entry; lists are checked.
template <class Add>
void for_each_entry(const Npz& npz, const SciPyMatrix& m, const ReadOptions& options, const Add& add) {
  if (m.format == "coo") {
    std::vector<index_t> rows, cols;
    if (npz.has("coords")) {  // a row for each dimension, as SciPy writes other than two
      cols = npz.integers("coords", options);
      rows.assign(cols.begin(), cols.begin() + std::min(std::ssize(cols), m.data.rows));
      cols.erase(cols.begin(), cols.begin() + std::ssize(rows));
      if (m.vector && cols.empty()) cols.resize(rows.size());
    } else {
      rows = npz.integers("row", options), cols = npz.integers("col", options);
    }
    if (std::ssize(rows) != m.data.rows || std::ssize(cols) != m.data.rows)
      npz.refuse("has lists of rows, columns and 'data' of different lengths");
    for (index_t k = 0; k < m.data.rows; ++k) add(rows[k], cols[k], k);
    return;
  }
  if (m.format == "dia") {
    const auto offsets = npz.integers("offsets", options);
    if (std::ssize(offsets) != m.data.rows) npz.refuse("has another number of 'offsets' than of diagonals");
    for (index_t k = 0; k < m.data.rows; ++k)
      for (index_t j = 0; j < std::min(m.data.cols, m.cols); ++j)
        if (const index_t i = j - offsets[k]; i >= 0 && i < m.rows) add(i, j, k * m.data.cols + j);
    return;
  }
  const bool by_columns = m.format == "csc";
  const index_t down = m.format == "bsr" ? m.data.shape[1] : 1, across = m.format == "bsr" ? m.data.shape[2] : 1;
  if (down < 1 || across < 1 || m.rows % down != 0 || m.cols % across != 0)
    npz.refuse("has blocks that do not divide its sizes");
  const bool turned = by_columns || m.vector;  // the only row of a vector becomes a column
  const index_t lines = turned ? m.cols : m.rows / down;
  const auto pointers = npz.integers("indptr", options), minor = npz.integers("indices", options);
  if (std::ssize(pointers) != lines + 1)
    npz.refuse(joined("has ", pointers.size(), " pointers where its shape needs ", lines + 1));
  if (std::ssize(minor) != m.data.rows) npz.refuse("has lists 'indices' and 'data' of different lengths");
  check_pointers(pointers, std::ssize(minor), Subject{npz.file().string(), turned});
  for (index_t line = 0; line < lines; ++line)
    for (index_t k = pointers[line]; k < pointers[line + 1]; ++k)
      for (index_t i = 0; i < down; ++i)
        for (index_t j = 0; j < across; ++j) {
          const index_t row = line * down + i, col = minor[k] * across + j;
          turned ? add(col, row, k) : add(row, col, (k * down + i) * across + j);
        }
}

template <class T>
CsrMatrix<T> assemble(const Npz& npz, const SciPyMatrix& m, const Matrix<T>& data, const Description& d,
                      const ReadOptions& options) {
  const bool diagonals = m.format == "dia";
  return collected<T>(d, npz.file().string(), options, [&](const auto& put) {
    for_each_entry(npz, m, options, [&](index_t row, index_t col, index_t place) {
      const T value = data.data()[place];
      if (diagonals && value == T{}) return;  // as SciPy does: rows of diagonals are filled up
      if (col < 0 || col >= m.cols || row < 0 || row >= m.rows)
        npz.refuse(joined("has an entry at row ", row, ", column ", col, ", outside its shape"));
      options.transpose ? put(col, row, value) : put(row, col, value);
    });
  });
}

MatrixFile read_sparse(const Npz& npz, const ReadOptions& options) {
  const SciPyMatrix m(npz, options);
  MatrixFile result{description_of(m, npz, options), {}};
  require_memory(result.description.peak_bytes, options.memory_limit, npz.file().string());
  const DenseMatrix data = npz.values("data", options);
  result.matrix = std::visit(
      [&]<class T>(const Matrix<T>& values) -> SparseMatrix {
        if constexpr (sizeof(T) == 2)
          npz.refuse("has a sparse matrix of two-byte elements: store them as float32");
        else
          return assemble<T>(npz, m, values, result.description, options);
      },
      data);
  return result;
}

/// The array that is meant: the one named, or the only one.
std::string chosen(const Npz& npz, const std::string& object) {
  if (!object.empty()) {
    std::string name = object.starts_with('/') ? object.substr(1) : object;
    (void)npz.member(name);
    return name;
  }
  const auto names = npz.names();
  if (names.size() == 1) return names.front();
  if (names.empty()) npz.refuse("is a zip archive without arrays of NumPy (.npy)");
  npz.refuse(joined("holds ", names.size(), " arrays; choose one as ", npz.text("NAME"), " from ", listed(names)));
}

Description describe_in(const Npz& npz, const std::string& object, const ReadOptions& options) {
  if (object.empty() && holds_sparse(npz)) return description_of(SciPyMatrix(npz, options), npz, options);
  const std::string name = chosen(npz, object);
  Description d = describe_npy(npz.array(name, false, options.memory_limit), {npz.file(), name}, options);
  d.convention = "npz";
  return d;
}

MatrixFile read_in(const Npz& npz, const Location& where, const ReadOptions& options) {
  if (where.object.empty() && holds_sparse(npz)) return read_sparse(npz, options);
  const std::string name = chosen(npz, where.object);
  MatrixFile result = read_npy(npz.array(name, true, options.memory_limit), {where.file, name}, options);
  result.description.convention = "npz";
  return result;
}

std::vector<Description> list_in(const Npz& npz, const Location& where, const ReadOptions& options) {
  if (holds_sparse(npz)) return {describe_in(npz, "", options)};
  std::vector<Description> found;
  for (const std::string& name : npz.names()) {
    try {
      found.push_back(describe_in(npz, name, options));
    } catch (const Error& error) {
      found.push_back(unreadable({where.file, name}, "npz", error.what()));
    }
  }
  if (found.empty()) (void)chosen(npz, "");
  return found;
}

}  // namespace

const Format formats::npz = {
    .name = "npz",
    .matches = [](const std::string&, std::string_view start) { return start.starts_with("PK\x03\x04"); },
    .describe = [](const Location& where,
                   const ReadOptions& options) { return describe_in(Npz(where.file), where.object, options); },
    .read = [](const Location& where, const ReadOptions& options) { return read_in(Npz(where.file), where, options); },
    .list = [](const Location& where, const ReadOptions& options) { return list_in(Npz(where.file), where, options); },
    .visit =
        [](const Location& where, const ReadOptions& options, const LookAt& look) {
          const Npz npz(where.file);
          for (const Description& d : list_in(npz, where, options))
            look(d, [&](const ReadOptions& how) { return read_in(npz, d.where, how); });
        }};

}  // namespace ts::inline v0::io
