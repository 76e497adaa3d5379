// 10x Genomics: compressed columns of features x barcodes in a group that also lists the barcodes. Read as barcodes x
// features, as scanpy and Seurat hand cells on to what clusters them.
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/pieces.hpp"

namespace ts::inline v0::io::conventions {

std::optional<Parts> ten_x(const hdf5::Node& object, const ReadOptions& options) {
  if (!object.is_group()) return std::nullopt;
  for (const char* name : {"barcodes", "data", "indices", "indptr", "shape"})
    if (!object.has(name)) return std::nullopt;
  const Shape shape = checked_shape(object, object.dataset("shape").integers(), "dataset 'shape'");
  return Parts{"10x Genomics",
               options.transpose
                   ? "rows are features, columns are barcodes (cells)"
                   : "rows are barcodes (cells), columns are features: --transpose makes features the rows",
               compressed({shape.cols, shape.rows}, false, object.dataset("indptr"), object.dataset("indices"),
                          elements_of(object.dataset("data")))};
}

}  // namespace ts::inline v0::io::conventions
