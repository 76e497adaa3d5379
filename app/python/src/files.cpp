// Matrices in files, as arrays or as the parts of a sparse matrix.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::python {

namespace {

nb::dict dict_of(const io::Description& d) {
  nb::dict out;
  out["file"] = d.where.text(), out["convention"] = d.convention, out["sparse"] = d.sparse;
  out["stored_type"] = d.stored_type, out["dtype"] = std::string(name_of(d.type));
  out["shape"] = nb::make_tuple(d.rows, d.cols), out["nonzeros"] = d.nonzeros, out["bytes"] = d.bytes;
  out["structure"] = std::string(io::name_of(d.declared)), out["note"] = d.note, out["problem"] = d.problem;
  return out;
}

nb::list info_of(const std::string& where) {
  const io::Location location = io::parse_location(where);
  std::vector<io::Description> found;
  {
    const nb::gil_scoped_release released;
    if (location.object.empty())
      found = io::list_objects(location.file);
    else
      found.push_back(io::describe(location));
  }
  nb::list out;
  for (const auto& d : found) out.append(dict_of(d));
  return out;
}

/// A dense matrix as an array of NumPy, 16-bit floats as float32; a sparse one as (indptr, indices, data, shape).
nb::object read_of(const std::string& where, bool transpose, index_t row_begin, index_t row_end, bool check_finite,
                   bool trusted) {
  io::ReadOptions options;
  options.transpose = transpose, options.row_begin = row_begin, options.row_end = row_end;
  options.check_finite = check_finite, options.trusted = trusted, options.accept_unsorted = true;
  io::MatrixFile file;
  {
    const nb::gil_scoped_release released;
    file = io::read_matrix(io::parse_location(where), options);
  }
  if (auto* sparse = std::get_if<io::SparseMatrix>(&file.matrix))
    return std::visit(
        [](auto& a) -> nb::object {
          return nb::make_tuple(array_of(std::move(a.pointers)), array_of(std::move(a.indices)),
                                array_of(std::move(a.values)), nb::make_tuple(a.rows, a.cols));
        },
        *sparse);
  return std::visit(
      []<class T>(Matrix<T>& a) -> nb::object {
        if constexpr (std::is_same_v<T, result_t<T>>) {
          return array_of(std::move(a));
        } else {
          Matrix<float> wide(a.rows(), a.cols());
          for (index_t i = 0; i < a.rows() * a.cols(); ++i) wide.data()[i] = to_float(a.data()[i]);
          return array_of(std::move(wide));
        }
      },
      std::get<io::DenseMatrix>(file.matrix));
}

/// An HDF5 file of named matrices: arrays, or (indptr, indices, data, columns) as Binsparse.
void write_of(const std::string& path, const nb::dict& matrices, int gzip) {
  io::OutputFile file(path, {.gzip = gzip});
  for (const auto& [key, value] : matrices) {
    const auto name = nb::cast<std::string>(key);
    if (nb::isinstance<nb::tuple>(value)) {
      const auto parts = nb::cast<nb::tuple>(value);
      const auto pointers = nb::cast<In>(parts[0]), indices = nb::cast<In>(parts[1]), values = nb::cast<In>(parts[2]);
      const auto begins = list_of<index_t>(pointers, "indptr");
      const auto columns = list_of<std::int32_t>(indices, "indices");
      const auto one_row = operand_of(nb::cast<In>(parts[4]), "data");  // the same numbers, 1 x nnz, for their type
      with_type(one_row.type, [&]<class T>() {
        if constexpr (std::is_same_v<T, result_t<T>>)
          file.write_binsparse(name, CsrView<T>{begins.second - 1, nb::cast<index_t>(parts[3]), begins.first,
                                                columns.first, list_of<T>(values, "data").first});
      });
      continue;
    }
    const auto array = nb::cast<In>(value);
    const Operand o = operand_of(array, name.c_str());
    with_type(o.type, [&]<class T>() {
      file.write(name,
                 HostView<const T>(static_cast<const T*>(o.data), o.rows, o.cols, std::max(o.row_stride, o.cols)));
    });
  }
  const nb::gil_scoped_release released;
  file.commit();
}

}  // namespace

void add_files(nb::module_& m) { m.def("info", info_of), m.def("read", read_of), m.def("write", write_of); }

}  // namespace ts::python
