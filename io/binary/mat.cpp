// MATLAB's files of versions 4 and 5, also as "-v7" writes them, by libmatio.
#include <span>

#include "tallskinny/io/binary/mat_variables.hpp"
#include "tallskinny/io/file_bytes.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/matrix/pairs.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

constexpr const char* suite_sparse = "Problem/A";

std::string variables_listed(const std::vector<const MatVariable*>& variables) {
  std::vector<std::string> words;
  for (const MatVariable* v : variables)
    words.push_back(joined(v->path, " (", v->rows, " x ", v->cols, v->sparse ? " sparse)" : ")"));
  return listed(words);
}

/// The variable that is meant: the one named, SuiteSparse's, the only matrix, or the only variable.
MatVariable chosen_variable(const Location& where, const ReadOptions& options) {
  const auto all = list_mat(where.file, options);
  std::string name = where.object.starts_with('/') ? where.object.substr(1) : where.object;
  std::vector<const MatVariable*> matrices, any;
  for (const MatVariable& v : all) {
    if (v.path == name || (name.empty() && v.path == suite_sparse)) return v;
    any.push_back(&v);
    if (v.problem.empty() && v.rows != 1 && v.cols != 1) matrices.push_back(&v);
  }
  const auto refuse = [&where](const std::string& cause) { io::refuse(where.file, cause); };
  if (all.empty()) refuse("holds no matrix of numbers");
  if (!name.empty()) refuse("has no matrix '" + name + "'; it has " + variables_listed(any));
  if (matrices.size() == 1) return *matrices.front();
  if (any.size() == 1) return *any.front();
  refuse("holds several matrices; choose one as " + where.file.string() + ":NAME from " +
         variables_listed(matrices.empty() ? any : matrices));
  return {};
}

std::string convention_of(const std::filesystem::path& file) {
  std::string start(10, '\0');
  (void)FileBytes(file).read(0, std::as_writable_bytes(std::span(start)));
  return start == "MATLAB 5.0" ? "MATLAB 5" : "MATLAB 4";
}

NpyHeader dense_header(const MatVariable& v) {
  NpyHeader h;
  h.kind = v.complex ? 'c' : 'f', h.bytes = (v.single ? 4 : 8) * (v.complex ? 2 : 1), h.by_columns = true;
  h.rows = v.rows, h.cols = v.cols, h.start = v.values;
  h.stored_type = v.stored_type;
  return h;
}

Description description_of(const MatVariable& v, const Location& where, const std::string& convention,
                           const ReadOptions& options) {
  const Location at{where.file, v.path};
  if (!v.problem.empty()) refuse(at.text(), v.problem);
  Description d = describe_array(dense_header(v), at, options);
  if (v.sparse) set_lines(d, v.rows, v.cols, v.entries, options);
  d.convention = convention;
  d.peak_bytes = sum({d.peak_bytes, d.bytes, d.bytes});  // what libmatio has, and what it hands over
  return d;
}

/// A list of what was read, of which no longer one is believed than there are bytes.
template <class T>
std::vector<T> list_at(const NpyBytes& bytes, std::uint64_t start, index_t count) {
  if (count < 0 || sum({start, product({count, sizeof(T)})}) > bytes.size)
    refuse(bytes.name, "is damaged: its lists end early");
  std::vector<T> list(static_cast<std::size_t>(count));
  bytes.read(start, std::as_writable_bytes(std::span(list)));
  return list;
}

Description describe_mat(const Location& where, const ReadOptions& options) {
  return description_of(chosen_variable(where, options), where, convention_of(where.file), options);
}

MatrixFile read_mat(const Location& where, const ReadOptions& options) {
  const MatVariable meant = chosen_variable(where, options);
  const std::string convention = convention_of(where.file);
  const Description d = description_of(meant, where, convention, options);
  require_memory(d.peak_bytes, options.memory_limit, d.where.text());
  const auto [v, bytes] = read_mat(where.file, meant.path, options);
  MatrixFile result{description_of(v, where, convention, options), {}};
  if (!v.sparse) {
    const auto needed = product({v.rows, v.cols, dense_header(v).bytes});
    if (sum({v.values, needed}) > bytes.size) refuse(bytes.name, "is damaged: its lists end early");
    result.matrix = read_array(bytes, dense_header(v), result.description.where, options).matrix;
    return result;
  }
  const WholeLines lines{v.rows, v.cols, true, list_at<index_t>(bytes, v.pointers, v.cols + 1),
                         list_at<index_t>(bytes, v.minor, v.entries)};
  const auto with_values = [&, &found = v, &from = bytes]<class T>(std::type_identity<T>) {
    const auto values = list_at<T>(from, found.values, found.entries);
    result.matrix = SparseMatrix(assembled<T>(lines, values.data(), result.description, options));
  };
  v.complex ? with_values(std::type_identity<std::complex<double>>{}) : with_values(std::type_identity<double>{});
  return result;
}

std::vector<Description> list_mat(const Location& where, const ReadOptions& options) {
  const std::string convention = convention_of(where.file);
  std::vector<Description> found;
  for (const MatVariable& v : list_mat(where.file, options)) {
    const Location at{where.file, v.path};
    found.push_back(v.problem.empty() ? description_of(v, where, convention, options)
                                      : unreadable(at, convention, at.text() + " " + v.problem));
  }
  return found;
}

/// The header of a matrix in MATLAB's version 4, which has no signature: byte order, type and kind in one number, rows,
/// columns, and whether there is an imaginary part.
bool begins_matlab_4(std::string_view start) {
  for (const bool big : {false, true}) {
    const auto number = [&](std::size_t which) {
      std::uint32_t value = 0;
      for (std::size_t byte = 0; byte < 4; ++byte)
        value = value << 8 | static_cast<unsigned char>(start[4 * which + (big ? byte : 3 - byte)]);
      return value;
    };
    const std::uint32_t type = number(0);
    if (type / 1000 == (big ? 1 : 0) && type / 100 % 10 == 0 && type / 10 % 10 <= 5 && type % 10 <= 2 && number(3) <= 1)
      return true;
  }
  return false;
}

}  // namespace

const Format formats::mat = {.name = "mat",
                             .matches =
                                 [](const std::string& name, std::string_view start) {
                                   return start.starts_with("MATLAB 5.0") ||
                                          (name.ends_with(".mat") && begins_matlab_4(start));
                                 },
                             .describe = describe_mat,
                             .read = read_mat,
                             .list = list_mat};

}  // namespace ts::inline v0::io
