#include "tallskinny/app/tsdata/write.hpp"

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tsdata/dtype.hpp"

namespace ts::tsdata {

AnyMatrix converted_to(AnyMatrix matrix, DType to, const std::string& name) {
  return std::visit([&](auto& held) -> AnyMatrix { return converted(std::move(held), to, name); }, matrix);
}

WrittenMatrix write_matrix(io::OutputFile& out, const std::string& object, const AnyMatrix& matrix,
                           io::Structure structure) {
  WrittenMatrix written;
  if (const auto* sparse = std::get_if<io::SparseMatrix>(&matrix)) {
    std::visit(
        [&](const auto& a) {
          out.write_binsparse(object, a, structure);
          written = {a.rows, a.cols, a.nonzeros(), dtype_of_matrix(*sparse), true, structure};
        },
        *sparse);
  } else {
    const auto& dense = std::get<io::DenseMatrix>(matrix);
    std::visit(
        [&](const auto& a) {
          out.write(object, a);
          written = {a.rows(), a.cols(), a.rows() * a.cols(), dtype_of_matrix(dense), false, structure};
        },
        dense);
  }
  return written;
}

app::JsonObject as_json(const WrittenMatrix& written) {
  app::JsonObject json;
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
