#include "tallskinny/io/matrix_file.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <system_error>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/parts.hpp"
#include "tallskinny/io/file/formats.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/text/line_reader.hpp"
#include "tallskinny/io/text/table.hpp"

namespace ts::inline v0::io {

namespace {

/// Memory that runs out in spite of the check before.
template <class Action>
auto guarded(const Location& where, Action action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    throw Error(Errc::out_of_memory, where.text() + " did not fit into memory while it was read");
  }
}

Description describe_hdf5(const Location& where, const ReadOptions& options) {
  const Chosen chosen = choose(open_hdf5(where.file, options), where.object, options);
  return describe_parts(chosen.parts, chosen.object, options);
}

MatrixFile read_hdf5(const Location& where, const ReadOptions& options) {
  const Chosen chosen = choose(open_hdf5(where.file, options), where.object, options);
  return read_parts(chosen.parts, chosen.object, options);
}

template <class T, class S>
T convert(S x) {
  if constexpr (is_complex<T> && is_complex<S>)
    return T(static_cast<real_t<T>>(x.real()), static_cast<real_t<T>>(x.imag()));
  else
    return T(static_cast<real_t<T>>(widened(x)));
}

}  // namespace

std::string Location::text() const { return printable(object.empty() ? file.string() : file.string() + ":" + object); }

Location parse_location(std::string_view text) {
  const std::string whole(text);
  std::error_code ignored;
  if (std::filesystem::exists(whole, ignored)) return {whole, ""};
  for (auto colon = whole.rfind(':'); colon != std::string::npos && colon != 0; colon = whole.rfind(':', colon - 1))
    if (std::filesystem::is_regular_file(whole.substr(0, colon), ignored))
      return {whole.substr(0, colon), whole.substr(colon + 1)};
  // No such file: split where the user most likely meant to, so that the error names the file.
  if (const auto slash = whole.find(":/"); slash != std::string::npos && slash > 0)
    return {whole.substr(0, slash), whole.substr(slash + 1)};
  const auto colon = whole.rfind(':');
  if (colon != std::string::npos && colon > 0 && whole.find('/', colon) == std::string::npos &&
      has_ending(lower_case(whole.substr(0, colon)), {".h5", ".hdf5", ".hdf", ".h5ad", ".mat", ".arff", ".nc", ".npz"}))
    return {whole.substr(0, colon), whole.substr(colon + 1)};
  return {whole, ""};
}

std::string_view name_of(Structure s) noexcept {
  switch (s) {
    case Structure::general: return "general";
    case Structure::symmetric: return "symmetric";
    case Structure::hermitian: return "hermitian";
    case Structure::skew_symmetric: return "skew-symmetric";
  }
  return "?";
}

std::optional<std::string> file_attribute(const std::filesystem::path& file, const std::string& name,
                                          const ReadOptions& options) {
  return guarded(Location{file, ""},
                 [&] { return require_file(file) ? open_hdf5(file, options).text_attribute(name) : std::nullopt; });
}

Description describe(const Location& where, const ReadOptions& options) {
  return guarded(where, [&] {
    const Format* format = format_of(where, options);
    if (format != nullptr && format->has_columns) return format->describe(where, options);
    if (options.table.missing != Missing::refuse) return describe_without_missing(where, options);
    Description d = format != nullptr ? format->describe(where, options) : describe_hdf5(where, options);
    choose_columns(d, options.table);
    return d;
  });
}

std::vector<Description> list_objects(const std::filesystem::path& file, const ReadOptions& options) {
  const Location where{file, ""};
  return guarded(where, [&] {
    if (const Format* format = format_of(where, options))
      return format->list != nullptr ? format->list(where, options) : std::vector{format->describe(where, options)};
    return candidates(open_hdf5(file, options), options);
  });
}

