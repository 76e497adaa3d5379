#include "tallskinny/app/tsdata/write.hpp"

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/table_output.hpp"

namespace ts::tsdata {

namespace {

template <class T>
WrittenMatrix write_one(io::OutputFile& out, const std::string& object, const CsrMatrix<T>& a,
                        io::Structure structure) {
  out.write_binsparse(object, a, structure);
  return {a.rows, a.cols, a.nonzeros(), dtype_of<T>, true, structure};
}

template <class T>
WrittenMatrix write_one(io::OutputFile& out, const std::string& object, const Matrix<T>& a, io::Structure structure) {
  out.write(object, a);
  return {a.rows(), a.cols(), a.rows() * a.cols(), dtype_of<T>, false, structure};
}

}  // namespace

WrittenMatrix write_matrix(io::OutputFile& out, const std::string& object, const AnyMatrix& matrix,
                           io::Structure structure) {
  const auto write = [&](const auto& a) { return write_one(out, object, a, structure); };
  return std::visit([&](const auto& kind) { return std::visit(write, kind); }, matrix);
}

WrittenMatrix write_table(const std::string& file, const AnyMatrix& matrix, const std::string& name) {
  const auto* const dense = std::get_if<io::DenseMatrix>(&matrix);
  if (dense == nullptr)
    throw Error(Errc::invalid_argument, name + " is sparse, and " + file +
                                            " takes dense matrices: add --storage dense, or end the name with .h5");
  return std::visit(
      [&file]<class T>(const Matrix<T>& a) {
        io::TableOutput<T> out(file, a.rows(), a.cols(), {});
        out.add({a.data(), static_cast<std::size_t>(a.rows() * a.cols())});
        out.commit();
        return WrittenMatrix{a.rows(), a.cols(), a.rows() * a.cols(), dtype_of<T>, false, io::Structure::general};
      },
      *dense);
}

app::JsonObject as_json(const WrittenMatrix& written, app::JsonObject json) {
  json.add("rows", written.rows).add("cols", written.cols).add("sparse", written.sparse);
  json.add("nonzeros", written.nonzeros).add("dtype", name_of(written.type));
  json.add("structure", io::name_of(written.structure));
  return json;
}

std::string as_text(const WrittenMatrix& written) {
  std::string text = app::grouped(written.rows) + " x " + app::grouped(written.cols) + ' ' +
                     std::string(name_of(written.type)) + (written.sparse ? ", sparse, " : ", dense, ") +
                     std::string(io::name_of(written.structure));
  if (written.sparse) text += ", " + app::grouped(written.nonzeros) + " nonzeros";
  return text;
}

}  // namespace ts::tsdata