void visit_objects(const std::filesystem::path& file, const ReadOptions& options, const LookAt& look) {
  const Location where{file, ""};
  if (const Format* format = format_of(where, options)) {
    if (format->visit != nullptr) return guarded(where, [&] { format->visit(where, options, look); });
    for (const Description& d : list_objects(file, options))
      look(d, [&](const ReadOptions& how) { return read_matrix(d.where, how); });
    return;
  }
  std::optional<hdf5::Node> root = guarded(where, [&] { return open_hdf5(file, options); });
  for (const Description& d : guarded(where, [&] { return candidates(*root, options); }))
    look(d, [&](const ReadOptions& how) {
      try {
        return guarded(d.where, [&] {
          if (!root) root = open_hdf5(file, options);
          const Chosen chosen = choose(*root, d.where.object, how);
          return read_parts(chosen.parts, chosen.object, how);
        });
      } catch (const Error&) {
        root.reset();  // what could not be read may have ended the process that has the file open
        throw;
      }
    });
}

MatrixFile read_matrix(const Location& where, const ReadOptions& options) {
  return guarded(where, [&] {
    const Format* format = format_of(where, options);
    if (format != nullptr && format->has_columns) return format->read(where, options);
    if (options.table.missing != Missing::refuse) return read_without_missing(where, options);
    MatrixFile file = format != nullptr ? format->read(where, options) : read_hdf5(where, options);
    choose_columns(file, options.table);
    return file;
  });
}

DenseMatrix read_dense(const Location& where, const ReadOptions& options) {
  MatrixFile read = read_matrix(where, options);
  if (auto* dense = std::get_if<DenseMatrix>(&read.matrix)) return std::move(*dense);
  refuse(read.description.where.text(), "is sparse where a dense matrix is needed");
}

template <class T>
Matrix<T> read_dense_as(const Location& where, const ReadOptions& options) {
  DenseMatrix read = read_dense(where, options);
  return std::visit(
      [&]<class S>(Matrix<S>& a) -> Matrix<T> {
        if constexpr (std::is_same_v<S, T>) {
          return std::move(a);
        } else if constexpr (is_complex<S> && !is_complex<T>) {
          refuse(where.text(), "is complex where real numbers are needed");
        } else {
          Matrix<T> converted(a.rows(), a.cols());
          for (index_t i = 0; i < a.rows() * a.cols(); ++i) converted.data()[i] = convert<T>(a.data()[i]);
          return converted;
        }
      },
      read);
}

std::vector<double> read_vector(const Location& where, const ReadOptions& options) {
  return read_vector_part(where, 0, std::numeric_limits<index_t>::max(), options).values;
}

VectorPart read_vector_part(const Location& where, index_t begin, index_t end, const ReadOptions& options) {
  expects(begin >= 0 && begin <= end, "a part of a vector: it must not begin before 0, nor end before it begins");
  VectorPart part;
  const auto keep = [&](const double* values) {
    part.values.assign(values + std::min(begin, part.size), values + std::min(end, part.size));
  };
  const bool in_hdf5 = require_file(where.file);
  if (!in_hdf5 && !where.object.empty() && has_ending(lower_case(where.file.filename().string()), {".arff"})) {
    const auto whole = guarded(where, [&] { return read_arff_attribute(where.file, where.object, options); });
    part.size = std::ssize(whole);
    return keep(whole.data()), part;
  }
  Location chosen = where;
  if (in_hdf5 && where.object.empty())
    chosen.object = guarded(where, [&] { return only_vector(open_hdf5(where.file, options)); });
  ReadOptions how = options.of_another_file();
  if (begin > 0 || end < std::numeric_limits<index_t>::max())
    if (const Description d = describe(chosen, how); !d.sparse && d.cols == 1) {
      part.size = d.rows;
      how.row_begin = std::min(begin, d.rows), how.row_end = std::min(end, d.rows);
      const auto rows = read_dense_as<double>(chosen, how);
      return part.values.assign(rows.data(), rows.data() + rows.rows()), part;
    }
  const auto a = read_dense_as<double>(chosen, how);
  if (a.cols() != 1 && a.rows() != 1 && !a.empty())
    refuse(describe(chosen).where.text(),
           joined("is a matrix of ", a.rows(), " x ", a.cols(), " where a vector is needed"));
  part.size = a.rows() * a.cols();
  return keep(a.data()), part;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, read_dense_as)

}  // namespace ts::inline v0::io
